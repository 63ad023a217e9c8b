package patches

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

const digestA = "sha256:0f2b36cd4a9e4ab0b7d3d5a6a6bd6a0b9b9a3f1c6d2e5f7a8b9c0d1e2f3a4b5c"

const annotated = `
apiVersion: apps.kruise.io/v1beta1
kind: ContainerRecreateRequest
metadata: {name: restart, namespace: shop, annotations: {kubectl-kruise.dev/method: METHOD}}
spec: {podName: web, containers: [{name: app}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, ownerReferences: [{kind: ReplicaSet, name: web-1, controller: true}]}
spec: {containers: [{name: app, image: "example.com/app:1"}]}
status: {containerStatuses: [{name: app, imageID: "example.com/app@` + digestA + `"}]}
`

// TestMethod_IsTheOneOfTheAnnotation: a method that is named is used, or an error has the reason.
func TestMethod_IsTheOneOfTheAnnotation(t *testing.T) {
	for method, want := range map[string]string{
		"image-alias": "image-alias",
		"signal":      "signal",
		"evict":       "evict (app: eviction is asked for)",
		"resize":      "resize cannot be: app: not resize, as no resizePolicy",
		"kill":        `unknown method "kill"`,
	} {
		t.Run(method, func(t *testing.T) {
			in := golden.Parse(t, strings.Replace(annotated, "METHOD", method, 1))
			_, sequences, err := Requests(context(in), in)
			got := ""
			if err != nil {
				got = err.Error()
			} else if len(sequences) == 1 {
				got = sequences[0].Method
			}
			if !strings.Contains(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// TestRun_KeepsObjectsForKruise: with Kruise in the cluster the objects stay.
func TestRun_KeepsObjectsForKruise(t *testing.T) {
	in := golden.Parse(t, strings.Replace(annotated, "METHOD", "signal", 1))
	c := context(in)
	c.Expand = func(string) bool { return false }
	out, sequences, err := Requests(c, in)
	if err != nil || !slices.Equal(out, in) || sequences != nil {
		t.Errorf("%d objects, %d sequences, %v", len(out), len(sequences), err)
	}
}

// TestRun_ReportsWhereAnObjectIsMalformed: what cannot be read is an error with its place.
func TestRun_ReportsWhereAnObjectIsMalformed(t *testing.T) {
	for name, doc := range map[string]string{
		"spec.containers":   strings.Replace(annotated, "[{name: app}]", "app", 1),
		"spec.replicas":     "apiVersion: apps.kruise.io/v1alpha1\nkind: EphemeralJob\nmetadata: {name: x}\nspec: {replicas: many}\n",
		"spec.selector":     "apiVersion: apps.kruise.io/v1alpha1\nkind: EphemeralJob\nmetadata: {name: x}\nspec: {selector: {matchExpressions: [{key: a, operator: Near}]}}\n",
		"status.phase":      strings.Replace(annotated, "status: {", "status: {phase: [], ", 1),
		"metadata.annotati": strings.Replace(annotated, "METHOD", "none", 1),
	} {
		t.Run(name, func(t *testing.T) {
			in := golden.Parse(t, doc)
			if _, _, err := Requests(context(in), in); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%v does not name %s", err, name)
			}
		})
	}
}

// TestDirectory_ShortensLongNames: a long name stays one that every file system takes.
func TestDirectory_ShortensLongNames(t *testing.T) {
	if got := directory("shop", "ephemeraljob", "trace"); got != "shop_ephemeraljob_trace" {
		t.Error(got)
	}
	a, b := directory("shop", "ephemeraljob", strings.Repeat("a", 250)+"1"), directory("shop", "ephemeraljob", strings.Repeat("a", 250)+"2")
	if len(a) > longestFolder || a == b {
		t.Error(a, b)
	}
}

func context(in []*resource.Resource) *stage.Context {
	return stage.New(resource.NewFacts(in, nil, ""), stage.Options{Expand: stage.ExpandAll})
}
