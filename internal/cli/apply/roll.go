package apply

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/set"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// roll rolls changed workloads out, one after the other or as a group. After one that fails nothing
// more is done.
func (e *executor) roll(ctx context.Context) error {
	lists := e.rolled()
	for i, items := range lists {
		if err := e.rollItems(ctx, items); err != nil {
			for _, rest := range lists[i+1:] {
				e.report.notStarted(rest)
			}
			return err
		}
	}
	return nil
}

// rollItems rolls workloads out that are rolled out together, and applies the final state of those
// that are completed, whatever became of the others: it is there already, but who owns which field
// is not.
func (e *executor) rollItems(ctx context.Context, items []*item) error {
	g, err := e.open(ctx, items, false)
	if err != nil {
		return err
	}
	defer g.Close()
	if e.only {
		list, err := g.Requests()
		if err != nil {
			return err
		}
		e.list = append(e.list, list...)
		for _, it := range items {
			then, err := predicted(it, g.Partition(it.ref))
			if err == nil {
				err = e.applyFinal(ctx, it, then, true)
			}
			if err != nil {
				return it.fault(err)
			}
		}
		return nil
	}
	phases, ended := g.Run(ctx)
	for _, it := range items {
		switch phase, rolled := phases[it.ref]; {
		case phase == plan.PhaseCompleted, !rolled && ended == nil:
			now, err := e.adopted(ctx, it)
			if err == nil {
				err = e.applyFinal(ctx, it, now, rolled)
			}
			if err != nil {
				return it.fault(err)
			}
		case phase == plan.PhasePending:
			e.report.notStarted([]*item{it})
		}
	}
	if ended != nil && !e.rollouts.Grouped() {
		return items[0].fault(ended)
	}
	return ended
}

// adopted is what there is of a workload, whose fields are those of this manager; nil where it is gone.
func (e *executor) adopted(ctx context.Context, it *item) (*unstructured.Unstructured, error) {
	now, err := e.client.Get(ctx, it.object)
	if err != nil || now == nil {
		return nil, err
	}
	return e.client.Adopt(ctx, now, kube.FieldManager)
}

// applyFinal applies the final state of a workload whose pods have it, and which is like that now.
func (e *executor) applyFinal(ctx context.Context, it *item, now *unstructured.Unstructured, rolled bool) error {
	if now != nil {
		set.KeepMark(now, it.object)
		markBegun(it.object, "")
		if rolled {
			set.ForgetDeleted(it.object)
		}
		if rolled && e.rollouts.Staged() {
			set.KeepHeld(now, it.object)
		}
	}
	got, err := e.apply(ctx, it.object, it.final)
	if err != nil {
		return err
	}
	it.final = got
	if rolled {
		e.report.object(it.object, "rolled out")
	} else {
		e.report.object(it.object, outcome(it.live, got))
	}
	return nil
}

// settle waits for the pods of workloads that no plan has waited for.
func (e *executor) settle(ctx context.Context) error {
	if !e.wait || e.only {
		return nil
	}
	for _, it := range e.items {
		if len(it.rolls) > 0 || !it.hasPods() {
			continue
		}
		if err := e.rollouts.Settle(ctx, it.desired()); err != nil {
			return it.fault(err)
		}
	}
	return nil
}
