package apply

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/set"
)

// roll rolls changed workloads out, one after the other or as a group.
func (e *executor) roll(ctx context.Context) error {
	if e.rollouts.Grouped() {
		return e.rollGroup(ctx)
	}
	return e.rollEach(
		func(it *item) (bool, error) { return e.follow(ctx, it) },
		func(it *item, rolled bool) error { return e.applyFinal(ctx, it, rolled) },
	)
}

// rollEach carries the plan of each workload out, and applies its final state then: it is there
// already, but who owns which field is not. After one that fails nothing more is done.
func (e *executor) rollEach(follow func(*item) (rolled bool, err error), final func(it *item, rolled bool) error) error {
	for i, it := range e.items {
		if len(it.rolls) == 0 {
			continue
		}
		rolled, err := follow(it)
		if err == nil {
			err = final(it, rolled)
		}
		if err != nil {
			e.report.notStarted(e.items[i+1:])
			return it.fault(err)
		}
	}
	return nil
}

// applyFinal applies the final state of a workload whose pods have it.
func (e *executor) applyFinal(ctx context.Context, it *item, rolled bool) error {
	now, err := e.client.Get(ctx, it.object)
	if err != nil {
		return err
	}
	if now != nil {
		if now, err = e.client.Adopt(ctx, now, kube.FieldManager); err != nil {
			return err
		}
		set.KeepMark(now, it.object)
		if rolled {
			set.ForgetDeleted(it.object)
		}
		if rolled && e.rollouts.Staged() {
			set.KeepHeld(now, it.object)
		}
	}
	got, err := e.client.Apply(ctx, it.object, e.how(false))
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

// follow has the pods follow, of one workload or of all subsets.
func (e *executor) follow(ctx context.Context, it *item) (rolled bool, err error) {
	if !it.united() {
		part, err := e.open(ctx, it)
		if err != nil {
			return false, err
		}
		defer part.Close()
		return part.Run(ctx, it.desired())
	}
	subsets, err := e.subsets(ctx, it)
	if err != nil {
		return false, err
	}
	to, err := subsets.To(ctx, it.final)
	if err != nil {
		return false, err
	}
	return true, subsets.Run(ctx, to)
}

// settle waits for the pods of workloads that no plan has waited for.
func (e *executor) settle(ctx context.Context) error {
	if !e.wait {
		return nil
	}
	for _, it := range e.items {
		if len(it.rolls) > 0 || !it.hasPods() {
			continue
		}
		if err := e.settleOne(ctx, it); err != nil {
			return it.fault(err)
		}
	}
	return nil
}

func (e *executor) settleOne(ctx context.Context, it *item) error {
	if it.united() {
		subsets, err := e.subsets(ctx, it)
		if err != nil {
			return err
		}
		return subsets.Settle(ctx)
	}
	part, err := e.rollouts.Open(ctx, it.desired())
	if err != nil {
		return err
	}
	defer part.Close()
	return part.Settle(ctx)
}
