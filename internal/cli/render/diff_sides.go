package render

import (
	"context"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// sides reads both states.
func (o *diffOptions) sides(ctx context.Context) (old, now []*resource.Resource, err error) {
	o.states.Stdin, o.states.Notes, o.states.Namespace = o.factory.Streams.In, o.factory.Streams.Err, o.factory.Namespace()
	if o.git != "" {
		return o.states.Revisions(ctx, o.git, o.args)
	}
	return o.states.Of(ctx, o.args[0], o.args[1])
}

// render brings both states to native objects.
func (o *diffOptions) render(ctx context.Context, old, now, beside []*resource.Resource) (renderedOld, renderedNow []*resource.Resource, err error) {
	opt := render.Options{Kruise: o.kruise.Given(), Namespace: o.factory.Namespace(), Context: beside}
	var errs resource.Errors
	for _, s := range []struct{ in, out *[]*resource.Resource }{{&old, &renderedOld}, {&now, &renderedNow}} {
		res, err := render.Render(ctx, *s.in, opt)
		errs.Add(err)
		if err == nil {
			*s.out = res.Resources
		}
	}
	return renderedOld, renderedNow, errs.Err()
}

// surroundings reads what exists beside both states.
func (o *diffOptions) surroundings(ctx context.Context, old []*resource.Resource) (compare.Options, error) {
	opt := compare.Options{Namespace: o.factory.Namespace()}
	var err error
	if opt.Context, err = load.Context(ctx, o.with, o.factory.Streams.In); err != nil {
		return opt, err
	}
	facts, err := render.ReadClusterFacts(opt.Context)
	if err != nil {
		return opt, err
	}
	opt.Kruise = o.kruise.Or(facts.Kruise)
	set, err := o.given.Of(opt.Kruise)
	if err != nil {
		return opt, err
	}
	opt.Gates = set.Gates
	if slices.ContainsFunc(opt.Context, func(r *resource.Resource) bool { return r.Is("", "Pod") }) {
		opt.Observed, err = o.observed(old, opt.Context, set.Gates)
	}
	return opt, err
}

// observed answers from the pods that exist. What exists of a workload, with the
// uid that its pods name, goes before what the old manifest says.
func (o *diffOptions) observed(old, context []*resource.Resource, gates cluster.Gates) (func(cluster.Ref) (plan.Snapshot, bool), error) {
	facts := resource.NewFacts(nil, context, o.factory.Namespace())
	list := slices.Clone(context)
	for _, r := range old {
		if facts.Existing(r) == nil {
			list = append(list, r)
		}
	}
	read, err := clusterread.ReadObjects(list)
	if err != nil {
		return nil, err
	}
	w := simulate.New(simulate.Options{Gates: gates})
	if err := w.Load(read); err != nil {
		return nil, err
	}
	return func(ref cluster.Ref) (plan.Snapshot, bool) {
		s, err := w.Snapshot(ref)
		return s, err == nil
	}, nil
}
