package krew_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/krew"
)

// manifest is what the test reads of one.
type manifest struct {
	Spec struct {
		Version   string
		Platforms []struct {
			Selector struct{ MatchLabels struct{ OS, Arch string } }
			URI      string
			SHA256   string
			Bin      string
		}
	}
}

// TestManifest_InTheRepositoryIsThatOfTheIndex: what lies in the repository and what an index serves is one text, that
// which the release before wrote.
func TestManifest_InTheRepositoryIsThatOfTheIndex(t *testing.T) {
	have, err := os.ReadFile("../../krew.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := yaml.UnmarshalStrict(have, &struct {
		APIVersion, Kind string
		Metadata         map[string]string
		Spec             struct {
			Version, Homepage, ShortDescription, Description, Caveats string
			Platforms                                                 []any
		}
	}{}); err != nil {
		t.Error(err)
	}
	if err := yaml.Unmarshal(have, &m); err != nil {
		t.Fatal(err)
	}
	// The older plugin of the name ends at v1.1.2: only what is above takes its place when
	// krew upgrades; and a module of this path has no version above v1.
	if minor, ok := strings.CutPrefix(m.Spec.Version, "v1."); !ok || strings.HasPrefix(minor, "0.") || strings.HasPrefix(minor, "1.") {
		t.Errorf("version %s: want v1.2.0 or a later v1", m.Spec.Version)
	}
	sums := map[string]string{}
	for _, p := range m.Spec.Platforms {
		sums[p.URI[strings.LastIndex(p.URI, "/")+1:]] = p.SHA256
	}
	want, err := krew.Manifest(krew.Release{Version: m.Spec.Version, Sums: sums})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../../krew.yaml", "../../plugins/krew-index/plugins/kruise.yaml"} {
		have, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(have)); diff != "" {
			t.Errorf("%s is not what internal/krew writes:\n%s", name, diff)
		}
	}
}

func TestManifest(t *testing.T) {
	sums := map[string]string{}
	for i, p := range krew.Platforms {
		sums[p.Archive("v1.2.3")] = strings.Repeat(string("abcdef"[i]), 64)
	}
	text, err := krew.Manifest(krew.Release{Version: "v1.2.3", URL: "http://localhost/here", Sums: sums})
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Spec.Platforms) != 6 {
		t.Fatalf("%d platforms", len(m.Spec.Platforms))
	}
	last := m.Spec.Platforms[5]
	if last.Selector.MatchLabels.OS != "windows" || last.Bin != "kubectl-kruise.exe" || last.SHA256 != strings.Repeat("f", 64) ||
		last.URI != "http://localhost/here/kubectl-kruise_1.2.3_windows_arm64.zip" {
		t.Errorf("%+v", last)
	}
}

func TestManifest_RefusesWrongSums(t *testing.T) {
	upper := map[string]string{}
	for _, p := range krew.Platforms {
		upper[p.Archive("v1.2.3")] = strings.Repeat("A", 64)
	}
	for _, r := range []krew.Release{{Version: "1.2.3"}, {Version: "v1.2.3"}, {Version: "v1.2.3", Sums: upper}} {
		if text, err := krew.Manifest(r); err == nil {
			t.Errorf("%+v is no release, but:\n%s", r, text)
		}
	}
}

func TestSums(t *testing.T) {
	a := strings.Repeat("a", 64)
	have, err := krew.Sums(a + "  one.tar.gz\n\n" + a + " *two.zip\n")
	if diff := cmp.Diff(map[string]string{"one.tar.gz": a, "two.zip": a}, have); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for _, bad := range []string{"x  one", a, a + "  one two"} {
		if _, err := krew.Sums(bad); err == nil {
			t.Errorf("%q is no list of checksums", bad)
		}
	}
}
