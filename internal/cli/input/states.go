package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// States reads two states of the same manifests.
type States struct {
	Stdin io.Reader
	// Notes takes what is to be known of what was read, a line each.
	Notes     io.Writer
	Namespace string
	Build     KustomizationFlags
	Limits    LimitFlag
	// Undecided are the places of kustomizations where Kruise's schema would change what is built.
	Undecided []*resource.Error
}

// Of reads the states of two paths.
func (s *States) Of(ctx context.Context, before, after string) (old, now []*resource.Resource, err error) {
	var errs resource.Errors
	first, second := halves(ctx)
	old, err = s.read(first, before, s.Build.Folder)
	errs.Add(err)
	now, err = s.read(second, after, s.Build.Folder)
	errs.Add(err)
	return old, now, errs.Err()
}

// halves are contexts for both states, each of which is half of the work.
func halves(ctx context.Context) (first, second context.Context) {
	p := resource.ProgressOf(ctx)
	return resource.WithProgress(ctx, p.Within(0, .5)), resource.WithProgress(ctx, p.Within(.5, 1))
}

// read reads a file, a directory with all below it, or a kustomization. An empty
// one is a state, too. The root is the folder that a kustomization may read.
func (s *States) read(ctx context.Context, path, root string) ([]*resource.Resource, error) {
	if path == os.DevNull {
		return nil, nil
	}
	opt := load.Options{Stdin: s.Stdin, Namespace: s.Namespace}
	if path != "-" && load.IsKustomization(path) {
		opt.Kustomize, opt.Root, opt.KruiseSchema = path, root, s.Build.Schema
		opt.Undecided = &s.Undecided
	} else {
		opt.Files, opt.Recursive = []string{path}, true
	}
	list, err := load.Load(ctx, s.Limits.Load(opt))
	if errors.Is(err, load.ErrEmpty) {
		_, _ = fmt.Fprintf(s.Notes, "note: %s holds no objects\n", path)
		return nil, nil
	}
	return list, advised(err)
}

// advised gives faults hints that fit verbs which take a folder as it is.
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

// CheckPaths checks what a verb with --git got: one path, or its old and its new name. The error is of usage.
func CheckPaths(git string, paths []string) error {
	switch n := len(paths); {
	case n == 0:
		return command.Usagef("for instance --git "+git+" overlays/prod", "which path of the repository?")
	case n > 2:
		return command.Usagef("one path, or its old and its new name", "unexpected argument %q", paths[2])
	case slices.Contains(paths, "-"):
		return command.Usagef("name a path of the repository", "--git and standard input exclude each other")
	case slices.Contains(paths, ""):
		return command.Usagef("name a file or a directory", "the name of a file is empty")
	}
	return nil
}

// Revisions reads two revisions of a path, or of its old and its new name: A..B, A...B, or A for A
// against the working tree.
func (s *States) Revisions(ctx context.Context, git string, paths []string) (old, now []*resource.Resource, err error) {
	repo, within, err := OpenRepo(ctx, execGit, paths[0])
	if err != nil {
		return nil, nil, err
	}
	later := within
	if len(paths) == 2 {
		if _, later, err = OpenRepo(ctx, execGit, paths[1]); err != nil {
			return nil, nil, err
		}
	}
	span, err := repo.Resolve(ctx, git)
	if err != nil {
		return nil, nil, err
	}
	var errs resource.Errors
	first, second := halves(ctx)
	old, there, err := s.at(first, repo, span.From, span.Old, within)
	errs.Add(err)
	if span.To == "" {
		now, err = s.workingTree(second, paths[len(paths)-1], there)
		errs.Add(err)
		return old, now, errs.Err()
	}
	now, here, err := s.at(second, repo, span.To, span.New, later)
	errs.Add(err)
	if len(errs) == 0 && !there && !here {
		errs.Add(&resource.Error{File: paths[0], Err: fmt.Errorf("is neither in %s nor in %s", span.Old, span.New), Hint: "the path is relative to the current directory"})
	}
	return old, now, errs.Err()
}

// workingTree reads the path as it is on the disk; it may be gone.
func (s *States) workingTree(ctx context.Context, path string, before bool) ([]*resource.Resource, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && before {
		_, _ = fmt.Fprintf(s.Notes, "note: there is no %s in the working tree\n", path)
		return nil, nil
	}
	return s.read(ctx, path, s.Build.Folder)
}

// at reads a path of a commit; there is false when the commit does not hold it.
// A kustomization may reach out of its directory, so for one the whole tree is
// written out.
func (s *States) at(ctx context.Context, repo *Repo, commit, name, within string) (list []*resource.Resource, there bool, err error) {
	if there, err = repo.Has(ctx, commit, within); err != nil {
		return nil, false, err
	}
	if !there {
		_, _ = fmt.Fprintf(s.Notes, "note: there is no %s in %s\n", within, name)
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
	before, names := len(s.Undecided), strings.NewReplacer(dir+string(filepath.Separator), name+":", dir, name)
	list, err = s.read(ctx, path, dir)
	for _, e := range s.Undecided[before:] {
		e.File, e.Hint = names.Replace(e.File), names.Replace(e.Hint)
	}
	for _, r := range list { // after the revision, not after where its files were written to
		r.Origin = r.Origin.Renamed(names)
	}
	return list, true, each(err, func(e *resource.Error) {
		e.File, e.Hint = names.Replace(e.File), names.Replace(e.Hint)
		if text := e.Err.Error(); strings.Contains(text, dir) {
			e.Err = errors.New(names.Replace(text))
		}
	})
}
