package compare_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// TestConformance_StoredObjectsAreTheSame: what a cluster stored of an object, with all that
// Kruise's webhooks and Kubernetes filled in, is no other object.
func TestConformance_StoredObjectsAreTheSame(t *testing.T) {
	asked := 0
	conformance.Area(t, "lint", func(t *testing.T, c conformance.Case) error {
		t.Helper()
		if !c.Has("stored.yaml") {
			return nil
		}
		asked++
		object := read(t, c, "object.yaml")
		if object[0].Kind() == "ContainerRecreateRequest" {
			return nil // it takes over what its pod has
		}
		return same(t, object, read(t, c, "stored.yaml"))
	})
	if conformance.Recorded() && asked < 50 {
		t.Errorf("only %d objects were stored", asked)
	}
}

// TestConformance_VersionsAreTheSame: an object is the same in both versions of its
// API, unless the way back shows that something was lost.
func TestConformance_VersionsAreTheSame(t *testing.T) {
	asked := 0
	conformance.Area(t, "conversion", func(t *testing.T, c conformance.Case) error {
		t.Helper()
		if compareFiles(t, c, "input.yaml", "back.yaml").Differs() {
			return nil
		}
		asked++
		return same(t, read(t, c, "input.yaml"), read(t, c, "converted.yaml"))
	})
	if conformance.Recorded() && asked < 20 {
		t.Errorf("only %d objects lose nothing", asked)
	}
}

func read(t *testing.T, c conformance.Case, file string) []*resource.Resource {
	t.Helper()
	data, err := c.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(data))
}

func compareFiles(t *testing.T, c conformance.Case, old, now string) compare.Report {
	t.Helper()
	return compare.Run(t.Context(), read(t, c, old), read(t, c, now), compare.Options{Gates: cluster.DefaultGates()})
}

func same(t *testing.T, old, now []*resource.Resource) error {
	t.Helper()
	if r := compare.Run(t.Context(), old, now, compare.Options{Gates: cluster.DefaultGates()}); r.Differs() {
		return errors.New(outline(r))
	}
	return nil
}

// inputs are all manifests of the conformance areas and of the examples, by name.
func inputs(t *testing.T) map[string][]*resource.Resource {
	t.Helper()
	out := map[string][]*resource.Resource{}
	for _, area := range []string{"conversion", "distribution", "injection", "jobs", "lint", "spread", "state", "subsets"} {
		for _, c := range conformance.List(t, area) {
			for _, file := range c.Glob("*.yaml") {
				data, err := c.Read(file)
				if err != nil {
					t.Fatal(err)
				}
				if list, err := load.Parse(file, data); err == nil && len(list) > 0 {
					out[area+"/"+c.Name+"/"+file] = list
				}
			}
		}
	}
	for _, overlay := range []string{"dev", "staging", "prod"} {
		list, err := load.Load(t.Context(), load.Options{Kustomize: filepath.Join("..", "..", "..", "examples", "shop", "overlays", overlay)})
		if err != nil {
			t.Fatal(err)
		}
		out["examples/shop/"+overlay] = list
	}
	if len(out) < 500 {
		t.Fatalf("only %d inputs found", len(out))
	}
	return out
}

