package diff

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/input"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// sides reads both states.
func (o *options) sides(ctx context.Context) (old, now []*resource.Resource, err error) {
	if o.git != "" {
		return o.revisions(ctx)
	}
	var errs resource.Errors
	old, err = o.read(ctx, o.args[0], o.build.Folder)
	errs.Add(err)
	now, err = o.read(ctx, o.args[1], o.build.Folder)
	errs.Add(err)
	return old, now, errs.Err()
}

// read reads a file, a directory with all below it, or a kustomization. An empty
// one is a state, too. The root is the folder that a kustomization may read.
func (o *options) read(ctx context.Context, path, root string) ([]*resource.Resource, error) {
	if path == os.DevNull {
		return nil, nil
	}
	opt := load.Options{Stdin: o.factory.Streams.In, Namespace: o.factory.Namespace()}
	if path != "-" && load.IsKustomization(path) {
		opt.Kustomize, opt.Root, opt.KruiseSchema = path, root, o.build.Schema
		opt.Undecided = func(e *resource.Error) { o.undecided = append(o.undecided, e) }
	} else {
		opt.Files, opt.Recursive = []string{path}, true
	}
	list, err := load.Load(ctx, o.limits.Load(opt))
	if errors.Is(err, load.ErrEmpty) {
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "note: %s holds no objects\n", path)
		return nil, nil
	}
	return list, advised(err)
}

// advised gives faults hints that fit this verb, which has no -k.
func advised(err error) error {
	return each(err, func(e *resource.Error) {
		if dir, ok := strings.CutPrefix(e.Hint, "use -k "); ok {
			e.Hint = "compare " + dir + " by itself: it is built then"
		}
	})
}

// each changes copies of the faults of an error.
func each(err error, change func(*resource.Error)) error {
	var all, out resource.Errors
	all.Add(err)
	for _, one := range all {
		if e, ok := errors.AsType[*resource.Error](one); ok {
			fault := *e
			change(&fault)
			one = &fault
		}
		out.Add(one)
	}
	return out.Err()
}

// revisions reads two revisions of a path, or of its old and its new name.
func (o *options) revisions(ctx context.Context) (old, now []*resource.Resource, err error) {
	repo, within, err := input.OpenRepo(ctx, input.ExecGit, o.args[0])
	if err != nil {
		return nil, nil, err
	}
	later := within
	if len(o.args) == 2 {
		if _, later, err = input.OpenRepo(ctx, input.ExecGit, o.args[1]); err != nil {
			return nil, nil, err
		}
	}
	span, err := repo.Resolve(ctx, o.git)
	if err != nil {
		return nil, nil, err
	}
	var errs resource.Errors
	old, there, err := o.at(ctx, repo, span.From, span.Old, within)
	errs.Add(err)
	if span.To == "" {
		now, err = o.workingTree(ctx, o.args[len(o.args)-1], there)
		errs.Add(err)
		return old, now, errs.Err()
	}
	now, here, err := o.at(ctx, repo, span.To, span.New, later)
	errs.Add(err)
	if len(errs) == 0 && !there && !here {
		errs.Add(&resource.Error{File: o.args[0], Err: fmt.Errorf("is neither in %s nor in %s", span.Old, span.New), Hint: "the path is relative to the current directory"})
	}
	return old, now, errs.Err()
}

// workingTree reads the path as it is on the disk; it may be gone.
func (o *options) workingTree(ctx context.Context, path string, before bool) ([]*resource.Resource, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && before {
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "note: there is no %s in the working tree\n", path)
		return nil, nil
	}
	return o.read(ctx, path, o.build.Folder)
}

// at reads a path of a commit; there is false when the commit does not hold it.
// A kustomization may reach out of its directory, so for one the whole tree is
// written out.
func (o *options) at(ctx context.Context, repo *input.Repo, commit, name, within string) (list []*resource.Resource, there bool, err error) {
	if there, err = repo.Has(ctx, commit, within); err != nil {
		return nil, false, err
	}
	if !there {
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "note: there is no %s in %s\n", within, name)
		return nil, false, nil
	}
	dir, err := os.MkdirTemp("", "kubectl-kruise-")
	if err != nil {
		return nil, true, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what is left of it is in the temporary directory
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, true, err
	}
	if err := repo.Export(ctx, commit, within, dir); err != nil {
		return nil, true, err
	}
	path := filepath.Join(dir, filepath.FromSlash(within))
	if load.IsKustomization(path) {
		if err := repo.Export(ctx, commit, ".", dir); err != nil {
			return nil, true, err
		}
	}
	before := len(o.undecided)
	list, err = o.read(ctx, path, dir)
	for _, e := range o.undecided[before:] {
		e.File, e.Hint = nameIn(e.File, dir, name), nameIn(e.Hint, dir, name)
	}
	return relocated(list, dir, name), true, relocatedError(err, dir, name)
}

// relocated names the places of objects after the revision, not after where its
// files were written to.
func relocated(list []*resource.Resource, dir, name string) []*resource.Resource {
	for _, r := range list {
		r.Origin = r.Origin.Renamed(func(file string) string { return nameIn(file, dir, name) })
	}
	return list
}

func relocatedError(err error, dir, name string) error {
	return each(err, func(e *resource.Error) {
		e.File, e.Hint = nameIn(e.File, dir, name), nameIn(e.Hint, dir, name)
		if text := e.Err.Error(); strings.Contains(text, dir) {
			e.Err = errors.New(nameIn(text, dir, name))
		}
	})
}

func nameIn(text, dir, name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, dir+string(filepath.Separator), name+":"), dir, name)
}

// render brings both states to native objects.
func (o *options) render(ctx context.Context, old, now, beside []*resource.Resource) (renderedOld, renderedNow []*resource.Resource, err error) {
	opt := render.Options{Kruise: o.kruise.Given(), Namespace: o.factory.Namespace(), Context: beside, Stop: ctx.Err}
	var errs resource.Errors
	for _, s := range []struct{ in, out *[]*resource.Resource }{{&old, &renderedOld}, {&now, &renderedNow}} {
		res, err := render.Render(*s.in, opt)
		errs.Add(err)
		if err == nil {
			*s.out = res.Resources
		}
	}
	return renderedOld, renderedNow, errs.Err()
}

// surroundings reads what exists beside both states.
func (o *options) surroundings(ctx context.Context, old []*resource.Resource) (compare.Options, error) {
	opt := compare.Options{Namespace: o.factory.Namespace(), Stop: ctx.Err}
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
func (o *options) observed(old, context []*resource.Resource, gates cluster.Gates) (func(cluster.Ref) (plan.Snapshot, bool), error) {
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
