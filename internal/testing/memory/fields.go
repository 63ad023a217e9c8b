package memory

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
)

// owners says who owns which field, as API servers do: the code is theirs.
type owners struct {
	mu       sync.Mutex
	managers map[string]*managedfields.FieldManager
}

// types of Kubernetes know which lists are maps; those of others are known by their values alone.
var (
	nativeTypes = sync.OnceValue(func() managedfields.TypeConverter { return applyconfigurations.NewTypeConverter(scheme.Scheme) })
	otherTypes  = managedfields.NewDeducedTypeConverter()
)

func (o *owners) of(r *Resource, subresource string) (*managedfields.FieldManager, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := r.String() + "/" + subresource
	if m := o.managers[key]; m != nil {
		return m, nil
	}
	var m *managedfields.FieldManager
	var err error
	if r.native() {
		m, err = managedfields.NewDefaultFieldManager(nativeTypes(), asIs{}, asIs{}, asIs{}, r.GroupVersionKind, r.GroupVersion(), subresource, nil)
	} else {
		m, err = managedfields.NewDefaultCRDFieldManager(otherTypes, asIs{}, asIs{}, asIs{}, r.GroupVersionKind, r.GroupVersion(), subresource, nil)
	}
	if o.managers == nil {
		o.managers = map[string]*managedfields.FieldManager{}
	}
	o.managers[key] = m
	return m, err
}

// asIs converts nothing and fills nothing in: each resource has one version here.
type asIs struct{}

func (asIs) Convert(_, _, _ any) error { return nil }

func (asIs) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (asIs) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (asIs) Default(runtime.Object) {}

func (asIs) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u, nil
}
