// Package get has kubectl's verb of that name, with columns of ours for every kind of
// Kruise and Kruise Rollout, and with all of those kinds under one word.
package get

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/kubectl/pkg/cmd/get"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/completion"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
)

const long = `List objects, as kubectl's get does, with columns that say how they stand for every kind
of Kruise and Kruise Rollout. Other types look as they do in kubectl.

"all" stands for every kind of Kruise that the cluster serves; what has no objects is
left out.`

const example = `  # everything of Kruise in a namespace
  kubectl kruise get all -n shop

  # CloneSets of all namespaces, with partition, images and selector
  kubectl kruise get clonesets -A -o wide

  # one of them as YAML
  kubectl kruise get cloneset/web -o yaml

  # follow the Rollouts
  kubectl kruise get rollouts.rollouts.kruise.io -w`

type options struct {
	*get.GetOptions
	factory *factory.Factory
	// whole gets whole objects with tables.
	whole cmdutil.Factory
}

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	o := &options{GetOptions: get.NewGetOptions("kubectl kruise", kubectl.Streams(f)), factory: f}
	c := &cobra.Command{
		Use: "get (all | TYPE [NAME] | TYPE/NAME …)", Short: "List objects of any type, with columns for Kruise's", Long: long, Example: example,
		Aliases: []string{"list"},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && cmdutil.IsFilenameSliceEmpty(o.Filenames, o.Kustomize) && o.Raw == "" {
				return command.Usagef("for instance cloneset, cloneset/web, or all", "give a type")
			}
			o.whole = kubectl.ChangedFactory(f, whole)
			if err := o.Complete(o.whole, c, args); err != nil {
				return kubectl.Err(err)
			}
			if err := o.Validate(); err != nil {
				return command.Usagef("", "%w", err)
			}
			ctx := c.Context()
			chosen := o.AllNamespaces || o.LabelSelector != "" || o.FieldSelector != ""
			return resourcearg.Fallback{Factory: f, Chosen: chosen}.Do(ctx, args, func(args []string) error { return o.run(ctx, args) })
		},
		ValidArgsFunction: completion.ResourceTypeAndNameCompletionFunc(kubectl.Factory(f)),
	}
	o.flags(c)
	return c
}

// flags are kubectl's.
func (o *options) flags(c *cobra.Command) {
	o.PrintFlags.AddFlags(c)
	fl := c.Flags()
	fl.StringVar(&o.Raw, "raw", "", "path to ask the server for")
	fl.BoolVarP(&o.Watch, "watch", "w", false, "after listing, watch for changes")
	fl.BoolVar(&o.WatchOnly, "watch-only", false, "watch for changes without listing first")
	fl.BoolVar(&o.OutputWatchEvents, "output-watch-events", false, "with --watch: show what kind of change it is, too")
	fl.BoolVar(&o.IgnoreNotFound, "ignore-not-found", false, "what is not there is no error")
	fl.StringVar(&o.FieldSelector, "field-selector", "", "choose by fields, such as metadata.name=web")
	fl.BoolVarP(&o.AllNamespaces, "all-namespaces", "A", false, "in all namespaces")
	fl.BoolVar(&o.ServerPrint, "server-print", true, "have the server make the columns of types that are not Kruise's")
	cmdutil.AddFilenameOptionFlags(c, &o.FilenameOptions, "that names the objects")
	cmdutil.AddChunkSizeFlag(c, &o.ChunkSize)
	cmdutil.AddLabelSelectorFlagVar(c, &o.LabelSelector)
	cmdutil.AddSubresourceFlags(c, &o.Subresource, "show a subresource.")
}

func (o *options) run(ctx context.Context, args []string) error {
	if o.IsHumanReadablePrinter && o.ServerPrint {
		o.ToPrinter = withColumns(o.ToPrinter)
	}
	switch {
	case asksAll(args):
	case o.Raw == "" && (o.Watch || o.WatchOnly):
		return kubectl.Interrupted(ctx, kubectl.Err(o.follow(ctx, args)))
	default:
		return kubectl.Err(o.Run(o.whole, args))
	}
	d, err := o.factory.Discovery()
	if err != nil {
		return err
	}
	served, err := servedKinds(d)
	if err != nil {
		return err
	}
	return o.all(spelledOut(args[0], served), args[1:])
}

// all shows several types at once.
func (o *options) all(types, rest []string) error {
	switch {
	case len(types) == 0:
		_, err := fmt.Fprintln(o.ErrOut, "No resources found: this cluster serves no kind of Kruise")
		return err
	case len(rest) > 0:
		return command.Usagef("name a type: kubectl kruise get cloneset "+rest[0], "all means many types, which have no object %s", rest[0])
	case o.Watch || o.WatchOnly:
		return command.Usagef("for instance kubectl kruise get clonesets -w", "one type at a time can be followed")
	case o.IsHumanReadablePrinter:
		return o.sections(types, nil)
	}
	return kubectl.Err(o.Run(o.whole, []string{strings.Join(types, ",")}))
}

type toPrinter = func(*meta.RESTMapping, *bool, bool, bool) (printers.ResourcePrinterFunc, error)

// withColumns prints the tables of our kinds with our columns.
func withColumns(inner toPrinter) toPrinter {
	return func(m *meta.RESTMapping, outputs *bool, namespace, kind bool) (printers.ResourcePrinterFunc, error) {
		next, err := inner(m, outputs, namespace, kind)
		if err != nil || m == nil {
			return next, err
		}
		columns, ok := tables[m.GroupVersionKind.GroupKind()]
		if !ok {
			return next, nil
		}
		return func(obj runtime.Object, w io.Writer) error { return next(retitled(obj, columns, time.Now()), w) }, nil
	}
}
