package rollout

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// isAbort reports whether it is the verb that ends rollouts, and may roll them back.
func (o *control) isAbort() bool {
	return o.action.Transition == plan.TransitionAbort || o.action.GoesBack()
}

// abort ends the rollout of one workload; yes is the answer whether it is rolled back.
func (o *control) abort(ctx context.Context, name resourcearg.Name, yes bool) error {
	back := o.action.GoesBack()
	if o.dry().Only() {
		s, err := o.locate(ctx, name)
		if err != nil {
			return err
		}
		err = o.preview(ctx, s, o.action, back && s.parent == nil)
		if err == nil && back && s.parent != nil {
			err = o.previewUnited(ctx, s.parent.object)
		}
		return err
	}
	if back {
		if err := o.ask(ctx, yes, "Roll back the rollout of "+name.String()+"?"); err != nil {
			return err
		}
	}
	if err := o.onWorkload(ctx, name); err != nil {
		return err
	}
	if !back {
		return o.sayLeft(ctx, name)
	}
	return o.back(ctx, name)
}

// sayLeft says what an aborted rollout leaves that later changes meet. Who may decide need not see
// the pods.
func (o *control) sayLeft(ctx context.Context, name resourcearg.Name) error {
	err := o.readLeft(ctx, name)
	if apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

func (o *control) readLeft(ctx context.Context, name resourcearg.Name) error {
	s, err := o.open(ctx, name)
	if err != nil {
		return err
	}
	defer s.Close()
	if s.parent != nil {
		return o.endUnited(ctx, s.parent.object.Namespace, s.parent.object.Name)
	}
	snapshot, err := s.Observe(ctx, s.target.Ref)
	if err != nil {
		return err
	}
	if text := plan.Left(snapshot); text != "" {
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "left: %s; '%s' rolls back\n", text, o.factory.WithConnection("kubectl kruise rollout abort "+name.String()+" --rollback"))
	}
	return nil
}

// abortUnited ends the rollout of a UnitedDeployment: that of the subset whose turn it is, and, where
// all are rolled back, those that are done as well.
func (o *control) abortUnited(ctx context.Context, name string) error {
	client, namespace, err := o.factory.InNamespace()
	if err != nil {
		return err
	}
	u, err := united.Get(ctx, client, namespace, name)
	rendered := apierrors.IsNotFound(err)
	if err != nil && !rendered {
		return err
	}
	list, err := o.inFlight(ctx, name)
	between := !rendered && o.action.GoesBack() && (u.Start != nil || u.Held())
	if err != nil && (!between || !errors.Is(err, errNoneInFlight)) {
		return err
	}
	if o.action.GoesBack() && !o.dry().Only() {
		if err := o.ask(ctx, o.yes, "Roll back uniteddeployment/"+name+", all of its subsets?"); err != nil {
			return err
		}
	}
	for _, arg := range list {
		member, err := resourcearg.ParseAny(arg)
		if err != nil {
			return err
		}
		if rendered {
			err = o.abort(ctx, member, true) // the answer was for the whole
		} else {
			err = o.onWorkload(ctx, member)
		}
		if err != nil && (rendered || !isRollingBack(err)) {
			return err
		}
	}
	switch {
	case rendered:
		return nil
	case o.action.GoesBack() && o.dry().Only():
		return o.previewUnited(ctx, u)
	case o.dry().Only():
		return nil
	}
	if !o.action.GoesBack() {
		return o.endUnited(ctx, namespace, name)
	}
	return o.rollBackSubsets(ctx, namespace, name, apply.AbortedBy(holder()))
}

// isRollingBack reports whether a rollback was refused since the workload is being rolled back: with the others, that
// is carried on.
func isRollingBack(err error) bool {
	t, ok := errors.AsType[*plan.TransitionError](err)
	return ok && t.Transition == plan.TransitionRollBack && t.State == plan.StateRunning
}

// previewUnited shows the requests that take a UnitedDeployment back.
func (o *control) previewUnited(ctx context.Context, u *united.Object) error {
	s := &subsets{execution: &o.execution, object: u}
	if err := s.toFormer(ctx, apply.AbortedBy(holder())); err != nil {
		return err
	}
	return o.show(ctx, s.requests(nil))
}

// back carries out the way back.
func (o *control) back(ctx context.Context, name resourcearg.Name) error {
	why := apply.AbortedBy(holder())
	rollouts, err := o.rollouts()
	if err != nil {
		return err
	}
	s, err := o.open(ctx, name)
	if err != nil {
		return err
	}
	defer s.Close()
	if s.parent != nil {
		return o.rollBackSubsets(ctx, s.parent.object.Namespace, s.parent.object.Name, why)
	}
	s.AllowVerify(o.authority.asks)
	e, err := rollouts.Rollback(ctx, s, why)
	if err != nil {
		return withHint(err)
	}
	if p := e.Plan(); len(p.Steps) == 0 {
		e.Release()
		_, err := fmt.Fprintln(o.factory.Streams.Out, "nothing to roll back: "+p.Change.Why)
		return err
	}
	res, err := o.carryOut(ctx, s, e, nil)
	if err == nil && res.Outcome != event.RolledBack {
		err = o.end(res)
	}
	return err
}
