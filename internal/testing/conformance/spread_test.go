package conformance

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// oneWorld is a world in which each object is a pod of subset a.
type oneWorld struct {
	names, gone []string
	did         []string
}

func (w *oneWorld) Apply(o map[string]any) error {
	if nameOf(o) == "bad" {
		return errors.New("no")
	}
	w.names = append(w.names, nameOf(o))
	return nil
}

func (w *oneWorld) Delete(kind, name string) error {
	w.did = append(w.did, "delete "+kind+" "+name)
	return nil
}

func (w *oneWorld) Patch(kind, name string, patch map[string]any) error {
	w.did = append(w.did, fmt.Sprint("patch ", kind, " ", name, " ", len(patch)))
	return nil
}

func (w *oneWorld) DeletePods(places []int) error {
	w.did = append(w.did, fmt.Sprint("pods ", places))
	w.gone, w.names = w.names[:1], w.names[1:]
	return nil
}

func (w *oneWorld) Wait(d time.Duration) error {
	w.did = append(w.did, "wait "+d.String())
	return nil
}

func (w *oneWorld) Settle() error { return nil }

func podsNamed(names []string) (out []SpreadPod) {
	for _, name := range names {
		out = append(out, SpreadPod{
			UID: name, Name: name, New: true, Labels: map[string]string{"app": "x", "job-name": "y"},
			Annotations: map[string]string{matchedAnnotation: `{"name":"ws","subset":"a","uid":"1"}`, costAnnotation: "100"},
		})
	}
	return out
}

func (w *oneWorld) Pods() []SpreadPod { return podsNamed(w.names) }
func (w *oneWorld) Gone() []SpreadPod { return podsNamed(w.gone) }

func (w *oneWorld) Status() map[string]any {
	return map[string]any{"ws": map[string]any{"replicas": int64(len(w.names))}}
}

const onePod = `
result: accepted
perSubset: {a: 1}
createdInOrder: ['web: a']
died: []
pods:
- subset: a
  count: 1
  object:
    metadata:
      name: web
      labels: {app: x, pod-template-hash: ""}
      annotations: {apps.kruise.io/matched-workloadspread: '{"name":"ws","subset":"a","uid":"<uid>"}', controller.kubernetes.io/pod-deletion-cost: '100'}
status: {ws: {replicas: 1}}
`

// TestSpread: everything a user does is understood, and every part of a recording
// is compared.
func TestSpread(t *testing.T) {
	const web, bad = "kind: Pod\nmetadata: {name: web}\n", "kind: WorkloadSpread\nmetadata: {name: bad}\n"
	deed := func(text string) string { return web + "---\napiVersion: conformance/v1\n" + text }
	for _, tc := range []struct {
		name, input, expected string
		did, differ           string
	}{
		{"as recorded", web, onePod, "", ""},
		{"patched", deed("kind: MergePatch\nof: apps/v1 Deployment\nmetadata: {name: d}\npatch: {a: 1}"), onePod, "patch Deployment d 1", ""},
		{"deleted", deed("kind: DeleteObject\nof: apps.kruise.io/v1beta1 WorkloadSpread\nmetadata: {name: ws}"), onePod, "delete WorkloadSpread ws", ""},
		{"waited", deed("kind: Wait\nseconds: 3"), onePod, "wait 3s", ""},
		{"pods deleted", deed("kind: DeletePods\norders: [2]"), onePod, "pods [2]", "perSubset"},
		{"not understood", deed("kind: Evict"), onePod, "", "Evict is not understood"},
		{"refused", bad, "result: rejected\nrefusal: {object: WorkloadSpread/bad}\n", "", ""},
		{"refused, otherwise recorded", bad, onePod, "", "WorkloadSpread/bad"},
		{"accepted, otherwise recorded", web, "result: rejected\nrefusal: {object: Pod/web}\n", "", "refusal"},
		{"another number", web + "---\n" + web, onePod, "", "perSubset"},
		{"another subset", web, strings.Replace(onePod, "perSubset: {a: 1}", "perSubset: {b: 1}", 1), "", "perSubset"},
		{"another name", web, strings.Replace(onePod, "'web: a'", "'db: a'", 1), "", "createdInOrder"},
		{"a pod died", web, strings.Replace(onePod, "died: []", "died: [{subset: a, count: 1}]", 1), "", "died"},
		{"another cost", web, strings.Replace(onePod, "cost: '100'", "cost: '200'", 1), "", "pods"},
		{"another label", web, strings.Replace(onePod, "app: x", "app: z", 1), "", "pods"},
		{"no uid", web, strings.Replace(onePod, `,"uid":"<uid>"`, "", 1), "", "pods"},
		{"another status", web, strings.Replace(onePod, "replicas: 1", "replicas: 2", 1), "", "status"},
		{"what varies does not count", web, strings.Replace(onePod, "replicas: 1", "replicas: 2", 1) + "stable: false\nvaries: [status]\n", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &oneWorld{}
			err := Spread(Case{files: fstest.MapFS{"input.yaml": data("%s", tc.input), "expected.yaml": data("%s", tc.expected)}}, w)
			if (err != nil) != (tc.differ != "") || err != nil && !strings.Contains(err.Error(), tc.differ) {
				t.Errorf("%v, want %q", err, tc.differ)
			}
			if did := strings.Join(w.did, ", "); did != tc.did {
				t.Errorf("did %s, want %s", did, tc.did)
			}
		})
	}
}

// TestSpreadSplit: numbers, templates and refusals are compared.
func TestSpreadSplit(t *testing.T) {
	const ws = "kind: WorkloadSpread\nmetadata: {name: ws}\nspec: {targetRef: {kind: Deployment}}\n"
	workload := func(replicas int64, label string) map[string]any {
		return map[string]any{"kind": "Deployment", "spec": map[string]any{"replicas": replicas, "template": map[string]any{"metadata": map[string]any{
			"labels":      map[string]any{"app": label, "kubectl-kruise.dev/subset": "a"},
			"annotations": map[string]any{matchedAnnotation: `{"name":"ws","subset":"a"}`, costAnnotation: "100"},
		}}}}
	}
	for _, tc := range []struct {
		name, expected string
		out            []map[string]any
		err            error
		differ         string
	}{
		{"as recorded", onePod, []map[string]any{workload(1, "x")}, nil, ""},
		{"another number", onePod, []map[string]any{workload(2, "x")}, nil, "perSubset"},
		{"another template", onePod, []map[string]any{workload(1, "z")}, nil, "pods of a"},
		{"an error", onePod, nil, errors.New("no"), "no"},
		{"refused", "result: rejected\nrefusal: {object: WorkloadSpread/ws}\n", nil, errors.New("no"), ""},
		{"kept", "result: rejected\nrefusal: {object: WorkloadSpread/ws}\n", []map[string]any{{"kind": "WorkloadSpread", "metadata": map[string]any{"name": "ws"}}}, nil, ""},
		{"expanded", "result: rejected\nrefusal: {object: WorkloadSpread/ws}\n", []map[string]any{workload(1, "x")}, nil, "though Kruise refuses it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			files := fstest.MapFS{"input.yaml": data("%s", ws), "expected.yaml": data("%s", tc.expected)}
			err := SpreadSplit(Case{files: files}, func([]map[string]any) ([]map[string]any, error) { return tc.out, tc.err })
			if (err != nil) != (tc.differ != "") || err != nil && !strings.Contains(err.Error(), tc.differ) {
				t.Errorf("%v, want %q", err, tc.differ)
			}
		})
	}
}
