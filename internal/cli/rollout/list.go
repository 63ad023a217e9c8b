package rollout

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

type listOptions struct {
	*session.Client

	all, everywhere bool
}

func newList(shared *session.Client) *cobra.Command {
	o := &listOptions{Client: shared}
	c := &cobra.Command{
		Use: "list", Short: "List rollouts in progress",
		Long:    "List recorded rollouts that are not completed. -A lists all namespaces, --all includes completed rollouts.",
		Example: "  kubectl kruise rollout list -A",
		Args:    command.NoArgs("-n and -A say where to look"),
		RunE: func(c *cobra.Command, _ []string) error {
			return o.list(c.Context())
		},
	}
	c.Flags().BoolVar(&o.all, "all", false, "include completed rollouts")
	c.Flags().BoolVarP(&o.everywhere, "all-namespaces", "A", false, "in all namespaces")
	return c
}

func (c *listOptions) list(ctx context.Context) error {
	defer c.Factory.Working("reading rollouts").Stop()
	namespace, err := c.Factory.NamespaceOrDefault()
	if err != nil {
		return err
	}
	if c.everywhere {
		namespace = ""
	}
	rollouts, err := c.Rollouts()
	if err != nil {
		return err
	}
	list, unreadable, err := rollouts.List(ctx, namespace)
	if err != nil {
		return err
	}
	groups, broken := c.groupsOf(ctx, namespace, list)
	var rows []view.RolloutRow
	for i := range list {
		r := &list[i]
		if !c.all && !r.Progress.Finished.IsZero() {
			continue
		}
		by, _ := rollouts.Holder(ctx, r.Ref) // the executor is shown where it may be read
		rows = append(rows, view.RolloutRow{
			Namespace: r.Ref.Namespace, Name: r.Ref.String(), Parent: c.parentOf(ctx, r.Ref), Group: groups[r.Ref], Driver: string(r.Plan.Driver), Steps: len(r.Plan.Steps),
			Step: min(r.Progress.Step+1, len(r.Plan.Steps)), Status: r.Describe(), Begun: r.Begun, Holder: by,
		})
	}
	for _, u := range append(unreadable, broken...) {
		rows = append(rows, view.RolloutRow{Namespace: u.Namespace, Name: "configmap/" + u.ConfigMap, Status: "the record cannot be read: " + u.Err.Error()})
	}
	return view.Rollouts(c.Factory.Streams.Out, rows, c.Factory.OutStyle(false))
}

// parentOf names the UnitedDeployment that a workload is a subset of, where that may be
// read; "" for none.
func (c *listOptions) parentOf(ctx context.Context, ref cluster.Ref) string {
	client, err := c.Factory.Dynamic()
	if err != nil {
		return ""
	}
	object, err := clusterread.FindWorkload(ctx, client, resourcearg.NameOf(schema.GroupKind{Group: ref.Group, Kind: ref.Kind}, ref.Name), ref.Namespace)
	if err != nil {
		return ""
	}
	if name := session.UnitedOf(object); name != "" {
		return "uniteddeployment/" + name
	}
	return ""
}

// groupsOf are the names of the groups that recorded rollouts are in, by their workloads, and the
// groups that cannot be read. Nothing is shown where groups may not be read.
func (c *listOptions) groupsOf(ctx context.Context, namespace string, list []plan.Record) (map[cluster.Ref]string, []apply.UnreadableRecordError) {
	end, err := c.Share(ctx)
	if err != nil {
		return nil, nil
	}
	defer end()
	groups, unreadable, err := c.GroupRecords().List(ctx, namespace)
	if err != nil {
		return nil, nil
	}
	out := map[cluster.Ref]string{}
	for i := range list {
		for _, g := range groups {
			if g.Has(list[i]) {
				out[list[i].Ref] = g.Name
			}
		}
	}
	return out, unreadable
}
