package apply

import (
	"context"

	rolloutcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/set"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// united reports whether an object's pods are those of its subsets' workloads.
func (it *item) united() bool { return it.manifest.Is(kruise.Group, kruise.KindUnitedDeployment) }

// hasPods reports whether an object has pods that are waited for.
func (it *item) hasPods() bool {
	return it.united() || cluster.IsWorkload(it.manifest.Group(), it.manifest.Kind())
}

// driven reports whether a change of the object's template comes to its pods by plan.
// Subsets that are Deployments have nothing that holds them back.
func (it *item) driven() bool {
	return it.hasPods() && (!it.united() || united.Read(it.final).Paced())
}

func (w *work) subsets(ctx context.Context, it *item) (*rolloutcmd.Subsets, error) {
	return w.rollouts.Subsets(ctx, it.object.GetNamespace(), it.object.GetName())
}

// roll rolls changed workloads out, one after the other or as a group.
func (w *work) roll(ctx context.Context) error {
	if w.rollouts.Grouped() {
		return w.rollGroup(ctx)
	}
	for i, it := range w.items {
		if len(it.rolls) == 0 {
			continue
		}
		if err := w.rollOne(ctx, it); err != nil {
			w.waiting(w.items[i+1:])
			return it.fault(err)
		}
	}
	return nil
}

// rollOne carries a plan out, and applies the final state then: it is there already,
// but who owns which field is not.
func (w *work) rollOne(ctx context.Context, it *item) error {
	rolled, err := w.follow(ctx, it)
	if err != nil {
		return err
	}
	return w.applyFinal(ctx, it, rolled)
}

// applyFinal applies the final state of a workload whose pods have it.
func (w *work) applyFinal(ctx context.Context, it *item, rolled bool) error {
	now, err := w.client.Get(ctx, it.object)
	if err != nil {
		return err
	}
	if now != nil {
		if now, err = w.client.Adopt(ctx, now, kube.FieldManager); err != nil {
			return err
		}
		set.KeepMark(now, it.object)
	}
	got, err := w.client.Apply(ctx, it.object, w.how(false))
	if err != nil {
		return err
	}
	it.final = got
	if rolled {
		w.done(it, "rolled out")
	} else {
		w.done(it, outcome(it.live, got))
	}
	return nil
}

// follow has the pods follow, of one workload or of all subsets.
func (w *work) follow(ctx context.Context, it *item) (rolled bool, err error) {
	if !it.united() {
		part, err := w.open(ctx, it)
		if err != nil {
			return false, err
		}
		defer part.Close()
		return part.Run(ctx, it.desired())
	}
	subsets, err := w.subsets(ctx, it)
	if err != nil {
		return false, err
	}
	if err := subsets.Release(ctx, it.final); err != nil {
		return false, err
	}
	return true, subsets.Run(ctx, it.final)
}

// settle waits for the pods of workloads that no plan has waited for.
func (w *work) settle(ctx context.Context) error {
	if !w.wait {
		return nil
	}
	for _, it := range w.items {
		if len(it.rolls) > 0 || !it.hasPods() {
			continue
		}
		if err := w.settleOne(ctx, it); err != nil {
			return it.fault(err)
		}
	}
	return nil
}

func (w *work) settleOne(ctx context.Context, it *item) error {
	if it.united() {
		subsets, err := w.subsets(ctx, it)
		if err != nil {
			return err
		}
		return subsets.Settle(ctx)
	}
	part, err := w.rollouts.Open(ctx, it.desired())
	if err != nil {
		return err
	}
	defer part.Close()
	return part.Settle(ctx)
}
