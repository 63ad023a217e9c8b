package inspect

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubectl/pkg/cmd/describe"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	kubectldescribe "k8s.io/kubectl/pkg/describe"
	"k8s.io/kubectl/pkg/util/completion"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	safe "github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
)

const describeLong = `Describe objects, as kubectl describe does. Every kind of Kruise is shown with its desired
state, status, conditions, revisions, pods and events. Values of Secrets are never shown,
not even those inside a ResourceDistribution.

"describe rollout" shows an object of Kruise Rollout with its steps and pods.`

const describeExample = `  # a CloneSet with its revisions, pods and events
  kubectl kruise describe cloneset/web

  # all SidecarSets with a label
  kubectl kruise describe sidecarsets -l team=mesh

  # a Rollout, redrawn when it changes
  kubectl kruise describe rollout web -w`

// NewDescribe returns the verb.
func NewDescribe(f *factory.Factory) *cobra.Command {
	k := kubectl.Factory(f)
	flags := describe.NewDescribeFlags(k, kubectl.Streams(f))
	c := &cobra.Command{
		Use: "describe (TYPE [NAME_PREFIX] | TYPE/NAME | -f FILE)", Short: "Show details of an object", Long: describeLong, Example: describeExample,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && cmdutil.IsFilenameSliceEmpty(flags.FilenameOptions.Filenames, flags.FilenameOptions.Kustomize) {
				return command.Usagef("for instance cloneset/web", "You must specify the type of resource to describe")
			}
			ctx := c.Context()
			chosen := flags.AllNamespaces || flags.Selector != ""
			return resourcearg.Fallback{Factory: f, Chosen: chosen}.Do(ctx, args, func(args []string) error { return runDescribe(ctx, f, k, flags, args) })
		},
		ValidArgsFunction: completion.ResourceTypeAndNameCompletionFunc(k),
	}
	flags.AddFlags(c)
	c.AddCommand(newRollout(f))
	return c
}

func runDescribe(ctx context.Context, f *factory.Factory, k cmdutil.Factory, flags *describe.DescribeFlags, args []string) error {
	o, err := flags.ToOptions("kubectl kruise", args)
	if err != nil {
		return kubectl.Err(err)
	}
	o.Describer = func(m *meta.RESTMapping) (kubectldescribe.ResourceDescriber, error) {
		return describerOf(ctx, f, k, m, f.Streams.Width)
	}
	return kubectl.Err(o.Run())
}

// describerOf describes the objects of a kind, for a terminal of so many columns: kubectl's own, unless
// it is one of Kruise's.
func describerOf(ctx context.Context, f *factory.Factory, k cmdutil.Factory, m *meta.RESTMapping, columns int) (kubectldescribe.ResourceDescriber, error) {
	if !slices.Contains([]string{kruise.Group, kruise.PolicyGroup, release.Group}, m.GroupVersionKind.Group) {
		return kubectldescribe.DescriberFn(k, m)
	}
	return &describer{ctx: ctx, factory: f, kubectl: k, mapping: m, columns: columns}, nil
}

// DescribeObject describes one object as the verb does.
func DescribeObject(ctx context.Context, f *factory.Factory, m *meta.RESTMapping, namespace, name string) (string, error) {
	d, err := describerOf(ctx, f, kubectl.Factory(f), m, 0)
	if err != nil {
		return "", err
	}
	page, err := d.Describe(namespace, name, kubectldescribe.DescriberSettings{ShowEvents: true})
	return safe.Page(page), err
}

// describer describes objects of one of Kruise's kinds.
type describer struct {
	ctx     context.Context //nolint:containedctx // kubectl's way to call it has none
	factory *factory.Factory
	kubectl cmdutil.Factory
	mapping *meta.RESTMapping
	columns int
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
		return rolloutPage(d.ctx, typed, find, u, describeLook{color: d.factory.OutStyle(false).Color})
	}
	return d.page(typed, find, u, settings.ShowEvents)
}

func (d *describer) page(client kubernetes.Interface, find *resourcearg.Finder, u *unstructured.Unstructured, events bool) (string, error) {
	a, err := readRelated(d.ctx, client, find, u, events)
	if err != nil {
		return "", err
	}
	return kindPage(u, a, d.columns, time.Now()), nil
}

