// Package describe has kubectl's verb of that name: objects of Kruise and Kruise
// Rollout with what belongs to them, everything else as kubectl describes it.
package describe

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubectl/pkg/cmd/describe"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	kubectldescribe "k8s.io/kubectl/pkg/describe"
	"k8s.io/kubectl/pkg/util/completion"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

const long = `Describe objects, as kubectl's describe does: of every kind of Kruise what is wanted, how
it stands, its conditions, revisions, pods and events. Values of Secrets are not shown,
also inside a ResourceDistribution.

"describe rollout" shows an object of Kruise Rollout with its steps and pods.`

const example = `  # a CloneSet with its revisions, pods and events
  kubectl kruise describe cloneset/web

  # all SidecarSets with a label
  kubectl kruise describe sidecarsets -l team=mesh

  # a Rollout, redrawn whenever it changes
  kubectl kruise describe rollout web -w`

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	k := kubectl.Factory(f)
	flags := describe.NewDescribeFlags(k, kubectl.Streams(f))
	c := &cobra.Command{
		Use: "describe (TYPE [NAME_PREFIX] | TYPE/NAME | -f FILE)", Short: "Show details of an object", Long: long, Example: example,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && cmdutil.IsFilenameSliceEmpty(flags.FilenameOptions.Filenames, flags.FilenameOptions.Kustomize) {
				return command.Usagef("for instance cloneset/web", "give a type, or TYPE/NAME")
			}
			ctx := c.Context()
			chosen := flags.AllNamespaces || flags.Selector != ""
			return resourcearg.Fallback{Factory: f, Chosen: chosen}.Do(ctx, args, func(args []string) error { return run(ctx, f, k, flags, args) })
		},
		ValidArgsFunction: completion.ResourceTypeAndNameCompletionFunc(k),
	}
	flags.AddFlags(c)
	c.AddCommand(newRollout(f))
	return c
}

func run(ctx context.Context, f *factory.Factory, k cmdutil.Factory, flags *describe.DescribeFlags, args []string) error {
	o, err := flags.ToOptions("kubectl kruise", args)
	if err != nil {
		return kubectl.Err(err)
	}
	o.Describer = func(m *meta.RESTMapping) (kubectldescribe.ResourceDescriber, error) { return describerOf(ctx, f, k, m) }
	return kubectl.Err(o.Run())
}

// describerOf describes the objects of a kind: kubectl's own, unless it is one of
// Kruise's.
func describerOf(ctx context.Context, f *factory.Factory, k cmdutil.Factory, m *meta.RESTMapping) (kubectldescribe.ResourceDescriber, error) {
	if !slices.Contains([]string{kruise.Group, kruise.PolicyGroup, release.Group}, m.GroupVersionKind.Group) {
		return kubectldescribe.DescriberFn(k, m)
	}
	return &describer{ctx: ctx, factory: f, kubectl: k, mapping: m}, nil
}

// Object describes one object as the verb does.
func Object(ctx context.Context, f *factory.Factory, m *meta.RESTMapping, namespace, name string) (string, error) {
	d, err := describerOf(ctx, f, kubectl.Factory(f), m)
	if err != nil {
		return "", err
	}
	return d.Describe(namespace, name, kubectldescribe.DescriberSettings{ShowEvents: true})
}

// describer describes objects of one of Kruise's kinds.
type describer struct {
	ctx     context.Context //nolint:containedctx // kubectl's way to call it has none
	factory *factory.Factory
	kubectl cmdutil.Factory
	mapping *meta.RESTMapping
}

// Describe describes an object.
func (d *describer) Describe(namespace, name string, settings kubectldescribe.DescriberSettings) (string, error) {
	client, err := d.kubectl.DynamicClient()
	if err != nil {
		return "", err
	}
	typed, err := d.kubectl.KubernetesClientSet()
	if err != nil {
		return "", err
	}
	u, err := client.Resource(d.mapping.Resource).Namespace(namespace).Get(d.ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	find := &resourcearg.Finder{Factory: d.kubectl, Namespace: namespace}
	if d.mapping.GroupVersionKind.Kind == "Rollout" {
		return rolloutPage(d.ctx, typed, find, u, look{color: d.factory.OutStyle(false).Color})
	}
	return d.page(typed, find, u, settings.ShowEvents)
}

func (d *describer) page(client kubernetes.Interface, find *resourcearg.Finder, u *unstructured.Unstructured, events bool) (string, error) {
	a, err := read(d.ctx, client, find, u, events)
	if err != nil {
		return "", err
	}
	return ofKind(u, a, time.Now()), nil
}
