package rollout

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
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
	if o.Dry().Only() {
		s, err := o.Locate(ctx, name)
		if err != nil {
			return err
		}
		err = o.preview(ctx, s, o.action, back && s.Parent == nil)
		if err == nil && back && s.Parent != nil {
			err = o.previewUnited(ctx, s.Parent.Object)
		}
		return err
	}
	if back {
		if err := o.Ask(ctx, yes, "Roll back the rollout of "+name.String()+"?"); err != nil {
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
	s, err := o.Open(ctx, name)
	if err != nil {
		return err
	}
	defer s.Close()
	if s.Parent != nil {
		return o.EndUnited(ctx, s.Parent.Object.Namespace, s.Parent.Object.Name)
	}
	snapshot, err := s.Observe(ctx, s.Target.Ref)
	if err != nil {
		return err
	}
	if text := plan.Left(snapshot); text != "" {
		_, _ = fmt.Fprintf(o.Factory.Streams.Err, "left: %s; '%s' rolls back\n", text, o.Factory.WithConnection("kubectl kruise rollout abort "+name.String()+" --rollback"))
	}
	return nil
}

// abortUnited ends the rollout of a UnitedDeployment: that of the subset whose turn it is, and, where
// all are rolled back, those that are done as well.
func (o *control) abortUnited(ctx context.Context, name string) error {
	client, namespace, err := o.Factory.InNamespace()
	if err != nil {
		return err
	}
	u, err := united.Get(ctx, client, namespace, name)
	rendered := apierrors.IsNotFound(err)
	if err != nil && !rendered {
		return err
	}
	list, err := o.InFlight(ctx, name)
	between := !rendered && o.action.GoesBack() && (u.Start != nil || u.Held())
	if err != nil && (!between || !errors.Is(err, session.ErrNoneInFlight)) {
		return err
	}
	if o.action.GoesBack() && !o.Dry().Only() {
		if err := o.Ask(ctx, o.yes, "Roll back uniteddeployment/"+name+", all of its subsets?"); err != nil {
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
	case o.action.GoesBack() && o.Dry().Only():
		return o.previewUnited(ctx, u)
	case o.Dry().Only():
		return nil
	}
	if !o.action.GoesBack() {
		return o.EndUnited(ctx, namespace, name)
	}
	return o.RollBackSubsets(ctx, namespace, name, apply.AbortedBy(session.Holder()))
}

// isRollingBack reports whether a rollback was refused since the workload is being rolled back: with the others, that
// is carried on.
func isRollingBack(err error) bool {
	t, ok := errors.AsType[*plan.TransitionError](err)
	return ok && t.Transition == plan.TransitionRollBack && t.State == plan.StateRunning
}

// previewUnited shows the requests that take a UnitedDeployment back.
func (o *control) previewUnited(ctx context.Context, u *united.Object) error {
	s := &execute.Subsets{Execution: &o.Execution, Object: u}
	if err := s.ToFormer(ctx, apply.AbortedBy(session.Holder())); err != nil {
		return err
	}
	return o.ShowRequests(ctx, s.Requests(nil))
}

// back carries out the way back.
func (o *control) back(ctx context.Context, name resourcearg.Name) error {
	why := apply.AbortedBy(session.Holder())
	rollouts, err := o.Rollouts()
	if err != nil {
		return err
	}
	s, err := o.Open(ctx, name)
	if err != nil {
		return err
	}
	defer s.Close()
	if s.Parent != nil {
		return o.RollBackSubsets(ctx, s.Parent.Object.Namespace, s.Parent.Object.Name, why)
	}
	s.AllowVerify(o.Authority.Asks)
	e, err := rollouts.Rollback(ctx, s, why)
	if err != nil {
		return session.WithHint(err)
	}
	if p := e.Plan(); len(p.Steps) == 0 {
		e.Release()
		_, err := fmt.Fprintln(o.Factory.Streams.Out, "nothing to roll back: "+p.Change.Why)
		return err
	}
	res, err := o.CarryOut(ctx, s, e, nil)
	if err == nil && res.Outcome != event.RolledBack {
		err = o.Ending(res)
	}
	return err
}
