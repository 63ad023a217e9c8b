package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
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
	if apierrors.IsNotFound(err) {
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
	return o.subsetsInTurn(ctx, u, names)
}

// subsetsInTurn rolls out subsets that have their new template: names are their workloads, in the
// order given.
func (o *runOptions) subsetsInTurn(ctx context.Context, u *united.Object, names []resourcearg.Name) error {
	kept := map[string]int64{}
	for i, n := range names {
		kept[n.String()] = o.kept(u, u.Subsets[i])
	}
	err := o.inSequence(names, func(n resourcearg.Name) error {
		one := *o
		one.Options = o.For(n)
		one.Change, one.Counted, one.whole = planning.Released(kept[n.String()]), true, true
		one.successOn = "complete" // of a subset: what waits for a person keeps the next from its turn
		return one.runSubset(ctx, n)
	})
	switch {
	case errors.Is(err, command.ErrPaused) && o.successOn == "paused":
		return nil
	case err != nil:
		return err
	}
	return o.endUnited(ctx, u.Namespace, u.Name)
}

// kept is how many pods of a subset the partition keeps at the end of its plan: on the way back none,
// because it would keep the very pods that are to go back.
func (o *runOptions) kept(u *united.Object, subset string) int64 {
	if o.back {
		return 0
	}
	return u.Final(subset)
}

// remade is the new template of a UnitedDeployment; nil where it is there already.
func (o *runOptions) remade(ctx context.Context, u *united.Object) (map[string]any, error) {
	if o.remake == nil {
		return nil, nil
	}
	template, err := o.remake(ctx, u)
	if err != nil || united.SameTemplate(template, u.Template) {
		return nil, err
	}
	return template, nil
}

