package apply

import (
	"context"
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	rolloutcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/set"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// show tells what differs from the cluster, and by which plans workloads will be
// rolled out. differs is false when there is nothing to ask about.
func (w *work) show(ctx context.Context) (differs bool, err error) {
	report, err := w.compare(ctx)
	if err != nil {
		return false, err
	}
	err = view.Changes(report).Text(w.factory.Streams.Err, view.Style{Color: w.factory.ColorErr()})
	if err != nil {
		return false, err
	}
	if w.rollouts.Grouped() {
		return report.Differs(), w.showGroup(ctx)
	}
	var errs resource.Errors
	for _, it := range w.items {
		if len(it.rolls) > 0 {
			errs.Add(it.fault(w.plan(ctx, it)))
		}
	}
	return report.Differs(), errs.Err()
}

// compare is what diff says about the cluster and what it should become.
func (w *work) compare(ctx context.Context) (compare.Report, error) {
	var old, now []*resource.Resource
	for _, it := range w.items {
		if it.live != nil {
			old = append(old, parsed(it.live, fromCluster))
		}
		if it.final != nil && it.live != nil {
			now = append(now, parsed(it.final, it.manifest.Origin))
		} else {
			now = append(now, parsed(it.object, it.manifest.Origin))
		}
	}
	if w.members != nil {
		for _, u := range w.members.left {
			old = append(old, parsed(u, fromCluster))
		}
	}
	cfg, err := w.factory.Config()
	if err != nil {
		return compare.Report{}, err
	}
	installed, _, err := installation.LiveGates(ctx, cfg, installation.GateFlags{})
	if err != nil {
		return compare.Report{}, err
	}
	return compare.Run(old, now, compare.Options{Namespace: w.namespace, Context: w.facts, Gates: installed.Gates, Kruise: installed.Release}), nil
}

// plan shows the plan of a workload, or of each subset.
func (w *work) plan(ctx context.Context, it *item) error {
	if it.united() {
		subsets, err := w.subsets(ctx, it)
		if err != nil {
			return err
		}
		if err := subsets.Each(ctx, it.free); err != nil {
			return err
		}
		to, err := subsets.To(ctx, it.final)
		if err != nil {
			return err
		}
		_, err = subsets.Show(ctx, to)
		return err
	}
	part, err := w.open(ctx, it)
	if err != nil {
		return err
	}
	defer part.Close()
	if err := it.free(part); err != nil {
		return err
	}
	refused := part.Show(ctx, it.desired())
	if refused == nil || w.dryRun != "none" {
		return refused
	}
	if err := part.Replace(ctx, refused); err != nil {
		return err
	}
	if err := (&reader{w}).read(ctx, it); err != nil { // that rollout has left it in another state
		return err
	}
	return w.plan(ctx, it)
}

// free refuses a workload that a rollout has left halfway: it gets no further by
// having what holds its pods back taken away.
func (it *item) free(part *rolloutcmd.Part) error {
	why, err := part.Failed()
	if err == nil && why != "" && set.Releases(it.rolls) {
		err = &resource.Error{
			Err:  fmt.Errorf("its last rollout failed: %s", why),
			Hint: "mend that and 'kubectl kruise rollout retry', or 'kubectl kruise rollout abort --rollback'; then apply again",
		}
	}
	return err
}

func (w *work) open(ctx context.Context, it *item) (*rolloutcmd.Part, error) {
	return w.rollouts.Open(ctx, parsed(it.live, it.manifest.Origin))
}

// desired is the final state, as a plan takes it.
func (it *item) desired() *resource.Resource { return parsed(it.final, it.manifest.Origin) }

func (w *work) subsets(ctx context.Context, it *item) (*rolloutcmd.Subsets, error) {
	return w.rollouts.Subsets(ctx, it.object.GetNamespace(), it.object.GetName())
}
