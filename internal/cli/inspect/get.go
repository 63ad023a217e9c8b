// Package inspect has the verbs that show objects and their pods: kubectl's get, describe,
// exec, logs and debug, for Kruise's kinds, workloads and hot-upgraded sidecars too, and
// spread, which compares where pods are with where they should be. Where a cluster has no
// Kruise, what was rendered for an object is shown in its place.
package inspect

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/discovery"
	"k8s.io/kubectl/pkg/cmd/get"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/completion"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const getLong = `List objects, as kubectl get does, with status columns for every kind of Kruise and
Kruise Rollout. Other types look as they do in kubectl.

"all" means every kind of Kruise that the cluster serves; kinds without objects are left
out. SUBSETS of UnitedDeployments and WorkloadSpreads are name:pods/limit; what keeps
pods from their subset, "kubectl kruise why" tells.`

const getExample = `  # everything of Kruise in a namespace
  kubectl kruise get all -n shop

  # pods of each subset
  kubectl kruise get uniteddeployments,workloadspreads -n shop

  # CloneSets of all namespaces, with partition, images and selector
  kubectl kruise get clonesets -A -o wide

  # one of them as YAML
  kubectl kruise get cloneset/web -o yaml

  # follow the Rollouts
  kubectl kruise get rollouts.rollouts.kruise.io -w`

type getOptions struct {
	*get.GetOptions
	factory *factory.Factory
	// whole gets whole objects with tables.
	whole cmdutil.Factory
}

// NewGet returns the verb.
func NewGet(f *factory.Factory) *cobra.Command {
	o := &getOptions{GetOptions: get.NewGetOptions("kubectl kruise", kubectl.Streams(f)), factory: f}
	c := &cobra.Command{
		Use: "get (all | TYPE [NAME] | TYPE/NAME …)", Short: "List objects of any type, with columns for Kruise's", Long: getLong, Example: getExample,
		Aliases: []string{"list"},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && cmdutil.IsFilenameSliceEmpty(o.Filenames, o.Kustomize) && o.Raw == "" {
				return command.Usagef("for instance cloneset, cloneset/web, or all", "Required resource not specified")
			}
			o.whole = cmdutil.NewFactory(wholeGetter{kubectl.Getter(f)})
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
func (o *getOptions) flags(c *cobra.Command) {
	o.PrintFlags.AddFlags(c)
	fl := c.Flags()
	fl.StringVar(&o.Raw, "raw", "", "path to request from the server")
	fl.BoolVarP(&o.Watch, "watch", "w", false, "after listing, watch for changes")
	fl.BoolVar(&o.WatchOnly, "watch-only", false, "watch for changes without listing first")
	fl.BoolVar(&o.OutputWatchEvents, "output-watch-events", false, "with --watch: also show the type of each event")
	fl.BoolVar(&o.IgnoreNotFound, "ignore-not-found", false, "exit with 0 if an object does not exist")
	fl.StringVar(&o.FieldSelector, "field-selector", "", "field selector, such as metadata.name=web")
	fl.BoolVarP(&o.AllNamespaces, "all-namespaces", "A", false, "list objects of all namespaces")
	fl.BoolVar(&o.ServerPrint, "server-print", true, "let the server choose the columns of types other than Kruise's")
	cmdutil.AddFilenameOptionFlags(c, &o.FilenameOptions, "that names the objects")
	cmdutil.AddChunkSizeFlag(c, &o.ChunkSize)
	cmdutil.AddLabelSelectorFlagVar(c, &o.LabelSelector)
	cmdutil.AddSubresourceFlags(c, &o.Subresource, "show a subresource.")
}

func (o *getOptions) run(ctx context.Context, args []string) error {
	if o.IsHumanReadablePrinter && o.ServerPrint {
		o.ToPrinter = withColumns(o.ToPrinter)
	}
	if o.Raw == "" && (o.Watch || o.WatchOnly) && !namesAllTypes(args) {
		return kubectl.Interrupted(ctx, kubectl.Err(o.follow(ctx, args)))
	}
	allColumns := o.PrintFlags.OutputFormat != nil && *o.PrintFlags.OutputFormat == "wide"
	if !o.IsHumanReadablePrinter || o.Raw != "" || allColumns || o.factory.Streams.Width <= 0 {
		return o.list(args)
	}
	fit := &tableFitter{to: o.Out, columns: o.factory.Streams.Width}
	o.Out = fit
	err := o.list(args)
	o.Out = fit.to // without Kruise, what was rendered is listed next, by the same options
	if failed := fit.flush(); err == nil {
		err = failed
	}
	return err
}

// list shows what there is now.
func (o *getOptions) list(args []string) error {
	if !namesAllTypes(args) {
		return kubectl.Err(o.Run(o.whole, args))
	}
	d, err := o.factory.Discovery()
	if err != nil {
		return err
	}
	lists, err := d.ServerPreferredResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) { // an API that does not answer now is passed over
		return err
	}
	return o.getEachKind(expandAll(args[0], servedTypes(lists)), args[1:])
}

// getEachKind prints several types, each under its title.
func (o *getOptions) getEachKind(types, rest []string) error {
	switch {
	case len(types) == 0:
		_, err := fmt.Fprintln(o.ErrOut, "No resources found: this cluster serves no kind of Kruise")
		return err
	case len(rest) > 0:
		return command.Usagef("name a type: 'kubectl kruise get cloneset "+rest[0]+"'", "all means many types, which have no object %s", rest[0])
	case o.Watch || o.WatchOnly:
		return command.Usagef("for instance: 'kubectl kruise get clonesets -w'", "one type at a time can be followed")
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
		return func(obj runtime.Object, w io.Writer) error { return next(withTitles(obj, columns, time.Now()), w) }, nil
	}
}

// allTypes is what "all" means, in the older plugin's order
// (docs/facts/older-plugin.md#describe-get-completion) with the kinds that it did not know at the
// end. What Kruise makes for itself, one for every node, is left out.
var allTypes = []string{
	"clonesets." + kruise.Group, "statefulsets." + kruise.Group, "daemonsets." + kruise.Group, "rollouts." + release.Group,
	"broadcastjobs." + kruise.Group, "containerrecreaterequests." + kruise.Group, "advancedcronjobs." + kruise.Group,
	"resourcedistributions." + kruise.Group, "uniteddeployments." + kruise.Group, "sidecarsets." + kruise.Group,
	"podprobemarkers." + kruise.Group, "imagepulljobs." + kruise.Group, "podunavailablebudgets." + kruise.PolicyGroup,
	"workloadspreads." + kruise.Group, "persistentpodstates." + kruise.Group, "ephemeraljobs." + kruise.Group, "imagelistpulljobs." + kruise.Group,
}

// namesAllTypes reports whether the types of an argument, with commas between them, hold
// "all".
func namesAllTypes(args []string) bool {
	return len(args) > 0 && slices.Contains(strings.Split(args[0], ","), "all")
}

// expandAll is the types of an argument, each with all that is served in its place.
func expandAll(arg string, served []string) []string {
	var out []string
	for word := range strings.SplitSeq(arg, ",") {
		if word == "all" {
			out = append(out, served...)
			continue
		}
		out = append(out, word)
	}
	return out
}

// servedTypes are those of allTypes that the server has.
func servedTypes(lists []*metav1.APIResourceList) []string {
	have := map[string]bool{}
	for _, l := range lists {
		group, _, _ := strings.Cut(l.GroupVersion, "/")
		for _, r := range l.APIResources {
			have[r.Name+"."+group] = slices.Contains(r.Verbs, "list")
		}
	}
	return slices.DeleteFunc(slices.Clone(allTypes), func(k string) bool { return !have[k] })
}

// getSection writes a title before the first of what a type has; a type that has nothing
// gets none.
type getSection struct {
	title   string
	out     io.Writer
	started bool
}

func (s *getSection) Write(p []byte) (int, error) {
	if !s.started && len(p) > 0 {
		s.started = true
		if _, err := fmt.Fprintf(s.out, "\n%s:\n", s.title); err != nil {
			return 0, err
		}
	}
	return s.out.Write(p)
}

// sections shows types one after the other, each under its title.
func (o *getOptions) sections(types []string, rest []string) error {
	var faults resource.Errors
	shown := false
	for _, t := range types {
		one := *o.GetOptions
		part := &getSection{title: t, out: o.Out}
		one.Out, one.IgnoreNotFound = part, true
		faults.Add(kubectl.Err(one.Run(o.whole, append([]string{t}, rest...))))
		shown = shown || part.started
	}
	if shown || len(faults) > 0 || o.IgnoreNotFound {
		return faults.Err()
	}
	text := "No resources found"
	if !o.AllNamespaces {
		text += " in " + o.Namespace + " namespace."
	}
	_, err := fmt.Fprintln(o.ErrOut, text)
	return err
}
