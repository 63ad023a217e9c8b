package planning

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// TestPast_FindsWhatPickFinds: the lookup by name answers as the search of all objects does, with
// its errors.
func TestPast_FindsWhatPickFinds(t *testing.T) {
	stream, err := load.Parse("old.yaml", []byte(`
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web, namespace: a}
---
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web, namespace: b}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf, namespace: a}
`))
	if err != nil {
		t.Fatal(err)
	}
	p := newPast(stream, nil)
	for _, named := range []string{"", "cloneset/web", "deployment/web", "daemonset/web", "cloneset/api"} {
		var name *resourcearg.Name
		if named != "" {
			n, err := resourcearg.Parse(named)
			if err != nil {
				t.Fatal(named, err)
			}
			name = &n
		}
		for _, namespace := range []string{"", "a", "b", "c"} {
			want, wantErr := resourcearg.Pick(stream, name, namespace, "old.yaml")
			got, err := p.workload(name, namespace, "old.yaml")
			if got != want || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Errorf("%q in %q: %v, %v; want %v, %v", named, namespace, id(got), err, id(want), wantErr)
			}
		}
	}
}

func id(r *resource.Resource) string {
	if r == nil {
		return "none"
	}
	return r.ID().String()
}
