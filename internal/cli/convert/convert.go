// Package convert is the verb that writes Kruise objects in another version of
// their API, from files alone.
package convert

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const long = `Write Kruise objects in another version of their API, as Kruise's conversion
webhook would, from files alone. Comments, order and whatever is no Kruise object
stay. Fields that the version does not have are named on stderr; --strict makes
that a failure.`

const example = `  # to what the newest Kruise stores
  kubectl kruise convert -f manifests/ -R --to-version v1beta1 > converted.yaml

  # back, for a cluster with an older Kruise; nothing may be lost
  kubectl kruise convert -f web.yaml --to-version v1alpha1 --strict`

type options struct {
	factory *factory.Factory

	files     []string
	recursive bool
	version   string
	output    string
	outputDir string
	strict    bool
}

var (
	versions = []string{kruise.V1alpha1, kruise.V1beta1}
	outputs  = []string{"yaml", "json"}
)

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	o := &options{factory: f}
	c := &cobra.Command{
		Use:     "convert -f FILE --to-version VERSION",
		Short:   "Write Kruise objects in another version of their API",
		Long:    long,
		Example: example,
		Args:    usage.NoArgs("name files with -f"),
		RunE:    func(c *cobra.Command, _ []string) error { return o.run(c.Context()) },
	}
	fl := c.Flags()
	fl.StringSliceVarP(&o.files, "filename", "f", nil, "file or directory with manifests; - is standard input")
	fl.BoolVarP(&o.recursive, "recursive", "R", false, "descend into the directories named with -f")
	fl.StringVar(&o.version, "to-version", "", strings.Join(versions, " or "))
	fl.StringVarP(&o.output, "output", "o", outputs[0], strings.Join(outputs, " or "))
	fl.StringVar(&o.outputDir, "output-dir", "", "write one file per object into this directory")
	fl.BoolVar(&o.strict, "strict", false, "fail when something is lost")
	// The errors say that a flag does not exist, which they do.
	_ = c.RegisterFlagCompletionFunc("to-version", cobra.FixedCompletions(versions, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs, cobra.ShellCompDirectiveNoFileComp))
	_ = c.MarkFlagFilename("filename", "yaml", "yml", "json")
	_ = c.MarkFlagDirname("output-dir")
	return c
}

func (o *options) run(ctx context.Context) error {
	switch {
	case len(o.files) == 0:
		return usage.Errorf("give -f FILE, -f DIRECTORY or -f -", "no input")
	case !slices.Contains(versions, o.version):
		return usage.Errorf("one of: "+strings.Join(versions, ", "), "--to-version: unknown value %q", o.version)
	case !slices.Contains(outputs, o.output):
		return usage.Errorf("one of: "+strings.Join(outputs, ", "), "--output: unknown value %q", o.output)
	}
	stream, err := load.Load(ctx, load.Options{Files: o.files, Recursive: o.recursive, Stdin: o.factory.Streams.In, Namespace: o.factory.Namespace()})
	if err != nil {
		return err
	}
	lost, skipped, err := engine.ToVersion(stream, o.version)
	if err != nil {
		return err
	}
	if err := o.say(lost, skipped); err != nil {
		return err
	}
	if o.strict && len(lost) > 0 {
		return &resource.Error{Err: errors.New("something is lost, and --strict was given"), Hint: "the lines above name each field"}
	}
	return o.emit(stream)
}

// say names what is lost and what stays as it is, on stderr.
func (o *options) say(lost []engine.Loss, skipped []*resource.Resource) error {
	w := bufio.NewWriter(o.factory.Streams.Err)
	for _, l := range lost {
		if _, err := fmt.Fprintf(w, "lost: %s:%d: %s: %s: %s\n", l.File, l.Line, l.Object, l.Path, l.Why); err != nil {
			return err
		}
	}
	for _, r := range skipped {
		if _, err := fmt.Fprintf(w, "kept: %s: %s has no version %s\n", r.Origin, r.ID(), o.version); err != nil {
			return err
		}
	}
	return w.Flush()
}

func (o *options) emit(list []*resource.Resource) error {
	switch {
	case o.outputDir != "":
		return emit.Dir(o.outputDir, list, emit.DirOptions{Format: map[string]emit.Format{"yaml": emit.YAML, "json": emit.JSON}[o.output]})
	case o.output == "json":
		return emit.JSONStream(o.factory.Streams.Out, list)
	}
	return emit.Stream(o.factory.Streams.Out, list)
}
