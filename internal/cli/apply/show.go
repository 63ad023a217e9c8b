package apply

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
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
	var errs resource.Errors
	for _, items := range w.rolled() {
		errs.Add(w.plan(ctx, items))
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
	return compare.Run(ctx, old, now, compare.Options{Namespace: w.namespace, Context: w.facts, Gates: installed.Gates, Kruise: installed.Release}), nil
}

// plan shows the plans of workloads that are rolled out together. A rollout in progress that leads
// elsewhere is ended, where the user says so.
func (w *work) plan(ctx context.Context, items []*item) error {
	it := items[0]
	g, refused := w.open(ctx, items, true)
	if refused == nil {
		defer g.Close()
		return g.Show(ctx)
	}
	if w.dryRun != "none" || w.rollouts.Grouped() || it.united() {
		return refused
	}
	if err := w.rollouts.Replace(ctx, it.present(), refused); err != nil {
		return it.fault(err)
	}
	if err := (&reader{w}).read(ctx, it); err != nil { // that rollout has left it in another state
		return it.fault(err)
	}
	return w.plan(ctx, items)
}

// rolled are the changed workloads: those that are rolled out together in one list each, one after
// the other unless they are a group.
func (w *work) rolled() (lists [][]*item) {
	var all []*item
	for _, it := range w.items {
		if len(it.rolls) > 0 {
			all = append(all, it)
			lists = append(lists, []*item{it})
		}
	}
	if w.rollouts.Grouped() && len(all) > 0 {
		return [][]*item{all}
	}
	return lists
}

// open makes the plans of workloads; shown refuses those that a rollout has left halfway.
func (w *work) open(ctx context.Context, items []*item, shown bool) (*execute.Members, error) {
	g, err := w.rollouts.Members(ctx, w.render.Sources())
	if err != nil {
		return nil, err
	}
	var errs resource.Errors
	for _, it := range items {
		if released := shown && set.Releases(it.rolls); it.united() {
			it.ref, err = g.AddUnited(ctx, it.final, released)
		} else {
			it.ref, err = g.Add(ctx, it.present(), it.desired(), released)
		}
		errs.Add(it.fault(err))
	}
	if err := errs.Err(); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// desired is the final state, as a plan takes it, and present what there is.
func (it *item) desired() *resource.Resource { return parsed(it.final, it.manifest.Origin) }

func (it *item) present() *resource.Resource { return parsed(it.live, it.manifest.Origin) }
