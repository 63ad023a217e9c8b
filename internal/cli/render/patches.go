package render

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// changeFlags say what the output takes the place of, and how it gets there.
type changeFlags struct {
	base       string
	patchesDir string
	steps      string
	// flags are those of the command, where the empty text differs from no flag.
	flags *pflag.FlagSet
}

func (f *changeFlags) addFlags(fl *pflag.FlagSet) {
	f.flags = fl
	fl.StringVar(&f.base, "against", "", "file or directory with the previous state, - for standard input: a partition becomes a stable and a canary workload, and --patches-dir starts from it")
	fl.StringVar(&f.patchesDir, "patches-dir", "", "directory for the patches that lead each workload from --against to the output, step by step, and for those of container restarts and ephemeral containers")
	fl.StringVar(&f.steps, "steps", "", "with --patches-dir: pods updated after each step, such as 1,10%,50%,100%")
}

func (f *changeFlags) validate(outputDir string) error {
	switch {
	case f.patchesDir == "" && f.flags != nil && f.flags.Changed("patches-dir"):
		return command.Usagef("give --patches-dir DIR", "--patches-dir is empty")
	case f.steps != "" && f.patchesDir == "":
		return command.Usagef("give --patches-dir DIR", "--steps is for patches")
	case f.patchesDir != "" && outputDir != "" && filepath.Clean(f.patchesDir) == filepath.Clean(outputDir):
		return command.Usagef("each would remove the files of the other", "--patches-dir and --out are the same directory")
	}
	_, err := f.policySteps()
	return err
}

func (f *changeFlags) policySteps() ([]plan.PolicyStep, error) {
	if f.steps == "" {
		return nil, nil
	}
	steps, err := plan.ParseSteps(f.steps)
	if err != nil {
		return nil, command.Usagef("for instance --steps 1,10%,50%,100%", "--steps: %w", err)
	}
	return steps, nil
}

// loadBase reads the previous state as the new one is read; nil
// without --against.
func (o *renderOptions) loadBase(ctx context.Context) ([]*resource.Resource, error) {
	if o.base == "" {
		return nil, nil
	}
	opt := load.Options{Files: []string{o.base}, Recursive: true, Stdin: o.factory.Streams.In, Namespace: o.factory.Namespace()}
	if info, err := os.Stat(o.base); o.Kustomize != "" && err == nil && info.IsDir() {
		opt.Files, opt.Recursive, opt.Kustomize = nil, false, o.base
		opt = o.Build.Load(opt)
	}
	return load.Load(ctx, opt)
}

// needsBase refuses a directory of patches that nothing could be written into: only
// what is asked of running pods leads from no state before.
func (o *renderOptions) needsBase(stream []*resource.Resource) error {
	if o.patchesDir == "" || o.base != "" || slices.ContainsFunc(stream, patches.IsRequest) {
		return nil
	}
	return command.Usagef("give the state before with --against FILE or --against DIRECTORY", "--patches-dir needs --against")
}

// writeSequences writes what --patches-dir asks for.
func (o *renderOptions) writeSequences(ctx context.Context, opt engine.Options, res *engine.Result) error {
	if o.patchesDir == "" {
		return nil
	}
	set := patches.Set{}
	if o.base != "" {
		var err error
		if set, err = o.changes(ctx, opt, res.Resources); err != nil {
			return err
		}
	}
	set.Sequences = append(set.Sequences, res.Sequences...)
	return o.writePatches(ctx, set)
}

// changes are the patches from the state before; what was rendered stays as it is.
func (o *renderOptions) changes(ctx context.Context, opt engine.Options, rendered []*resource.Resource) (patches.Set, error) {
	steps, err := o.policySteps()
	if err != nil {
		return patches.Set{}, err
	}
	before := opt
	before.Base, before.Explain = nil, false
	old, err := engine.Render(ctx, copyResources(opt.Base), before)
	if err != nil {
		return patches.Set{}, err
	}
	driver := opt.Driver
	if driver == "" {
		driver = stage.Native
	}
	facts, err := engine.ReadClusterFacts(opt.Context)
	if err != nil {
		return patches.Set{}, err
	}
	set, err := MakePatches(PatchStates{
		Old: old.Resources, New: rendered, Context: opt.Context, Namespace: opt.Namespace, Driver: driver, Steps: steps, Gates: installation.GatesOf(cmp.Or(opt.Kruise, facts.Kruise)),
	})
	set.From, set.To = o.base, o.input()
	return set, err
}

// input names what was rendered.
func (o *renderOptions) input() string {
	if o.Kustomize != "" {
		return o.Kustomize
	}
	if len(o.Files) == 1 && o.Files[0] != "-" {
		return o.Files[0]
	}
	return "the input"
}

// copyResources are for stages that change what they are given.
func copyResources(list []*resource.Resource) []*resource.Resource {
	out := make([]*resource.Resource, len(list))
	for i, r := range list {
		out[i] = r.Copy()
	}
	return out
}

// writePatches writes the set and reports it.
func (o *renderOptions) writePatches(ctx context.Context, set patches.Set) error {
	files, err := patches.Files(set)
	if err != nil {
		return err
	}
	docs := make([]emit.Document, len(files))
	for i, f := range files {
		docs[i] = emit.Document(f)
	}
	kept, err := emit.Folders(ctx, o.patchesDir, docs, o.Limits.Stage())
	o.printKept(kept)
	if err != nil || o.quiet {
		return err
	}
	steps, warnings := 0, 0
	for i := range set.Sequences {
		steps += len(set.Sequences[i].Steps)
		warnings += len(set.Sequences[i].Warnings)
	}
	_, err = fmt.Fprintf(o.factory.Streams.Err, "patches: sequences: %d, steps: %d, warnings: %d, see %s\n",
		len(set.Sequences), steps, warnings, filepath.Join(o.patchesDir, "README.md"))
	return err
}

// printKept reports files that an earlier run wrote and a user edited.
func (o *renderOptions) printKept(paths []string) {
	for _, path := range paths {
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "warning: %s is of an earlier render, but was edited since: it stays\n", path)
	}
}