// readRelated reads what belongs to an object. What may not be read is left out, and the
// pods' absence is shown.
func readRelated(ctx context.Context, client kubernetes.Interface, find *resourcearg.Finder, u *unstructured.Unstructured, events bool) (relatedObjects, error) {
	var a relatedObjects
	var err error
	if err := a.readPods(ctx, client, find, u); err != nil {
		return a, err
	}
	if a.revisions, err = revisionsOf(ctx, client, u); err != nil {
		return a, err
	}
	if !events {
		return a, nil
	}
	a.events, err = client.CoreV1().Events(u.GetNamespace()).List(ctx, metav1.ListOptions{
		FieldSelector: fields.Set{"involvedObject.name": u.GetName(), "involvedObject.uid": string(u.GetUID())}.String(),
	})
	if apierrors.IsForbidden(err) {
		return a, nil
	}
	return a, err
}

func (a *relatedObjects) readPods(ctx context.Context, client kubernetes.Interface, find *resourcearg.Finder, u *unstructured.Unstructured) error {
	chosen, err := resourcearg.PodsOf(ctx, u, find.Get)
	if errors.Is(err, resourcearg.ErrNoPods) {
		return nil
	}
	if err == nil {
		a.pods, err = chosen.List(ctx, client.CoreV1())
	}
	if isGone(err) {
		a.without = "cannot be told: " + err.Error()
		return nil
	}
	a.hasPods = true
	a.pods = slices.DeleteFunc(a.pods, func(p corev1.Pod) bool { return isUnexpectedPod(u, &p) })
	return err
}

// isGone reports whether something else than the object is missing, or may not be read.
func isGone(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || resourcearg.IsUnknownType(err)
}

// isUnexpectedPod reports whether a pod has the labels of an object and belongs to another one.
func isUnexpectedPod(u *unstructured.Unstructured, p *corev1.Pod) bool {
	switch u.GetKind() {
	case kruise.KindCloneSet, kruise.KindStatefulSet, kruise.KindDaemonSet, kruise.KindBroadcastJob:
		return !metav1.IsControlledBy(p, u)
	case kruise.KindSidecarSet:
		namespace, _, _ := unstructured.NestedString(u.Object, "spec", "namespace")
		return namespace != "" && p.Namespace != namespace
	}
	return false
}

// revisionsOf are the stored templates of an object: its own, and of SidecarSets those
// in Kruise's namespace.
func revisionsOf(ctx context.Context, client kubernetes.Interface, u *unstructured.Unstructured) ([]appsv1.ControllerRevision, error) {
	namespace, options := u.GetNamespace(), metav1.ListOptions{}
	switch u.GetKind() {
	case kruise.KindCloneSet, kruise.KindStatefulSet, kruise.KindDaemonSet, kruise.KindUnitedDeployment:
	case kruise.KindSidecarSet:
		namespace, options.LabelSelector = kruise.DefaultNamespace, kruise.SidecarSetNameLabel+"="+u.GetName()
	default:
		return nil, nil
	}
	list, err := client.AppsV1().ControllerRevisions(namespace).List(ctx, options)
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(r appsv1.ControllerRevision) bool {
		return u.GetNamespace() != "" && !metav1.IsControlledBy(&r, u)
	}), nil
}

// HideSecrets is an object with the values of Secrets taken out, as the verb shows it.
func HideSecrets(o map[string]any) map[string]any { return hideSecrets(o) }

// hideSecrets is an object with the values of Secrets taken out: a ResourceDistribution
// holds a whole one. The size of each is shown, as kubectl does of a Secret. The object
// itself stays as it is.
func hideSecrets(o map[string]any) map[string]any {
	if o["kind"] == "Secret" {
		return secretSizes(o)
	}
	out := make(map[string]any, len(o))
	for k, v := range o {
		out[k] = hideSecretValue(v)
	}
	return out
}

func hideSecretValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return hideSecrets(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = hideSecretValue(v[i])
		}
		return out
	}
	return v
}

// secretSizes is a Secret with sizes for values, and without annotations: one of them may be
// a copy of it.
func secretSizes(secret map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range secret {
		switch k {
		case "data", "stringData":
			out[k] = valueSizes(v, k == "data")
		case "metadata":
			meta, _ := v.(map[string]any)
			bare := map[string]any{}
			for k, v := range meta {
				if k != "annotations" {
					bare[k] = v
				}
			}
			out[k] = bare
		default:
			out[k] = v
		}
	}
	return out
}

func valueSizes(v any, encoded bool) any {
	values, ok := v.(map[string]any)
	if !ok {
		return "(not shown)"
	}
	out := make(map[string]any, len(values))
	for k, v := range values {
		text := fmt.Sprint(v)
		if plain, err := base64.StdEncoding.DecodeString(text); encoded && err == nil {
			text = string(plain)
		}
		out[k] = counted.Of(len(text), "byte")
	}
	return out
}
