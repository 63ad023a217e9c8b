package served

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// cluster is what a cluster serves, by group and version.
type cluster struct {
	discovery.ServerResourcesInterface
	has map[string][]string
	err error
}

func (c cluster) ServerResourcesForGroupVersion(gv string) (*metav1.APIResourceList, error) {
	names, ok := c.has[gv]
	switch {
	case c.err != nil:
		return nil, c.err
	case !ok:
		return nil, apierrors.NewNotFound(schema.GroupResource{}, gv)
	}
	out := &metav1.APIResourceList{}
	for _, n := range names {
		out.APIResources = append(out.APIResources, metav1.APIResource{Name: n})
	}
	return out, nil
}

func TestKind(t *testing.T) {
	both := map[string][]string{"apps.kruise.io/v1beta1": {"clonesets"}, "apps.kruise.io/v1alpha1": {"clonesets", "ephemeraljobs"}}
	for name, c := range map[string]struct {
		has    map[string][]string
		plural string
		want   string
	}{
		"no Kruise":       {nil, "clonesets", ""},
		"newest":          {both, "clonesets", "v1beta1"},
		"older only":      {both, "ephemeraljobs", "v1alpha1"},
		"another":         {both, "nothing", ""},
		"an older Kruise": {map[string][]string{"apps.kruise.io/v1alpha1": {"clonesets"}}, "clonesets", "v1alpha1"},
	} {
		if got, err := Kind(cluster{has: c.has}, c.plural); got != c.want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := Kind(cluster{err: errors.New("no way")}, "clonesets"); err == nil {
		t.Error("a cluster that does not answer has no Kruise")
	}
}