// releaseUnited writes the new template, unless it is there.
func (o *runOptions) releaseUnited(ctx context.Context, u *united.Object) error {
	template, err := o.remade(ctx, u)
	if err != nil {
		return err
	}
	client, err := o.factory.Dynamic()
	if err != nil {
		return err
	}
	if template == nil {
		return u.Begin(ctx, client)
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
	return u.Release(ctx, client, template)
}

// showUnited shows the plan of each subset, as it is before anything is written.
func (o *runOptions) showUnited(ctx context.Context, u *united.Object, template map[string]any) error {
	_, _ = fmt.Fprintf(o.factory.Streams.Err, "UnitedDeployment %s rolls out its subsets one after the other: %s\n\n", u.Name, strings.Join(u.Subsets, ", "))
	b := &Batch{driving: o.driving, policy: o.Options}
	return (&Subsets{b, u}).Each(ctx, func(p *Part) error {
		return p.Show(ctx, p.follows(u.Template, template, o.kept(u, p.subset())))
	})
}

// pretendUnited shows what would be written, subset by subset.
func (o *runOptions) pretendUnited(ctx context.Context, u *united.Object) error {
	template, err := o.remade(ctx, u)
	if err != nil {
		return err
	}
	if template == nil {
		template = u.Template
	}
	subsets := &Subsets{&Batch{driving: o.driving, policy: o.Options}, u}
	first, err := subsets.releaseRequests(ctx, template)
	if err != nil {
		return err
	}
	list, err := subsets.requests(ctx, first, template, u.FinalStrategy(), func(subset string) int64 { return o.kept(u, subset) })
	if err != nil {
		return err
	}
	return o.show(ctx, list)
}

// runSubset rolls out a subset: by the recorded plan where one is in progress, by a
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
	policy, err := o.Policy()
	if err != nil {
		return err
	}
	snapshot, err := s.Observe(ctx, s.target.Ref)
	if err != nil {
		return err
	}
	res, err := o.watchSpec(ctx, s, snapshot, policy)
	if err != nil {
		return err
	}
	if res.Outcome == event.Failed && policy.OnFailure == plan.FailRollback {
		if res, err = o.rollBackUnited(ctx, s, res); err != nil {
			return err
		}
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

// remake is what a verb makes of the template of a UnitedDeployment.
type remake func(context.Context, *united.Object) (map[string]any, error)

// inTemplate makes something of the workload in the template of a UnitedDeployment.
func inTemplate(of func(*resource.Resource) (*resource.Resource, error)) remake {
	return func(_ context.Context, u *united.Object) (map[string]any, error) {
		template := tree.FromValue(u.Template)
		workload := tree.Clone(tree.Get(template, u.TemplateField))
		tree.Set(workload, "apiVersion", tree.String(u.Kind.Group+"/v1"))
		tree.Set(workload, "kind", tree.String(u.Kind.Kind))
		made, err := of(resource.Parsed(workload, nil, resource.Origin{File: clusterread.File}))
		if err != nil {
			return nil, err
		}
		n := tree.Clone(made.Node())
		tree.Delete(n, "apiVersion")
		tree.Delete(n, "kind")
		tree.Set(template, u.TemplateField, n)
		value, _ := tree.Value(template).(map[string]any)
		return value, nil
	}
}

// olderTemplate is the template of an older revision, which a UnitedDeployment keeps
// itself (docs/kruise/distribution.md#which-allocator): of that number, or the newest that is not
// the present one.
func (c *common) olderTemplate(number int64) remake {
	return func(ctx context.Context, u *united.Object) (map[string]any, error) {
		client, err := c.factory.Dynamic()
		if err != nil {
			return nil, err
		}
		list, err := u.Revisions(ctx, client)
		if err != nil {
			return nil, err
		}
		present, _ := u.Present(list)
		for _, r := range slices.Backward(list) {
			if r.Number == number || number == 0 && r.Name != present.Name {
				return r.Template, nil
			}
		}
		what := "no older revision"
		if number > 0 {
			what = fmt.Sprintf("no revision %d", number)
		}
		return nil, &resource.Error{
			Err:  fmt.Errorf("uniteddeployment/%s has %s", u.Name, what),
			Hint: "'kubectl get controllerrevisions' lists those there are; or give the images: 'kubectl kruise rollout run uniteddeployment/" + u.Name + " --image …'",
		}
	}
}

// parts names the workloads of a UnitedDeployment.
type parts func(ctx context.Context, united string) ([]string, error)

// inParts are names with the workloads of a UnitedDeployment in its place.
func inParts(ctx context.Context, list []string, of parts) ([]string, error) {
	var out []string
	for _, arg := range list {
		name, ok := resourcearg.ParseUnited(arg)
		if !ok {
			out = append(out, arg)
			continue
		}
		more, err := of(ctx, name)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// subsetsOf are the workloads of the subsets in the order given, or, without Kruise,
// those that the UnitedDeployment was rendered into.
func (c *common) subsetsOf(ctx context.Context, name string) ([]string, error) {
	names, err := c.subsetNames(ctx, name)
	var out []string
	for _, n := range names {
		out = append(out, n.String())
	}
	return out, err
}

func (c *common) subsetNames(ctx context.Context, name string) ([]resourcearg.Name, error) {
	client, namespace, err := c.factory.InNamespace()
	if err != nil {
		return nil, err
	}
	u, err := united.Get(ctx, client, namespace, name)
	if !apierrors.IsNotFound(err) {
		if err != nil {
			return nil, err
		}
		return clusterread.SubsetWorkloads(ctx, client, u)
	}
	names, err := clusterread.RenderedWorkloads(ctx, client, namespace, kruise.KindUnitedDeployment, name)
	if err == nil && len(names) == 0 {
		err = resourcearg.NotFound(united.Resource(kruise.V1beta1).GroupResource(), name, namespace)
	}
	return names, err
}

// errNoneInFlight indicates that no subset of a UnitedDeployment is being rolled out.
var errNoneInFlight = errors.New("no rollout of its subsets is in progress")

// inFlight are those of the subsets' workloads with a rollout that is in progress, or has
// halted. There is none for a UnitedDeployment itself, whose subsets take turns.
func (c *common) inFlight(ctx context.Context, name string) ([]string, error) {
	names, err := c.subsetNames(ctx, name)
	if err != nil {
		return nil, err
	}
	rollouts, err := c.rollouts()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, n := range names {
		s, err := c.locate(ctx, n)
		if err != nil {
			return nil, err
		}
		rec, err := rollouts.Get(ctx, s.target.Ref)
		switch {
		case errors.Is(err, plan.ErrNoRollout):
		case err != nil:
			return nil, err
		case rec.State() != plan.StateDone:
			out = append(out, n.String())
		}
	}
	if len(out) == 0 {
		return nil, &resource.Error{
			Err:  fmt.Errorf("uniteddeployment/%s: %w", name, errNoneInFlight),
			Hint: "start one, or continue with the next subset, with 'kubectl kruise rollout run uniteddeployment/" + name + "'",
		}
	}
	return out, nil
}
