package apply

import (
	"context"

	rolloutcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// showGroup shows the plans of all changed workloads, and the order in which they follow.
func (w *work) showGroup(ctx context.Context) error {
	g, err := w.openGroup(ctx, true)
	if err != nil {
		return err
	}
	defer g.Close()
	return g.Show()
}

// openGroup makes a group of the changed workloads; shown refuses those that a rollout has
// left halfway.
func (w *work) openGroup(ctx context.Context, shown bool) (*rolloutcmd.BatchGroup, error) {
	g, err := w.rollouts.OpenGroup(ctx, w.render.Sources())
	if err != nil {
		return nil, err
	}
	var errs resource.Errors
	for _, it := range w.items {
		if len(it.rolls) > 0 {
			errs.Add(it.fault(w.join(ctx, g, it, shown)))
		}
	}
	if err := errs.Err(); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// join takes a changed workload into the group.
func (w *work) join(ctx context.Context, g *rolloutcmd.BatchGroup, it *item, shown bool) error {
	if it.united() {
		return rolloutcmd.ErrUnitedInGroup()
	}
	part, err := w.open(ctx, it)
	if err != nil {
		return err
	}
	if shown {
		if err := it.free(part); err != nil {
			part.Close()
			return err
		}
	}
	it.ref = part.Ref()
	return g.Add(ctx, part, it.desired())
}

// rollGroup rolls the changed workloads out as a group, and applies the final state of those
// that are completed, whatever became of the others.
func (e *executor) rollGroup(ctx context.Context) error {
	g, err := e.openGroup(ctx, false)
	if err != nil {
		return err
	}
	phases, ended := g.Run(ctx)
	g.Close()
	for _, it := range e.items {
		if len(it.rolls) == 0 {
			continue
		}
		switch phase, rolled := phases[it.ref]; {
		case phase == plan.PhaseCompleted, !rolled && ended == nil:
			if err := e.applyFinal(ctx, it, rolled); err != nil {
				return it.fault(err)
			}
		case phase == plan.PhasePending:
			e.report.notStarted([]*item{it})
		}
	}
	return ended
}