// reread writes resources out and reads them again in another style, so that no
// bytes agree.
func reread(t *testing.T, list []*resource.Resource) []*resource.Resource {
	t.Helper()
	var text strings.Builder
	for _, r := range list {
		data, err := yaml.Marshal(r.Node())
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("---\n# " + r.Kind() + "\n")
		text.Write(data)
	}
	out, err := load.Parse("again.yaml", []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(out)
	return out
}

// TestRun_FindsNoDifferenceToTheSameObjects, in another order and other bytes.
func TestRun_FindsNoDifferenceToTheSameObjects(t *testing.T) {
	for name, list := range inputs(t) {
		if twice(list) {
			continue
		}
		if err := same(t, list, reread(t, list)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// twice reports a list with two objects of one identity, which are two states.
func twice(list []*resource.Resource) bool {
	seen := map[resource.ID]bool{}
	for _, r := range list {
		id := r.ID()
		if seen[id] {
			return true
		}
		seen[id] = true
	}
	return false
}

// TestRun_IsSymmetric: what is added one way is removed the other, and the rest stays
// changed, field by field.
func TestRun_IsSymmetric(t *testing.T) {
	all := inputs(t)
	for _, pair := range [][2]string{{"examples/shop/dev", "examples/shop/prod"}, {"examples/shop/staging", "examples/shop/prod"}} {
		there := verbs(compare.Run(t.Context(), all[pair[0]], all[pair[1]], compare.Options{}))
		back := verbs(compare.Run(t.Context(), all[pair[1]], all[pair[0]], compare.Options{}))
		turned(t, pair[0], there, back)
	}
	for name, old := range all {
		if now := all[strings.Replace(name, "before.yaml", "object.yaml", 1)]; strings.HasSuffix(name, "/before.yaml") && now != nil {
			turned(t, name, verbs(compare.Run(t.Context(), old, now, compare.Options{})), verbs(compare.Run(t.Context(), now, old, compare.Options{})))
		}
	}
}

// verbs are what happens to each object, with its fields.
func verbs(r compare.Report) map[string][]string {
	out := map[string][]string{}
	for _, ch := range r.Changes {
		if ch.Verb == compare.Affected {
			continue
		}
		text := []string{string(ch.Verb)}
		for _, f := range ch.Fields {
			if !strings.Contains(f.Path, "[") { // positions differ
				text = append(text, f.Path)
			}
		}
		out[ch.ID.String()] = text
	}
	return out
}

var opposite = map[string]string{"added": "removed", "removed": "added", "changed": "changed"}

func turned(t *testing.T, name string, there, back map[string][]string) {
	t.Helper()
	if len(there) != len(back) {
		t.Errorf("%s: %v one way, %v the other", name, there, back)
	}
	for id, text := range there {
		if b := back[id]; len(b) == 0 || b[0] != opposite[text[0]] || !slices.Equal(b[1:], text[1:]) {
			t.Errorf("%s: %s: %v one way, %v the other", name, id, text, b)
		}
	}
}

// TestRun_ChangesNoInput: comparing changes no resource.
func TestRun_ChangesNoInput(t *testing.T) {
	all := inputs(t)
	old, now := all["examples/shop/dev"], all["examples/shop/prod"]
	before := text(t, old) + text(t, now)
	compare.Run(t.Context(), old, now, compare.Options{})
	if text(t, old)+text(t, now) != before {
		t.Error("the input was changed")
	}
	for _, r := range slices.Concat(old, now) {
		if r.Changed() {
			t.Errorf("%s was taken for editing", r.ID())
		}
	}
}

func text(t *testing.T, list []*resource.Resource) string {
	t.Helper()
	var out strings.Builder
	for _, r := range list {
		data, err := yaml.Marshal(r.Node())
		if err != nil {
			t.Fatal(err)
		}
		out.Write(data)
	}
	return out.String()
}

// TestRun_ShowsNoSecretValue: whatever differs, no value of a Secret is in the report.
func TestRun_ShowsNoSecretValue(t *testing.T) {
	dir := filepath.Join("testdata", "secrets")
	var sides [2][]*resource.Resource
	for i, file := range []string{"old.yaml", "new.yaml"} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		sides[i] = parse(t, string(data))
	}
	got := outline(compare.Run(t.Context(), sides[0], sides[1], compare.Options{})) + outline(compare.Run(t.Context(), nil, sides[1], compare.Options{})) +
		outline(compare.Run(t.Context(), sides[0], nil, compare.Options{}))
	for _, secret := range []string{"hunter", "aHVudGVy", "joe "} {
		if strings.Contains(got, secret) {
			t.Errorf("%q is shown:\n%s", secret, got)
		}
	}
}
