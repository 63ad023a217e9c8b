package kubectl

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// ToRESTMapper knows what the cluster serves, and our short names of kinds to which Kruise's
// definitions give none.
func (g getter) ToRESTMapper() (meta.RESTMapper, error) {
	m, err := g.ConfigFlags.ToRESTMapper()
	if err != nil {
		return nil, err
	}
	return aliased{m}, nil
}

// aliased asks for the resource that an alias means where the cluster does not know it.
type aliased struct{ meta.RESTMapper }

// instead is the resource of an alias; ok is false for any other word.
func (aliased) instead(r schema.GroupVersionResource, err error) (schema.GroupVersionResource, bool) {
	if !meta.IsNoMatchError(err) {
		return r, false
	}
	for _, k := range kruise.Kinds() {
		for _, alias := range k.Aliases {
			if strings.EqualFold(r.Resource, alias) && (r.Group == "" || r.Group == k.Group) {
				r.Group, r.Resource = k.Group, k.Resource()
				return r, true
			}
		}
	}
	return r, false
}

// KindFor is the kind of a resource.
func (a aliased) KindFor(r schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return known(a, r, a.RESTMapper.KindFor)
}

// KindsFor are the kinds of a resource.
func (a aliased) KindsFor(r schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return known(a, r, a.RESTMapper.KindsFor)
}

// ResourceFor is a resource with what was left out.
func (a aliased) ResourceFor(r schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return known(a, r, a.RESTMapper.ResourceFor)
}

// ResourcesFor are the resources that a word may mean.
func (a aliased) ResourcesFor(r schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	return known(a, r, a.RESTMapper.ResourcesFor)
}

// ResourceSingularizer is the singular of a resource.
func (a aliased) ResourceSingularizer(resource string) (string, error) {
	return a.RESTMapper.ResourceSingularizer(resource)
}

func known[T any](a aliased, r schema.GroupVersionResource, ask func(schema.GroupVersionResource) (T, error)) (T, error) {
	out, err := ask(r)
	if other, ok := a.instead(r, err); ok {
		return ask(other)
	}
	return out, err
}
