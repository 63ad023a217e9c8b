package simulate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1.0"}]}
`

// lab are the options under which the recordings' node agent worked.
func lab() Options {
	return Options{
		Gates: cluster.DefaultGates(), ReadinessGate: true, GuardUpdates: true,
		Agent:   Agent{Start: Exactly(time.Second), Stop: Exactly(500 * time.Millisecond), Reread: true},
		Latency: 10 * time.Millisecond,
	}
}

func TestDeployment_ComesUpAndRolls(t *testing.T) {
	w := New(lab())
	w.AddNode("n1", map[string]string{"topology.kubernetes.io/zone": "a"})
	w.AddNode("n2", nil)
	must(t, w.Apply(documents(t, deployment)...))
	ref := cluster.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	if ok, err := w.Settle(time.Minute); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s, err := w.Snapshot(ref)
	must(t, err)
	for _, p := range s.Pods {
		if !isReady(p) || p.Node == "" || p.Owner.Kind != "ReplicaSet" {
			t.Errorf("pod %+v", p)
		}
	}
	if len(s.Pods) != 4 || len(s.Revisions) != 1 {
		t.Fatalf("%d pods, %d revisions", len(s.Pods), len(s.Revisions))
	}
	must(t, w.Watch(ref))
	must(t, w.MergePatch(ref, templateImage("web:2.0")))
	if ok, err := w.Settle(time.Minute); !ok || err != nil {
		t.Fatal(ok, err)
	}
	line := w.Timeline()
	if sum := line.Summary; sum.MostDown != 1 || sum.MostPods != 5 || sum.Recreated != 4 || sum.Restarts != 0 {
		t.Errorf("summary %+v", sum)
	}
	last := line.Samples[len(line.Samples)-1]
	if last.New != 4 || last.Total() != 4 {
		t.Errorf("it ends with %+v", last)
	}
}

// TestPatch: an object is patched in the version in which it was written, and its generation
// counts changes of the spec.
func TestPatch(t *testing.T) {
	for name, c := range map[string]struct {
		patch      plan.Patch
		generation int64
		replicas   int32
		refused    bool
	}{
		"merge":                        {patch: plan.Patch{Type: "merge", Body: map[string]any{"spec": map[string]any{"replicas": 7}}}, generation: 2, replicas: 7},
		"scale":                        {patch: plan.Patch{Type: "merge", Subresource: "scale", Body: map[string]any{"spec": map[string]any{"replicas": 7}}}, generation: 2, replicas: 7},
		"json":                         {patch: plan.Patch{Type: "json", Body: []any{map[string]any{"op": "replace", "path": "/spec/replicas", "value": 7}}}, generation: 2, replicas: 7},
		"json whose test fails":        {patch: plan.Patch{Type: "json", Body: []any{map[string]any{"op": "test", "path": "/spec/replicas", "value": 5}}}, generation: 1, replicas: 4, refused: true},
		"what is there already":        {patch: plan.Patch{Body: map[string]any{"spec": map[string]any{"replicas": 4}}}, generation: 1, replicas: 4},
		"an annotation is no spec":     {patch: plan.Patch{Body: map[string]any{"metadata": map[string]any{"annotations": map[string]any{"a": "b"}}}}, generation: 1, replicas: 4},
		"Kruise has no strategic type": {patch: plan.Patch{Type: "strategic", Body: map[string]any{}}, generation: 1, replicas: 4, refused: true},
		"no such type":                 {patch: plan.Patch{Type: "yaml", Body: map[string]any{}}, generation: 1, replicas: 4, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := New(lab())
			must(t, w.Apply(documents(t, cloneSet)...))
			if err := w.Patch(shopWeb, c.patch); errors.Is(err, plan.ErrRefused) != c.refused || (err != nil && !c.refused) {
				t.Fatalf("the answer is %v", err)
			}
			o := w.store.objects[shopWeb]
			if got := *o.workload.Object.(*kruise.CloneSet).Spec.Replicas; got != c.replicas || o.workload.Generation != c.generation {
				t.Errorf("replicas %d, generation %d", got, o.workload.Generation)
			}
			if version := tree.StrAt(o.doc, "apiVersion"); version != "apps.kruise.io/v1alpha1" || o.workload.Version != "v1alpha1" {
				t.Errorf("it is kept as %s", version)
			}
		})
	}
	w := New(lab())
	if err := w.MergePatch(shopWeb, nil); !errors.Is(err, plan.ErrNotFound) {
		t.Errorf("an object that is not there: %v", err)
	}
	must(t, w.Apply(documents(t, deployment)...))
	ref := cluster.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	containers := []any{map[string]any{"name": "main", "tty": true}}
	must(t, w.Patch(ref, plan.Patch{Type: "strategic", Body: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": containers}}}}}))
	list := tree.Items(tree.Get(w.store.objects[ref].doc, "spec", "template", "spec", "containers"))
	if len(list) != 1 || tree.StrAt(list[0], "image") != "web:1.0" || !tree.Bool(tree.Get(list[0], "tty")) {
		t.Errorf("a strategic patch left %v", tree.Value(w.store.objects[ref].doc))
	}
}

// TestAdmit: admission sees objects as they are stored, and can refuse.
func TestAdmit(t *testing.T) {
	o := lab()
	var seen []string
	o.Admit = func(before, after *tree.Node) error {
		policy := tree.StrAt(after, "spec", "template", "spec", "restartPolicy")
		seen = append(seen, fmt.Sprintf("%v %s", before != nil, policy))
		if n, _ := tree.Int(tree.Get(after, "spec", "replicas")); n > 5 {
			return errors.New("too many")
		}
		return nil
	}
	w := New(o)
	must(t, w.Apply(documents(t, cloneSet)...))
	err := w.MergePatch(shopWeb, map[string]any{"spec": map[string]any{"replicas": 6}})
	if !errors.Is(err, plan.ErrRefused) {
		t.Errorf("the answer is %v", err)
	}
	if diff := cmp.Diff([]string{"false Always", "true Always"}, seen); diff != "" {
		t.Error(diff)
	}
	if n := *w.store.objects[shopWeb].workload.Object.(*kruise.CloneSet).Spec.Replicas; n != 4 {
		t.Errorf("a refused patch left %d replicas", n)
	}
}

// TestRecord: a second operator does not overwrite the progress of the first.
func TestRecord(t *testing.T) {
	w, _ := ready(t, lab(), plan.Policy{})
	old, err := w.Observe(t.Context(), shopWeb)
	must(t, err)
	must(t, w.Record(t.Context(), shopWeb, old.Version, plan.Progress{Step: 1}))
	if err := w.Record(t.Context(), shopWeb, old.Version, plan.Progress{Step: 2}); !errors.Is(err, plan.ErrConflict) {
		t.Errorf("the second of two who saw the same: %v", err)
	}
	now, err := w.Observe(t.Context(), shopWeb)
	must(t, err)
	if now.Progress.Step != 1 || now.Version == old.Version {
		t.Errorf("recorded is %+v, version %s after %s", now.Progress, now.Version, old.Version)
	}
	must(t, w.Record(t.Context(), shopWeb, now.Version, plan.Progress{Step: 2}))
}

// TestAwait returns on a change, at a time, or when nothing will ever happen.
func TestAwait(t *testing.T) {
	w, _ := ready(t, lab(), plan.Policy{})
	s, err := w.Observe(t.Context(), shopWeb)
	must(t, err)
	until := w.Now().Add(time.Minute)
	must(t, w.Await(t.Context(), shopWeb, s.Version, until))
	if !w.Now().Equal(until) {
		t.Errorf("nothing has happened, and it is %v, not %v", w.Now(), until)
	}
	if err := w.Await(t.Context(), shopWeb, s.Version, time.Time{}); !errors.Is(err, errStuck) {
		t.Errorf("nothing will ever happen: %v", err)
	}
	must(t, w.MergePatch(shopWeb, templateImage("web:2")))
	must(t, w.Await(t.Context(), shopWeb, s.Version, time.Time{}))
	if !w.Now().Equal(until) {
		t.Errorf("an old version is waited for until %v", w.Now())
	}
	s, err = w.Observe(t.Context(), shopWeb)
	must(t, err)
	must(t, w.Await(t.Context(), shopWeb, s.Version, until.Add(time.Hour)))
	if now, _ := w.Observe(t.Context(), shopWeb); now.Version == s.Version || !w.Now().Before(until.Add(time.Second)) {
		t.Errorf("the controller's pass is seen at %v", w.Now())
	}
}

// TestPreconditions_GuardObjectAndPod: actions hit the object and the pod that they were made for.
func TestPreconditions_GuardObjectAndPod(t *testing.T) {
	w, _ := ready(t, lab(), plan.Policy{})
	patch := &plan.Patch{Body: map[string]any{"spec": map[string]any{"replicas": 5}}}
	err := w.Do(t.Context(), shopWeb, plan.Action{Patch: patch, Precondition: plan.Precondition{UID: "another"}})
	if !errors.Is(err, plan.ErrConflict) {
		t.Errorf("a patch for another object: %v", err)
	}
	must(t, w.Do(t.Context(), shopWeb, plan.Action{Patch: patch, Precondition: plan.Precondition{UID: w.store.objects[shopWeb].workload.UID}}))
	p := w.store.objects[shopWeb].pods.now[0]
	if err := w.Do(t.Context(), shopWeb, plan.Action{Delete: &plan.PodRef{Namespace: "shop", Name: p.Name, UID: "another"}}); !errors.Is(err, plan.ErrNotFound) {
		t.Errorf("a deletion of another pod: %v", err)
	}
}

// TestSnapshot_NeverChanges: what was observed never changes.
func TestSnapshot_NeverChanges(t *testing.T) {
	w, _ := ready(t, lab(), plan.Policy{}, fmt.Sprintf(guardDoc, "3"))
	s, err := w.Snapshot(shopWeb)
	must(t, err)
	spell := func() string {
		text := fmt.Sprintf("%+v %+v %v %v", *s.Workload.Object.(*kruise.CloneSet), s.Revisions, s.Pulled, s.Budgets[0].Counts())
		for _, p := range s.Pods {
			text += fmt.Sprintf("%+v", *p)
		}
		return text
	}
	before := spell()
	must(t, w.MergePatch(shopWeb, templateImage("web:2")))
	must(t, w.Run(w.Now().Add(time.Minute)))
	if after := spell(); before != after {
		t.Errorf("before: %s\nafter:  %s", before, after)
	}
}

// TestFromSnapshot: a world made from what was observed goes the same way.
func TestFromSnapshot(t *testing.T) {
	w, _ := ready(t, DefaultOptions(), plan.Policy{}, fmt.Sprintf(guardDoc, "3"))
	s, err := w.Snapshot(shopWeb)
	must(t, err)
	again, err := FromSnapshot(s, DefaultOptions())
	must(t, err)
	for _, world := range []*World{w, again} {
		must(t, world.Watch(shopWeb))
		must(t, world.MergePatch(shopWeb, templateImage("web:2")))
		if ok, err := world.Settle(time.Hour); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	a, b := w.Timeline(), again.Timeline()
	b.Start = a.Start
	if diff := cmp.Diff(a.Records, b.Records); diff != "" {
		t.Error(diff)
	}
	if a.Summary.Restarts != 4 || a.Summary.MostDown != 1 {
		t.Errorf("summary %+v", a.Summary)
	}
}

// TestCarrier_IsTheObjectThatExists: the native object that carries a Kruise workload is the one
// that lives.
func TestCarrier_IsTheObjectThatExists(t *testing.T) {
	w := New(lab())
	w.AddNode("n1", nil)
	must(t, w.Apply(documents(t, `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]}
