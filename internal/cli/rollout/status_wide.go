package rollout

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// isWide reports whether the command line names no workload: what is in progress is asked
// for. A type alone goes with that, as it does with -l.
func (o *statusOptions) isWide(args []string) bool {
	if o.everywhere {
		return true
	}
	if o.selector != "" || len(o.files.Files.Filenames) > 0 || o.files.Files.Kustomize != "" {
		return false
	}
	return len(args) == 0 || session.Bare(args) == nil
}

// validWide refuses what goes with names alone. Errors are of usage.
func (o *statusOptions) validWide(c *cobra.Command) error {
	if err := session.Bare(o.types); err != nil {
		return command.Usagef("for instance rollout status cloneset -A", "-A goes with types, not with names")
	}
	if len(o.files.Files.Filenames) > 0 || o.files.Files.Kustomize != "" {
		return command.Usagef("files name their own namespaces", "-A excludes -f and -k")
	}
	if c.Flags().Changed("watch") && o.watch {
		return command.Usagef("'kubectl kruise ui' shows the progress of all workloads", "--watch goes with names")
	}
	for _, flag := range []string{"detail", "revision"} {
		if c.Flags().Changed(flag) {
			return command.Usagef("", "--%s goes with names", flag)
		}
	}
	return nil
}

// overview lists the workloads that are not in the desired state: one list for each
// kind of object, however many there are.
func (o *statusOptions) overview(ctx context.Context) error {
	kinds, namespace, err := o.place()
	if err != nil {
		return err
	}
	client, err := o.Factory.Dynamic()
	if err != nil {
		return err
	}
	// The watches wait for a server that does not answer, as screens need it; a list ends there.
	releases, err := release.List(ctx, client, namespace)
	if err != nil {
		return err
	}
	workloads, err := o.workloads(ctx, namespace)
	if err != nil {
		return err
	}
	workloads = slices.DeleteFunc(workloads, func(s *kube.WorkloadView) bool {
		return !slices.Contains(kinds, schema.GroupKind{Group: s.Ref().Group, Kind: s.Ref().Kind})
	})
	list := inProgress(workloads, releases, time.Now())
	if len(list) == 0 && o.Output != "json" {
		_, err := fmt.Fprintf(o.Factory.Streams.Out, "no rollouts in progress; workloads up to date: %d\n", len(workloads))
		return err
	}
	return o.printAll(list)
}

// place is what to look at: which kinds, in which namespace, "" for all.
func (o *statusOptions) place() ([]schema.GroupKind, string, error) {
	word := ""
	if len(o.types) > 0 {
		word = o.types[0]
	}
	kinds, err := resourcearg.ParseKinds(word)
	if err != nil || o.everywhere {
		return kinds, "", err
	}
	namespace, err := o.Factory.NamespaceOrDefault()
	return kinds, namespace, err
}

// workloads are all those of a place as they are now.
func (o *statusOptions) workloads(ctx context.Context, namespace string) ([]*kube.WorkloadView, error) {
	cfg, err := o.Factory.Config()
	if err != nil {
		return nil, err
	}
	o.Factory.Spare()
	gates, unread := o.Gates(ctx, cfg)
	watch, err := kube.WatchNamespace(ctx, cfg, kube.NamespaceWatchOptions{Namespace: namespace, Selector: o.selector, Gates: gates, GatesUnread: unread, StateNamespace: o.StateNamespace})
	if err != nil {
		return nil, err
	}
	defer watch.Close()
	list, err := watch.First(ctx)
	for _, text := range watch.Skipped() {
		_, _ = fmt.Fprintf(o.Factory.Streams.Err, "warning: %s\n", text)
	}
	return list, err
}

// inProgress returns the workloads that have a recorded rollout, or that their controllers have
// not updated to their specs yet.
func inProgress(workloads []*kube.WorkloadView, releases map[cluster.Ref]*release.Rollout, now time.Time) []view.RolloutStatus {
	var out []view.RolloutStatus
	for _, s := range workloads {
		status := statusOf(s, now)
		if setReleaseStatus(&status, releases[s.Ref()]); s.Begun || status.Decision.Verb != plan.Done {
			out = append(out, status)
		}
	}
	return out
}

// statusOf is the status of one workload of many. One that cannot be judged does not
// hide the others.
func statusOf(s *kube.WorkloadView, now time.Time) view.RolloutStatus {
	out := view.RolloutStatus{Name: s.Ref().String(), Namespace: s.Ref().Namespace, Holder: s.Executor, Now: now}
	if s.Begun {
		out.Progress, out.Begun, out.Times = s.Record.Progress, s.Record.Begun, s.Record.Times
	}
	snapshot, err := s.Snapshot(now)
	if err != nil {
		out.Decision = plan.Decision{Verb: plan.Wait, Reason: err.Error()}
		return out
	}
	out.Plan = s.Plan(snapshot)
	out.Decision, out.Tally = plan.Next(out.Plan, snapshot, now), plan.Count(out.Plan, snapshot)
	return out
}
