// Package installation says which Kruise a verb works for: its release, and which feature
// gates of Kruise and of Kubernetes are on. Both come from the flags --kruise-version and
// --feature-gates, or from the cluster: the image and the arguments of Kruise's manager, else
// its definitions. No cluster tells the gates of Kubernetes.
package installation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

var (
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// Found is the release of a cluster, and how it is known.
type Found struct {
	// Release is the zero value where the cluster has no Kruise, or nothing tells. Of
	// several that it can be, it is the newest.
	Release kruise.Release
	// From describes in words where it was found: "the image of its controllers".
	From string
	// Sure: it is this release and no other.
	Sure bool
}

// String is the release with how sure it is: "Kruise 1.8.4, by the image of its
// controllers".
func (f Found) String() string {
	if f.Release.IsZero() {
		return "not known"
	}
	if f.Sure {
		return f.Release.Name() + ", by " + f.From
	}
	return "probably " + f.Release.Name() + ", by " + f.From
}

// Read finds out which release of Kruise a cluster runs: from the image of its
// controllers, else from the fields and versions of its definitions, else from the
// versions that it serves. What may not be read is passed over.
func Read(ctx context.Context, client dynamic.Interface, server discovery.ServerResourcesInterface) Found {
	manager, _ := FindManager(ctx, client)
	return Tell(ctx, manager, client, server)
}

// Tell is [Read] with a manager that was looked for already; its zero value is none.
func Tell(ctx context.Context, manager Manager, client dynamic.Interface, server discovery.ServerResourcesInterface) Found {
	if r, ok := kruise.ReleaseOfImage(manager.Container.Image); ok {
		return Found{Release: r, From: "the image of its controllers", Sure: true}
	}
	d := kruise.Definitions{Served: served(server)}
	if len(d.Served) == 0 {
		return Found{}
	}
	from := "the versions that are served"
	if crds := schemas(ctx, client); len(crds) > 0 {
		d.Schemas, from = crds, "its definitions"
	}
	candidates, exact := kruise.ReleasesOf(d)
	if len(candidates) == 0 {
		return Found{}
	}
	f := Found{Release: candidates[len(candidates)-1], From: from, Sure: exact && len(candidates) == 1}
	if len(candidates) > 1 {
		f.From = fmt.Sprintf("%s, which %s to %s have", from, candidates[0], f.Release)
	}
	return f
}

// Manager is the Deployment of Kruise's controllers, and the container that runs them.
type Manager struct {
	// Deployment is nil where there is none.
	Deployment *appsv1.Deployment
	// Container is the zero value where there is no Deployment.
	Container corev1.Container
}

// FindManager looks for Kruise's controllers; without any, it is the zero value.
func FindManager(ctx context.Context, client dynamic.Interface) (Manager, error) {
	list, err := client.Resource(deployments).Namespace(kruise.DefaultNamespace).List(ctx, metav1.ListOptions{LabelSelector: kruise.ManagerSelector})
	if err != nil {
		return Manager{}, err
	}
	for i := range list.Items {
		d := &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, d); err != nil {
			return Manager{}, err
		}
		if c := d.Spec.Template.Spec.Containers; len(c) > 0 {
			at := max(0, slices.IndexFunc(c, func(c corev1.Container) bool { return strings.Contains(c.Image, "kruise-manager") }))
			return Manager{Deployment: d, Container: c[at]}, nil
		}
	}
	return Manager{}, nil
}

// served are the versions of Kruise's kinds that a server serves, the oldest first; what
// cannot be asked for is left out.
func served(server discovery.ServerResourcesInterface) map[string][]string {
	out := map[string][]string{}
	for _, version := range []string{kruise.V1alpha1, kruise.V1beta1} {
		for _, group := range []string{kruise.Group, kruise.PolicyGroup} {
			list, err := server.ServerResourcesForGroupVersion(group + "/" + version)
			if err != nil || list == nil {
				continue
			}
			for _, r := range list.APIResources {
				if !strings.Contains(r.Name, "/") && !slices.Contains(out[r.Kind], version) {
					out[r.Kind] = append(out[r.Kind], version)
				}
			}
		}
	}
	return out
}

// definitionSchemas are schemas by KIND/VERSION.
type definitionSchemas map[string]map[string]any

// schemas reads Kruise's definitions; none where they cannot be read.
func schemas(ctx context.Context, client dynamic.Interface) definitionSchemas {
	out := definitionSchemas{}
	err := objects.Pages(ctx, client.Resource(definitions), metav1.ListOptions{}, func(crd *unstructured.Unstructured) error {
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		if _, ours := kruise.Lookup(group, kind); !ours {
			return nil
		}
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		for _, v := range versions {
			m, _ := v.(map[string]any)
			if schema, ok, _ := unstructured.NestedMap(m, "schema", "openAPIV3Schema"); ok {
				out[kind+"/"+fmt.Sprint(m["name"])] = schema
			}
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return out
}

// Has reports whether a schema has the field of a path with [] and {}.
func (d definitionSchemas) Has(kind, version, path string) bool {
	s := d[kind+"/"+version]
	for step := range strings.SplitSeq(path, ".") {
		name := strings.TrimRight(step, "[]{}")
		properties, _ := s["properties"].(map[string]any)
		s, _ = properties[name].(map[string]any)
		for brackets := step[len(name):]; brackets != ""; brackets = brackets[2:] {
			key := map[string]string{"[]": "items", "{}": "additionalProperties"}[brackets[:2]]
			s, _ = s[key].(map[string]any)
		}
		if s == nil {
			return false
		}
	}
	return true
}
