package rollout

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// runUnited rolls out the subsets of a UnitedDeployment one after the other, in the
// order given. Its template comes to all of them at once, held back by their
// partitions; each subset then has a plan and a record of its own, so that all
// verbs work on it.
func (o *runOptions) runUnited(ctx context.Context) error {
	client, namespace, err := o.factory.InNamespace()
	if err != nil {
		return err
	}
	u, err := united.Get(ctx, client, namespace, o.united)
	if errors.Is(err, united.ErrNone) {
		return o.runRendered(ctx)
	}
	if err != nil {
		return err
	}
	if o.dry().Only() {
		return o.pretendUnited(ctx, u)
	}
	if err := o.releaseUnited(ctx, u); err != nil {
		return err
	}
	names, err := clusterread.SubsetWorkloads(ctx, client, u)
	if err != nil {
		return err
	}
	return o.subsetsInTurn(ctx, names)
}

// subsetsInTurn rolls out subsets that have their new template.
func (o *runOptions) subsetsInTurn(ctx context.Context, names []resourcearg.Name) error {
	err := o.inTurn(names, func(n resourcearg.Name) error {
		one := *o
		one.Options = o.For(n)
		one.Change, one.Counted = planning.Released, true
		one.successOn = "complete" // of a subset: what waits for a person keeps the next from its turn
		return one.runSubset(ctx, n)
	})
	if errors.Is(err, command.ErrPaused) && o.successOn == "paused" {
		return nil
	}
	return err
}

// remade is the new template of a UnitedDeployment; nil where it is there already.
func (o *runOptions) remade(ctx context.Context, u *united.Object) (map[string]any, error) {
	if o.remake == nil {
		return nil, nil
	}
	template, err := o.remake(ctx, u)
	if err != nil || reflect.DeepEqual(template, u.Template) {
		return nil, err
	}
	return template, nil
}

// releaseUnited writes the new template, unless it is there.
func (o *runOptions) releaseUnited(ctx context.Context, u *united.Object) error {
	template, err := o.remade(ctx, u)
	if err != nil || template == nil {
		return err
	}
	w := o.factory.Streams.Err
	if err := o.showUnited(ctx, u, template); err != nil {
		return err
	}
	if !u.Paced() {
		_, _ = fmt.Fprintln(w, "warning: its subsets are Deployments, which have no partition: all of them are updated at once, and neither pause nor abort stops them")
	}
	if err := o.ask(ctx, o.yes, "Roll out UnitedDeployment "+u.Name+", its subsets in this order?"); err != nil {
		return err
	}
	o.answered = true
	client, err := o.factory.Dynamic()
	if err != nil {
		return err
	}
	return u.Release(ctx, client, template)
}

// showUnited shows the plan of each subset, as it is before anything is written.
func (o *runOptions) showUnited(ctx context.Context, u *united.Object, template map[string]any) error {
	_, _ = fmt.Fprintf(o.factory.Streams.Err, "UnitedDeployment %s rolls out its subsets one after the other: %s\n\n", u.Name, strings.Join(u.Subsets, ", "))
	to := *u
	to.Template, to.Partitions = template, nil
	b := &Batch{driving: o.driving, policy: o.Options}
	return (&Subsets{b, u}).Each(ctx, func(p *Part) error { return p.Show(ctx, p.follows(u, &to)) })
}

// pretendUnited shows what would be written, subset by subset.
func (o *runOptions) pretendUnited(ctx context.Context, u *united.Object) error {
	template, err := o.remade(ctx, u)
	if err != nil {
		return err
	}
	to := *u
	if template != nil {
		to.Template = template
	}
	b := &Batch{driving: o.driving, policy: o.Options}
	list, err := (&Subsets{b, u}).requests(ctx, &to)
	if err != nil {
		return err
	}
	return o.show(ctx, list)
}

// runSubset rolls out a subset: by the recorded plan where one is under way, by a
// new one otherwise. One that has no partition is only watched.
func (o *runOptions) runSubset(ctx context.Context, n resourcearg.Name) error {
	s, err := o.open(ctx, n)
	if err != nil {
		return err
	}
	defer s.Close()
	rec, err := s.Rollout()
	switch {
	case err != nil && !errors.Is(err, plan.ErrNoRollout):
		return err
	case err == nil && rec.InFlight():
		return o.takeOver(ctx, s)
	case n.Kinds[0].Kind != kruise.KindDeployment:
		return o.run(ctx)
	}
	snapshot, err := s.Observe(ctx, s.target.Ref)
	if err != nil {
		return err
	}
	t := o.teller()
	defer t.stop()
	res, err := apply.Watch(ctx, s, s.target.Ref, plan.Standing(snapshot), apply.Options{Emit: t.event, Until: o.until()})
	if err != nil {
		return err
	}
	return o.end(res)
}

// runRendered rolls out what a UnitedDeployment was rendered into, where there is no
// Kruise: each workload by itself, in the order of their names.
func (o *runOptions) runRendered(ctx context.Context) error {
	names, err := o.subsetNames(ctx, o.united)
	switch {
	case err != nil:
		return err
	case o.as != nil:
		return o.several(names, func(n resourcearg.Name) error {
			one := *o
			one.united, one.Several = "", false
			return one.changeOne(ctx, n)
		})
	case !o.Images():
		return &resource.Error{Err: errors.New("nothing to roll out"), Hint: "give --image CONTAINER=IMAGE"}
	}
	return o.runSeveral(ctx, names)
}
