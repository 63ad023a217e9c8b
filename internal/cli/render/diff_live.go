package render

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/kubectl/pkg/cmd/apply"
	kubectldiff "k8s.io/kubectl/pkg/cmd/diff"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/utils/exec"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// live compares objects of the cluster with what kubectl apply would make of them, as kubectl diff does.
type diffLive struct {
	factory *factory.Factory
	options *kubectldiff.DiffOptions
	// own are the flags that go with no other comparison.
	own *pflag.FlagSet
}

// addFlags adds the flags of kubectl diff, but for the one that shows Secrets.
func (l *diffLive) addFlags(c *cobra.Command) {
	l.options = kubectldiff.NewDiffOptions(kubectl.Streams(l.factory))
	l.options.Diff.Exec = masking{l.options.Diff.Exec}
	own := &cobra.Command{}
	fl := own.Flags()
	cmdutil.AddFilenameOptionFlags(own, &l.options.FilenameOptions, "to compare with the objects of the cluster")
	cmdutil.AddServerSideApplyFlags(own)
	cmdutil.AddFieldManagerFlagVar(own, &l.options.FieldManager, apply.FieldManagerClientSideApply)
	cmdutil.AddLabelSelectorFlagVar(own, &l.options.Selector)
	fl.BoolVar(&l.options.ShowManagedFields, "show-managed-fields", false, "keep the managedFields in the comparison")
	fl.IntVar(&l.options.Concurrency, "concurrency", 1, "how many objects are compared at a time")
	fl.Bool("prune", false, "also show the objects that kubectl apply --prune deletes")
	fl.StringArray("prune-allowlist", nil, "types that --prune deletes, as group/version/kind")
	c.Flags().AddFlagSet(fl)
	l.own = fl
}

// asked reports whether files are to be compared with the cluster.
func (l *diffLive) asked() bool {
	return !cmdutil.IsFilenameSliceEmpty(l.options.FilenameOptions.Filenames, l.options.FilenameOptions.Kustomize)
}

// check refuses flags and arguments of the other comparison.
func (l *diffLive) check(c *cobra.Command, args []string) error {
	const hint = "-f and -k compare files with the cluster; OLD NEW and --git two states of files"
	if l.asked() && len(args) > 0 {
		return command.Usagef(hint, "-f and -k exclude OLD NEW")
	}
	var wrong error
	c.Flags().Visit(func(flag *pflag.Flag) {
		switch of := l.own.Lookup(flag.Name) != nil; {
		case c.InheritedFlags().Lookup(flag.Name) != nil:
		case l.asked() && !of:
			wrong = command.Usagef(hint, "-f and -k exclude --%s", flag.Name)
		case !l.asked() && of:
			wrong = command.Usagef(hint, "--%s requires -f or -k", flag.Name)
		}
	})
	return wrong
}

// run compares, with the exit codes of kubectl and of the program that it has compare.
func (l *diffLive) run(c *cobra.Command) error {
	defer l.factory.Working("comparing with the cluster").Stop()
	err := kubectl.Until(c.Context(), func() error {
		if err := l.options.Complete(kubectl.Factory(l.factory), c, nil); err != nil {
			return err
		}
		return l.options.Run()
	})
	if ended, ok := errors.AsType[exec.ExitError](err); ok && ended.ExitStatus() == 1 {
		return command.ErrDiffers
	}
	if errors.Is(err, command.ErrInterrupted) || errors.Is(err, context.Canceled) {
		return err
	}
	return trouble(kubectl.Err(err))
}

// masking runs a program that compares two folders, in whose files nothing secret is left. kubectl itself masks
// the data of Secrets, and neither what was applied last nor the Secrets inside of other objects.
type masking struct{ exec.Interface }

// Command masks both folders, which are among the arguments, before the program is run.
func (m masking) Command(name string, args ...string) exec.Cmd {
	var folders []string
	for _, arg := range args {
		if info, err := os.Stat(arg); err == nil && info.IsDir() {
			folders = append(folders, arg)
		}
	}
	if len(folders) == 2 {
		if err := maskFolders(folders[0], folders[1]); err != nil {
			return refusedExec{m.Interface.Command(name), err}
		}
	}
	return m.Interface.Command(name, args...)
}

// refused is a program that is not run.
type refusedExec struct {
	exec.Cmd

	err error
}

// Run returns why.
func (r refusedExec) Run() error { return r.err }

func maskFolders(before, after string) error {
	names := map[string]bool{}
	for _, dir := range []string{before, after} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			names[e.Name()] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if err := maskFiles(filepath.Join(before, name), filepath.Join(after, name)); err != nil {
			return err
		}
	}
	return nil
}

// maskFiles masks the two states of an object. A file that is not there is an object that is not.
func maskFiles(before, after string) error {
	old, err := readObject(before)
	if err != nil {
		return err
	}
	updated, err := readObject(after)
	if err != nil {
		return err
	}
	shownOld, shownUpdated := apart(old, updated, redact.Object(old), redact.Object(updated))
	if err := writeObject(before, old, shownOld); err != nil {
		return err
	}
	return writeObject(after, updated, shownUpdated)
}

func readObject(file string) (map[string]any, error) {
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	text, err := load.File(file, nil, 0)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	return object, yaml.Unmarshal(text, &object)
}

func writeObject(file string, object map[string]any, shown any) error {
	if object == nil || reflect.DeepEqual(object, shown) {
		return nil
	}
	text, err := yaml.Marshal(shown)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// apart are two states as they may be shown, in which values that differ still do.
func apart(before, after, shownBefore, shownAfter any) (old, updated any) {
	switch b := shownBefore.(type) {
	case map[string]any:
		a, ok := shownAfter.(map[string]any)
		if !ok {
			break
		}
		for key, value := range b {
			if other, ok := a[key]; ok {
				b[key], a[key] = apart(before.(map[string]any)[key], after.(map[string]any)[key], value, other)
			}
		}
	case []any:
		a, ok := shownAfter.([]any)
		if !ok {
			break
		}
		for i := range min(len(a), len(b)) {
			b[i], a[i] = apart(before.([]any)[i], after.([]any)[i], b[i], a[i])
		}
	case string:
		if b == shownAfter && !reflect.DeepEqual(before, after) {
			return b + " (before)", b + " (after)"
		}
	}
	return shownBefore, shownAfter
}