`)...))
	if ok, err := w.Settle(time.Minute); !ok || err != nil {
		t.Fatal(ok, err)
	}
	ref := cluster.Ref{Group: "apps", Kind: "ReplicaSet", Namespace: "shop", Name: "web"}
	s, err := w.Snapshot(ref)
	must(t, err)
	source, err := cluster.ReadWorkload(parse(t, cloneSet))
	must(t, err)
	s.Workload, s.Carrier = source, s.Workload
	again, err := FromSnapshot(s, lab())
	must(t, err)
	must(t, again.pods.deleteByHand(plan.PodRef{Namespace: "shop", Name: s.Pods[0].Name}))
	if ok, err := again.Settle(time.Minute); !ok || err != nil {
		t.Fatal(ok, err)
	}
	got, err := again.Snapshot(shopWeb)
	must(t, err)
	if got.Carrier == nil || got.Carrier.Kind != "ReplicaSet" || got.Workload.Kind != "CloneSet" || len(got.Pods) != 2 || got.Version == s.Version {
		t.Errorf("carrier %v, workload %v, %d pods", got.Carrier, got.Workload, len(got.Pods))
	}
	for _, p := range got.Pods {
		if p.Owner.Kind != "ReplicaSet" {
			t.Errorf("pod %s is owned by %v", p.Name, p.Owner)
		}
	}
}

// TestTally: what is counted change by change is what looking at every pod gives.
func TestTally(t *testing.T) {
	o := DefaultOptions()
	o.GuardUpdates, o.Agent.Ready = true, Span{3 * time.Second, 2 * time.Second}
	docs := []string{fmt.Sprintf(guardDoc, "2")}
	for i, covers := range []string{ // more than are asked one by one
		"selector: {matchLabels: {app: other}}", "selector: {matchExpressions: [{key: app, operator: In, values: [web, other]}]}",
		"selector: {matchExpressions: [{key: app, operator: NotIn, values: [other]}]}", "selector: {}",
		"targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}", "targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}",
	} {
		docs = append(docs, strings.NewReplacer("name: web", fmt.Sprint("name: web-", i), "selector: {matchLabels: {app: web}}", covers).Replace(fmt.Sprintf(guardDoc, "1")))
	}
	w, _ := ready(t, o, plan.Policy{}, docs...)
	if len(w.budgets.unavailable.list) <= fewBudgets {
		t.Fatalf("%d budgets, want more than %d", len(w.budgets.unavailable.list), fewBudgets)
	}
	compare := func(when string) {
		t.Helper()
		for _, g := range w.budgets.unavailable.list {
			view := w.budgets.unavailableView(g)
			want := controller.Tally{}
			for _, p := range w.store.all.now {
				want.Add(view.Weigh(p), 1)
			}
			if want.Covered != g.tally.Covered || want.Steady != g.tally.Steady || want.Unrelated != g.tally.Unrelated || !cmp.Equal(want.Owners, g.tally.Owners) {
				t.Fatalf("%s: counted %+v, there are %+v", when, g.tally, want)
			}
			counted, looked := *view, *view
			looked.Tally = nil
			if a, b := controller.ReconcileBudget(&counted), controller.ReconcileBudget(&looked); !cmp.Equal(a, b) {
				t.Fatalf("%s: %s", when, cmp.Diff(a, b))
			}
		}
	}
	compare("at first")
	must(t, w.MergePatch(shopWeb, templateImage("web:2")))
	for i := range 400 {
		if !w.clock.step(w.clock.at + time.Hour) {
			break
		}
		compare(fmt.Sprint("event ", i))
		switch i {
		case 20:
			must(t, w.MergePatch(shopWeb, map[string]any{"spec": map[string]any{"replicas": 6}}))
		case 40:
			p := w.store.all.now[0]
			hold := ""
			must(t, w.PatchPod(plan.PodRef{Namespace: p.Namespace, Name: p.Name}, cluster.PodChange{Labels: map[string]*string{kruise.UnavailablePodLabelPrefix + "x": &hold}}))
		case 60:
			_ = w.EvictPod(plan.PodRef{Namespace: "shop", Name: w.store.all.now[1].Name})
		case 80:
			must(t, w.Apply(documents(t, fmt.Sprintf(guardDoc, "1"))...))
		}
		compare(fmt.Sprint("after event ", i))
	}
}

// parseAll reads all documents of a text.
func parseAll(text string) ([]*tree.Node, error) {
	var out []*tree.Node
	d := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	for {
		var n tree.Node
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		out = append(out, tree.Root(&n))
	}
}

// parse reads a text of one document.
func parse(tb testing.TB, text string) *tree.Node {
	tb.Helper()
	return documents(tb, text)[0]
}
