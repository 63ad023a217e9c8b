package resourcearg

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/dynamic"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Finder reads what arguments name.
type Finder struct {
	Factory   cmdutil.Factory
	Namespace string
	// Enforce indicates that -n was given: objects of files have to be in that namespace.
	Enforce bool
}

// NamesNonPod reports whether an argument of a command line names something other than a
// pod.
func NamesNonPod(arg string) bool {
	kind, _, typed := strings.Cut(strings.ToLower(arg), "/")
	return typed && kind != "pod" && kind != "pods" && kind != "po"
}

// Named reads the object that TYPE/NAME means. On a cluster without Kruise it is the
// native one that was rendered for it.
func (f *Finder) Named(ctx context.Context, arg string) (*unstructured.Unstructured, error) {
	u, err := f.singleObject(f.builder().ResourceNames("pods", arg))
	if !IsUnknownType(err) {
		return u, err
	}
	if carrier, other := f.carrier(ctx, arg); carrier != nil || other != nil {
		return carrier, other
	}
	return nil, err
}

// IsUnknownType reports whether the server has no such type.
func IsUnknownType(err error) bool {
	return err != nil && (meta.IsNoMatchError(err) || strings.Contains(err.Error(), "the server doesn't have a resource type"))
}

// InFile reads the one object of a file.
func (f *Finder) InFile(o resource.FilenameOptions) (*unstructured.Unstructured, error) {
	return f.singleObject(f.builder().FilenameParam(f.Enforce, &o))
}

func (f *Finder) builder() *resource.Builder {
	return f.Factory.NewBuilder().Unstructured().NamespaceParam(f.Namespace).DefaultNamespace().Latest().Flatten()
}

func (f *Finder) singleObject(b *resource.Builder) (*unstructured.Unstructured, error) {
	infos, err := b.Do().Infos()
	if err != nil {
		return nil, err
	}
	if len(infos) != 1 {
		return nil, fmt.Errorf("one object is needed, and %d were named", len(infos))
	}
	u, ok := infos[0].Object.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("%s is not an object", infos[0].Name)
	}
	return u, nil
}

// carrier finds the native workload that was rendered from a Kruise one: rendering has left
// a label. nil where there is none.
func (f *Finder) carrier(ctx context.Context, arg string) (*unstructured.Unstructured, error) {
	name, err := Parse(arg)
	if err != nil {
		return nil, nil //nolint:nilerr // no workload of Kruise's: the first error says more
	}
	client, err := f.Factory.DynamicClient()
	if err != nil {
		return nil, err
	}
	for _, kind := range name.Kinds {
		if kind.Group != kruise.Group {
			continue
		}
		selector := kruise.SourceLabel + "=" + kruise.SourceValue(kind.Kind, name.Name)
		u, err := carrierOf(ctx, client, f.Namespace, selector)
		if u != nil || err != nil {
			return u, err
		}
	}
	return nil, nil //nolint:nilnil // that there is none is no error
}

func carrierOf(ctx context.Context, client dynamic.Interface, namespace, selector string) (*unstructured.Unstructured, error) {
	for _, plural := range []string{"deployments", "statefulsets", "daemonsets", "replicasets"} {
		r := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: plural}
		var found *unstructured.Unstructured
		err := objects.Pages(ctx, client.Resource(r).Namespace(namespace), metav1.ListOptions{LabelSelector: selector}, func(u *unstructured.Unstructured) error {
			if found == nil && metav1.GetControllerOfNoCopy(u) == nil {
				found = u
			}
			return nil
		})
		if found != nil || err != nil {
			return found, err
		}
	}
	return nil, nil //nolint:nilnil // that there is none is no error
}

// Get reads an object by its kind.
func (f *Finder) Get(ctx context.Context, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	mapper, err := f.Factory.ToRESTMapper()
	if err != nil {
		return nil, err
	}
	mapping, err := mapper.RESTMapping(gv.WithKind(kind).GroupKind(), gv.Version)
	if err != nil {
		return nil, err
	}
	client, err := f.Factory.DynamicClient()
	if err != nil {
		return nil, err
	}
	return client.Resource(mapping.Resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
}
