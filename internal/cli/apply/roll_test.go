package apply

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// itemOf is a CloneSet of the manifests; with rolls its template comes by plan.
func itemOf(t *testing.T, name string, rolls ...string) *item {
	t.Helper()
	text := "{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, metadata: {name: " + name + ", namespace: shop}}"
	object := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return &item{manifest: resource.Parsed(yaml.MustParse(text).YNode(), nil, resource.Origin{File: name + ".yaml", Line: 1}), object: &unstructured.Unstructured{Object: object}, rolls: rolls}
}

// TestRoll_EndsAtTheFirstThatFails: after a rollout that failed no other one is started, and the
// final state of the failed one is not applied.
func TestRoll_EndsAtTheFirstThatFails(t *testing.T) {
	failed := errors.New("rollout failed")
	for name, c := range map[string]struct{ follow, final, did string }{
		"none":      {"", "", "follow a, final a, follow c, final c, follow d, final d"},
		"a rollout": {"c", "", "follow a, final a, follow c"},
		"a write":   {"", "c", "follow a, final a, follow c, final c"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			items := []*item{itemOf(t, "a", "template"), itemOf(t, "b"), itemOf(t, "c", "template"), itemOf(t, "d", "template")}
			e := &executor{&work{items: items, report: &reporter{out: &out, namespace: "shop", dryRun: "none"}}}
			var did []string
			do := func(what, fails string, it *item) error {
				did = append(did, what+" "+it.object.GetName())
				if it.object.GetName() == fails {
					return failed
				}
				return nil
			}
			err := e.rollEach(func(it *item) (bool, error) { return true, do("follow", c.follow, it) }, func(it *item, _ bool) error { return do("final", c.final, it) })
			if got := strings.Join(did, ", "); got != c.did {
				t.Errorf("did %s, want %s", got, c.did)
			}
			fails := c.follow+c.final != ""
			if errors.Is(err, failed) != fails || strings.Contains(out.String(), "/d waiting: its rollout was not started") != fails || slices.Contains(strings.Fields(out.String()), "b") {
				t.Errorf("%v, %q", err, out.String())
			}
		})
	}
}
