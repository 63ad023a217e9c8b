package set

import (
	"slices"
	"testing"
)

// FuzzParent: whatever names a parent of an ApplySet, and whatever its labels and
// annotations say, nothing panics, and what a set wrote it reads again.
func FuzzParent(f *testing.F) {
	f.Add("configmap/web", "shop", "kubectl-kruise/v1", "Deployment.apps,ConfigMap,,.", "a,b")
	f.Add("secret/", "", "kubectl/", ",", "")
	f.Add("a/b/c", "x", "/", "...", ",,,")
	f.Fuzz(func(t *testing.T, name, namespace, tool, kinds, namespaces string) {
		if len(name)+len(namespace)+len(tool)+len(kinds)+len(namespaces) > 128 {
			return
		}
		p, err := ParseParent(name, namespace)
		if err != nil {
			return
		}
		_, _ = p.Recorded(map[string]string{IDLabel: p.ID()}, map[string]string{toolingAnnotation: tool, KindsAnnotation: kinds, namespacesAnnotation: namespaces})
		c, err := p.Recorded(map[string]string{IDLabel: p.ID()}, map[string]string{toolingAnnotation: Tool + "/v1", KindsAnnotation: kinds, namespacesAnnotation: namespaces})
		if err != nil {
			t.Fatal(err)
		}
		again, err := p.Recorded(p.Metadata(c, "v1"))
		if err != nil || !slices.Equal(sorted(again.Namespaces), sorted(c.Namespaces)) {
			t.Errorf("%v: %v became %v", err, c, again)
		}
	})
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}
