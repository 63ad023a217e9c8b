package rollout

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

type historyOptions struct {
	*session.Client

	name     resourcearg.Name
	revision int64
	// rollouts asks for past rollouts instead of revisions.
	rollouts bool
	printer  *session.Printed
}

func newHistory(shared *session.Client) *cobra.Command {
	o := &historyOptions{Client: shared}
	which := session.Objects{United: session.AsSubsets}
	c := &cobra.Command{
		Use: "history (TYPE/NAME | TYPE NAME | -f FILE)", Short: "List the revisions of a workload and their changes",
		Long: `List the revisions of a workload: how many pods each has, what changed from one to the
next, and why (the annotation kubernetes.io/change-cause). --revision shows one change
in full. -o prints the workload at each revision, as kubectl does; for a Deployment
these are its ReplicaSets.

--rollouts lists the last rollouts of the workload instead, newest first: their steps
with durations, who started, promoted, paused or aborted them, and their result. Users
who can write ConfigMaps can edit these records.`,
		Example: "  kubectl kruise rollout history cloneset/web --rollouts\n  kubectl kruise rollout history cloneset/web\n  kubectl kruise rollout history cloneset/web -o yaml\n  kubectl kruise rollout history cloneset/web --revision 3",
		RunE: func(c *cobra.Command, args []string) error {
			if o.revision < 0 {
				return command.Usagef("", "revision must be a positive integer: %d", o.revision)
			}
			if o.rollouts && o.revision != 0 {
				return command.Usagef("", "--revision and --rollouts exclude each other")
			}
			return shared.Each(c.Context(), &which, args, func(arg string) error {
				var err error
				if o.name, err = resourcearg.Parse(arg); err != nil {
					return err
				}
				return o.run(c.Context())
			})
		},
		ValidArgsFunction: resourcearg.CompleteNames(shared.Factory),
	}
	which.AddFlags(c)
	o.printer = session.NewPrinted(c, "", nil)
	c.Flags().BoolVar(&o.rollouts, "rollouts", false, "list past rollouts: steps, durations, decisions, results; -o json prints data")
	c.Flags().Int64Var(&o.revision, "revision", 0, "show all fields that this revision changed")
	return c
}

// pastRollouts lists the recorded rollouts.
func (o *historyOptions) pastRollouts(ctx context.Context) error {
	s, err := o.Locate(ctx, o.name)
	if err != nil {
		return err
	}
	rollouts, err := o.Rollouts()
	if err != nil {
		return err
	}
	rec, err := rollouts.Get(ctx, s.Target.Ref)
	if err != nil {
		return err
	}
	list, out := rec.Rollouts(), o.Factory.Streams.Out
	switch format := *o.printer.Flags.OutputFormat; format {
	case "", "text":
	case "json":
		return view.JSON(out, list)
	case "yaml":
		text, err := yaml.Marshal(list)
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	default:
		return command.Usagef("json or yaml", "-o %s does not apply to --rollouts", format)
	}
	return view.PastRollouts(out, s.Target.String(), list, rec.PastFault, time.Now(), o.Factory.OutStyle(true))
}

func (o *historyOptions) run(ctx context.Context) error {
	if o.rollouts {
		return o.pastRollouts(ctx)
	}
	s, err := o.Open(ctx, o.name)
	if err != nil {
		return err
	}
	defer s.Close()
	snapshot, err := s.Observe(ctx, s.Target.Ref)
	if err != nil {
		return err
	}
	rows := revisions(snapshot)
	if o.printer.Object() {
		return o.printAll(ctx, s, snapshot)
	}
	if o.revision == 0 {
		return view.History(o.Factory.Streams.Out, s.Target.String(), rows, o.Factory.OutStyle(false))
	}
	i := slices.IndexFunc(rows, func(r view.Revision) bool { return r.Number == o.revision })
	if i < 0 {
		return o.noSuch(s)
	}
	return view.History(o.Factory.Streams.Out, s.Target.String(), rows[i:i+1], o.Factory.OutStyle(true))
}

func (o *historyOptions) noSuch(s *session.Session) error {
	return s.Object.Wrap(&tree.Error{Msg: fmt.Sprintf("has no revision %d", o.revision), Hint: "without --revision, history lists those there are"}, "")
}

// printAll prints an object for each revision, or for the one that is asked for.
func (o *historyOptions) printAll(ctx context.Context, s *session.Session, snapshot plan.Snapshot) error {
	found := false
	for _, r := range plan.Revisions(snapshot) {
		if o.revision != 0 && o.revision != r.Number {
			continue
		}
		found = true
		if err := o.printOne(ctx, s, r); err != nil {
			return err
		}
	}
	if !found && o.revision != 0 {
		return o.noSuch(s)
	}
	return nil
}

func (o *historyOptions) printOne(ctx context.Context, s *session.Session, r cluster.Revision) error {
	if s.Object.Is("apps", kruise.KindDeployment) {
		sets := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
		return o.printer.Fetch(ctx, o.Client, sets, s.Object.Namespace(), r.Name)
	}
	return o.printer.Resource(o.Client, execute.WithTemplate(s.Object, r.Template))
}

// revisions are the stored templates, the oldest first, each with what it changed.
func revisions(s plan.Snapshot) []view.Revision {
	var out []view.Revision
	for _, r := range plan.History(s) {
		out = append(out, view.Revision{
			Number: r.Number, Name: r.Name, Cause: r.Cause, Present: r.Present, First: r.First, Pods: r.Pods, Fields: r.Changed.Fields, Mode: r.Changed.Mode, Template: r.Template,
		})
	}
	return out
}
