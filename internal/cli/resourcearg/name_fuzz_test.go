package resourcearg

import (
	"strings"
	"testing"
)

// FuzzParse: any text in the place of TYPE/NAME is one or an error, and a name
// never goes beyond its slash.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"cloneset/web", "statefulset.apps.kruise.io/db", "deploy/", "/", "a/b/c", "CLONE/x", "pod/../x", "ds.v1.apps/x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 64 {
			return
		}
		for _, parse := range []func(string) (Name, error){Parse, ParseAny} {
			if n, err := parse(text); err == nil && (n.Name == "" || strings.Contains(n.Name, "/")) {
				t.Errorf("%q is %+v", text, n)
			}
		}
		_, _ = ParseKinds(text)
	})
}
