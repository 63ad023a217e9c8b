package emit_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func TestSubsetFolders(t *testing.T) {
	hashed := func(name string) *regexp.Regexp {
		return regexp.MustCompile("^subsets/subset-" + regexp.QuoteMeta(name) + "-[0-9a-f]{8}$")
	}
	tests := []struct {
		subset string
		want   *regexp.Regexp
	}{
		{"", regexp.MustCompile("^shared$")},
		{"zone-a", regexp.MustCompile("^subsets/zone-a$")},
		{"shared", regexp.MustCompile("^subsets/shared$")},
		{"eu.west-1", regexp.MustCompile(`^subsets/eu\.west-1$`)},
		{"1", regexp.MustCompile("^subsets/1$")},
		{"Zone-A", hashed("-one--")},
		{"zone_a", hashed("zone-a")},
		{"..", hashed("..")},
		{"../../etc", hashed("..-..-etc")},
		{"/etc", hashed("-etc")},
		{`a\b`, hashed("a-b")},
		{".git", hashed(".git")},
		{"a.", hashed("a.")},
		{"a ", hashed("a-")},
		{"con", hashed("con")},
		{"nul.yaml", hashed("nul.yaml")},
		{"lpt1", hashed("lpt1")},
		{"console", regexp.MustCompile("^subsets/console$")},
		{"a\nb", hashed("a-b")},
		{strings.Repeat("n", 300), hashed(strings.Repeat("n", 180))},
	}
	seen := map[string]string{}
	for _, tc := range tests {
		got := emit.SubsetFolders([]string{tc.subset})[0]
		if !tc.want.MatchString(got) {
			t.Errorf("%q: %s, want %s", tc.subset, got, tc.want)
		}
		if before, ok := seen[got]; ok {
			t.Errorf("%q and %q are both in %s", tc.subset, before, got)
		}
		seen[got] = tc.subset
		if last := filepath.Base(got); len(last) > 255 || !filepath.IsLocal(filepath.FromSlash(got)) {
			t.Errorf("%q: %s is no folder below the directory", tc.subset, got)
		}
	}
}

// TestDir_RemovesUnusedFolders: each folder has its files and a kustomization of its own, and a second
// render removes the folder that it does not need any more.
func TestDir_RemovesUnusedFolders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	render := func(folders ...string) {
		t.Helper()
		rs := make([]*resource.Resource, len(folders))
		for i := range rs {
			rs[i] = object("v1", "ConfigMap", "shop/same") // one name in each folder
		}
		if _, err := emit.Dir(t.Context(), dir, rs, emit.DirOptions{Folders: folders, Kustomization: true}); err != nil {
			t.Fatal(err)
		}
	}
	render("shared", "subsets/a", "subsets/b")
	want := []string{
		"kustomization.yaml", "shared", "shared/kustomization.yaml", "shared/shop_configmap_same.yaml",
		"subsets", "subsets/a", "subsets/a/kustomization.yaml", "subsets/a/shop_configmap_same.yaml",
		"subsets/b", "subsets/b/kustomization.yaml", "subsets/b/shop_configmap_same.yaml",
	}
	if diff := cmp.Diff(want, below(t, dir)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for file, lists := range map[string]string{
		"kustomization.yaml":           "- shared\n- subsets/a\n- subsets/b\n",
		"subsets/b/kustomization.yaml": "- shop_configmap_same.yaml\n",
	} {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !strings.HasSuffix(string(b), "resources:\n"+lists) {
			t.Errorf("%s: %v\n%s", file, err, b)
		}
	}
	render("subsets/a")
	want = []string{"kustomization.yaml", "subsets", "subsets/a", "subsets/a/kustomization.yaml", "subsets/a/shop_configmap_same.yaml"}
	if diff := cmp.Diff(want, below(t, dir)); diff != "" {
		t.Errorf("afterwards: -want +got\n%s", diff)
	}
}

// TestDir_ReplacesIndexOfOlderVersions: the record of an earlier version, which kubectl apply -f would take for
// a manifest, is read and replaced.
func TestDir_ReplacesIndexOfOlderVersions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	write := func(names ...string) {
		t.Helper()
		rs := make([]*resource.Resource, len(names))
		for i, name := range names {
			rs[i] = object("v1", "ConfigMap", name)
		}
		if _, err := emit.Dir(t.Context(), dir, rs, emit.DirOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "b")
	older, newer := filepath.Join(dir, ".kubectl-kruise.json"), filepath.Join(dir, ".kubectl-kruise.index")
	if err := os.Rename(newer, older); err != nil {
		t.Fatal(err)
	}
	write("a")
	if diff := cmp.Diff([]string{"configmap_a.yaml"}, names(t, dir)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if _, err := os.Stat(older); !os.IsNotExist(err) {
		t.Errorf("the older record: %v", err)
	}
	if _, err := os.Stat(newer); err != nil {
		t.Error(err)
	}
}
