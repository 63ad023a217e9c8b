// Package change has the verbs that change or delete objects that are there: set, scale,
// autoscale, scaledown, patch, replace, protect, unprotect and delete. They read and write objects as they
// are, of a cluster or of files, so that fields that they do not know stay.
package change

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/cli-runtime/pkg/resource"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	place "github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// fieldManager is who writes, unless --field-manager says otherwise.
const fieldManager = "kubectl-kruise"

// edit is a verb that changes objects, with its flags.
type edit struct {
	Factory *factory.Factory
	// Done is what is printed behind the name of a changed object.
	Done string
	// Types are those that completion offers.
	Types []string
	// Explainer, where it is not nil, explains an object before it is written for the
	// first time.
	Explainer *rolloutExplainer
	// Notes, where they are not nil, get an object before its line is printed.
	Notes interface {
		wrote(info *resource.Info) error
	}
	// Remote leaves out --local: the change needs the cluster.
	Remote bool
	// Single refuses more than one object.
	Single bool
	// Pinned has a write fail that comes upon another resource version than the one
	// that the change has set.
	Pinned bool

	command  *cobra.Command
	files    resource.FilenameOptions
	selector string
	all      bool
	local    bool
	manager  string
	dryRun   cmdutil.DryRunStrategy
	print    *genericclioptions.PrintFlags
	record   *genericclioptions.RecordFlags

	printer  printers.ResourcePrinter
	recorder genericclioptions.Recorder
}

// Local reports whether the cluster must not be asked.
func (v *edit) Local() bool { return v.local }

// Only reports whether nothing will be written.
func (v *edit) Only() bool { return v.local || v.dryRun != cmdutil.DryRunNone }

// Output is the value of -o.
func (v *edit) Output() string { return *v.print.OutputFormat }

// AddFlags adds the flags that all these verbs have.
func (v *edit) AddFlags(c *cobra.Command) {
	v.command = c
	v.print = genericclioptions.NewPrintFlags(v.Done)
	v.print.AddFlags(c)
	v.record = genericclioptions.NewRecordFlags()
	v.record.AddFlags(c)
	fl := c.Flags()
	cmdutil.AddFilenameOptionFlags(c, &v.files, "with the objects to change")
	cmdutil.AddLabelSelectorFlagVar(c, &v.selector)
	fl.BoolVar(&v.all, "all", false, "select all objects of the named types in the namespace")
	if !v.Remote {
		fl.BoolVar(&v.local, "local", false, "change the objects in the files and print them, without contacting a cluster")
	}
	cmdutil.AddDryRunFlag(c)
	cmdutil.AddFieldManagerFlagVar(c, &v.manager, fieldManager)
	c.ValidArgsFunction = kubectl.Names(v.Factory, v.Types...)
}

// Complete reads the flags; named are the arguments that name objects.
func (v *edit) Complete(c *cobra.Command, named []string) error {
	var err error
	if v.dryRun, err = cmdutil.GetDryRunStrategy(c); err != nil {
		return command.Usagef("one of: none, client, server", "--dry-run: unknown value %q", cmdutil.GetFlagString(c, "dry-run"))
	}
	if err := v.contradiction(named); err != nil {
		return err
	}
	if err := v.record.Complete(c); err != nil {
		return err
	}
	if v.recorder, err = v.record.ToRecorder(); err != nil {
		return err
	}
	v.printer, err = cmdutil.PrintFlagsWithDryRunStrategy(v.print, v.dryRun).ToPrinter()
	if err != nil {
		return command.Usagef("see '"+c.CommandPath()+" --help'", "-o: %w", err)
	}
	return nil
}

func (v *edit) contradiction(named []string) error {
	files := len(v.files.Filenames) > 0 || v.files.Kustomize != ""
	switch {
	case v.local && v.dryRun == cmdutil.DryRunServer:
		return command.Usagef("did you mean --dry-run=client?", "cannot specify --local and --dry-run=server")
	case v.all && v.selector != "":
		return command.Usagef("", "cannot set --all and --selector at the same time")
	case v.local && len(named) > 0:
		return command.Usagef("name files with -f, and no objects", "--local does not ask the cluster for %s", named[0])
	case !files && len(named) == 0:
		return command.Usagef("for instance cloneset/web, or -f FILE", "one or more resources must be specified as <resource> <name> or <resource>/<name>")
	}
	return command.OneStdin(v.files.Filenames...)
}

// readsStdin reports whether objects come from standard input.
func (v *edit) readsStdin() bool {
	return slices.Contains(v.files.Filenames, "-")
}

// find reads the objects that the flags and the arguments mean, as they are in the
// cluster or, under --local, in the files. Where there is no Kruise, what was rendered
// for them is changed.
func (v *edit) find(named []string) (infos []*resource.Info, err error) {
	chosen := v.local || v.all || v.selector != ""
	err = resourcearg.Fallback{Factory: v.Factory, Chosen: chosen}.Do(v.command.Context(), named, func(named []string) (err error) {
		infos, err = v.read(named)
		return err
	})
	return infos, err
}

func (v *edit) read(named []string) ([]*resource.Info, error) {
	b, enforce, err := v.builder()
	if err != nil {
		return nil, err
	}
	files := v.files
	// The library would read the process's own standard input.
	files.Filenames = slices.DeleteFunc(slices.Clone(files.Filenames), func(f string) bool { return f == "-" })
	b = b.LocalParam(v.local).FilenameParam(enforce, &files)
	if v.readsStdin() {
		b = b.Stream(v.Factory.Streams.In, "STDIN")
	}
	b = b.Flatten()
	if !v.local {
		b = b.LabelSelectorParam(v.selector).ResourceTypeOrNameArgs(v.all, named...).Latest()
	}
	infos, err := b.Do().Infos()
	return infos, kubectl.Err(err)
}

// builder begins a search in the namespace; enforce indicates that it was asked for.
func (v *edit) builder() (b *resource.Builder, enforce bool, err error) {
	namespace, enforce, err := v.Factory.Flags.ToRawKubeConfigLoader().Namespace()
	if err != nil && !v.local {
		return nil, false, err
	}
	return kubectl.Factory(v.Factory).NewBuilder().Unstructured().ContinueOnError().NamespaceParam(namespace).DefaultNamespace(), enforce, nil
}

// Look calls a function with a copy of each object that the flags and the arguments
// mean. Nothing is written.
func (v *edit) Look(named []string, each func(*unstructured.Unstructured) error) error {
	infos, err := v.find(named)
	if err != nil {
		return err
	}
	return visitObjects(infos, each)
}

// Beside calls a function with one object that is not among those to be changed.
func (v *edit) Beside(named string, each func(*unstructured.Unstructured) error) error {
	b, _, err := v.builder()
	if err != nil {
		return err
	}
	infos, err := b.ResourceTypeOrNameArgs(false, named).Flatten().Latest().Do().Infos()
	if err != nil {
		return kubectl.Err(err)
	}
	return visitObjects(infos, each)
}

func visitObjects(infos []*resource.Info, each func(*unstructured.Unstructured) error) error {
	var errs place.Errors
	for _, info := range infos {
		u, ok := info.Object.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("unexpected %T", info.Object)
		}
		errs.Add(errorWithObject(u, each(u.DeepCopy())))
	}
	return errs.Err()
}
