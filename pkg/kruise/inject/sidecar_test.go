package inject

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// TestKruiseFields_AreThoseOfTheType: a field that Kruise adds to a container is in the list of
// those that pods do not get, so that a new one does not end up in a pod.
func TestKruiseFields_AreThoseOfTheType(t *testing.T) {
	var want []string
	for f := range reflect.TypeFor[kruise.SidecarContainer]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			want = append(want, name)
		}
	}
	have := slices.Sorted(slices.Values(kruiseFields))
	if slices.Sort(want); !slices.Equal(have, want) {
		t.Errorf("kruiseFields has %v, the type %v", have, want)
	}
}
