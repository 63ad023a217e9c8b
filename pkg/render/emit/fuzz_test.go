package emit

import (
	"path/filepath"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
)

// FuzzIndex: no record of a previous render names a file outside of its folder.
func FuzzIndex(f *testing.F) {
	good := index{Files: map[string]string{"shop/web.yaml": digest([]byte("a")), "b.yaml": ""}}
	distort.Fuzz(f, []string{string(good.bytes()), `{"files": {"../a": "b", "/a": "b", "a/../../b": ""}}`, "null"}, func(t *testing.T, text string) {
		t.Helper()
		x, err := parseIndex([]byte(text))
		if err != nil {
			return
		}
		for name := range x.Files {
			if !filepath.IsLocal(name) {
				t.Errorf("%q", name)
			}
		}
		if _, err := parseIndex(x.bytes()); err != nil {
			t.Error(err)
		}
	})
}
