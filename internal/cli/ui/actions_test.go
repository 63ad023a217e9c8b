package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"
	k8syaml "sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// rolling records a rollout of the CloneSet: of one pod, then a pause, then all.
func rolling(t *testing.T, l *liveSource) {
	t.Helper()
	read := func(text string) *cluster.Workload {
		w, err := cluster.ReadWorkload(yaml.MustParse(text).YNode())
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	policy := plan.Policy{Pull: plan.PullNever}
	var err error
	if policy.Steps, err = plan.ParseSteps("1,100%"); err == nil {
		err = policy.PauseAfter("1")
	}
	if err != nil {
		t.Fatal(err)
	}
	desired := strings.Replace(cloneSet, ", partition: 1", "", 1)
	before := read(strings.NewReplacer("web:2", "web:1", "web-2", "web-1").Replace(desired))
	p, err := plan.Build(read(desired), plan.Snapshot{Workload: before, Gates: cluster.DefaultGates(), Pods: pods(t, "web-a", "web-b")}, policy)
	if err != nil {
		t.Fatal(err)
	}
	records := kube.Records{Client: l.core, StateNamespace: "kruise"}
	owner := metav1.OwnerReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Name: "web", UID: "web"}
	if _, err := records.Begin(t.Context(), web, owner, p, before.Template, "ann@host"); err != nil {
		t.Fatal(err)
	}
	client, err := l.factory.Dynamic()
	if err != nil {
		t.Fatal(err)
	}
	mark := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, plan.BegunAnnotation, p.Mark()) // the first write of the rollout
	resource := client.Resource(schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1beta1", Resource: "clonesets"}).Namespace("shop")
	if _, err := resource.Patch(t.Context(), "web", types.MergePatchType, []byte(mark), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	pause := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.Kind == plan.StepPause })
	if _, err := records.Change(t.Context(), web, "ann@host", func(r *plan.Record) error {
		r.Progress.Step, r.Progress.Started = pause, time.Unix(1, 0)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// pods are old ones of the CloneSet.
func pods(t *testing.T, names ...string) (list []*cluster.Pod) {
	t.Helper()
	for _, name := range names {
		var p corev1.Pod
		if err := k8syaml.Unmarshal([]byte(pod(name, "CloneSet/web", "controller-revision-hash: web-1", "")), &p); err != nil {
			t.Fatal(err)
		}
		list = append(list, cluster.ReadPod(&p))
	}
	return list
}

// held has another process hold the Lease of the CloneSet's rollout, or not any more.
func held(a *api, by string) {
	a.put(fmt.Sprintf("kind: Lease\nmetadata: {name: rollout.cloneset.web, namespace: shop}\nspec: {holderIdentity: %q, renewTime: %q}\n", by, time.Now().Format(metav1.RFC3339Micro)))
}

// TestActions_DescribeTheirEffect: each verb says what would come of it, and changes nothing.
func TestActions_DescribeTheirEffect(t *testing.T) {
	a := shop(t)
	l := seeing(t, a, "shop", "")
	rolling(t, l)
	before := len(a.written())
	for _, c := range []struct {
		act  world.Act
		want string
	}{
		{world.Act{Verb: world.Promote}, "No program runs the rollout: this one does, until you leave it."},
		{world.Act{Verb: world.Promote}, "promote step 2 of 3: 1 pods, 2 of 2"},
		{world.Act{Verb: world.PauseResume}, "resume step 2 of 3"}, // no process runs it
		{world.Act{Verb: world.Abort}, "abort step"},
		{world.Act{Verb: world.Undo}, "steps: "},
		{world.Act{Verb: world.Undo, Value: "x"}, "error: cloneset/web: \"x\" is not the number of a revision"},
		{world.Act{Verb: world.Scale, Value: "3"}, "error: cloneset/web: cloneset/web has a rollout already"},
		{world.Act{Verb: world.Scale, Value: "-1"}, "is not a number of pods"},
		{world.Act{Verb: "sing"}, "error: sing cannot be done here"},
	} {
		c.act.On = []cluster.Ref{web}
		e, err := l.Effect(t.Context(), c.act)
		change := e.Changes[web]
		got := fmt.Sprintf("%s step %d of %d: %d pods, %d of %d, from %s\n", change.Transition, change.At, change.Steps, change.Pods, change.Updated, change.Total, change.From) + strings.Join(e.Lines, "\n")
		if err != nil {
			got = "error: " + err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %q, want %q", c.act.Verb, c.act.Value, got, c.want)
		}
	}
	if wrote := a.written()[before:]; len(wrote) > 0 {
		t.Errorf("something was written: %q", wrote)
	}
}

// TestActions_PauseAndPromote: an action shows in the state of the workload, and a paused rollout
// continues in this process once it is promoted.
func TestActions_PauseAndPromote(t *testing.T) {
	a := shop(t)
	l := seeing(t, a, "shop", "")
	rolling(t, l)
	until(t, l, world.Want{}, "a rollout", func(w *world.World) bool { return w.Loaded && w.Find(web).Steps > 0 })
	held(a, "ben@there")
	said, err := l.Do(t.Context(), world.Act{Verb: world.PauseResume, On: []cluster.Ref{web}})
	if err != nil || !strings.Contains(said, "no further pod is updated") {
		t.Fatalf("%q, %v", said, err)
	}
	until(t, l, world.Want{}, "a pause", func(w *world.World) bool {
		return strings.Contains(w.Find(web).Why, "on hold") || w.Find(web).Health == world.Paused
	})
	held(a, "")
	said, err = l.Do(t.Context(), world.Act{Verb: world.Promote, On: []cluster.Ref{web}})
	if err != nil || !strings.Contains(said, "the rollout is run here") {
		t.Fatalf("%q, %v", said, err)
	}
	until(t, l, world.Want{}, "a rollout that is carried out here", func(w *world.World) bool { return slices.Contains(w.Running, web) })
	until(t, l, world.Want{}, "the next step", func(*world.World) bool {
		return slices.ContainsFunc(a.written(), func(text string) bool {
			return strings.HasPrefix(text, "PATCH /apis/apps.kruise.io/v1beta1/namespaces/shop/clonesets/web ") && strings.Contains(text, `"partition":0`)
		})
	})
	l.Close()
	if got := l.live.Driving(); len(got) > 0 {
		t.Errorf("it is carried out still: %v", got)
	}
}

// TestActions_ScaleAnIdleWorkload: a workload without a rollout is scaled by its subresource, and only
// while it is the very object.
func TestActions_ScaleAnIdleWorkload(t *testing.T) {
	a := shop(t)
	l := seeing(t, a, "shop", "")
	act := world.Act{Verb: world.Scale, On: []cluster.Ref{web}, Value: "3"}
	if e, err := l.Effect(t.Context(), act); err != nil || e.Changes[web].Was != "2" || e.Changes[web].Becomes != "3" {
		t.Fatalf("%+v, %v", e, err)
	}
	if _, err := l.Do(t.Context(), act); err != nil {
		t.Fatal(err)
	}
	want := `PATCH /apis/apps.kruise.io/v1beta1/namespaces/shop/clonesets/web/scale {"metadata":{"uid":"web"},"spec":{"replicas":3}}`
	if !slices.Contains(a.written(), want) {
		t.Errorf("%q", a.written())
	}
}

// TestActions_RefuseWhatHasChangedSinceConfirmation: what has changed its meaning since the question was asked is not
// done: pausing would have it go on, and promoting would let another step go.
func TestActions_RefuseWhatHasChangedSinceConfirmation(t *testing.T) {
	a := shop(t)
	l := seeing(t, a, "shop", "")
	rolling(t, l)
	records := kube.Records{Client: l.core, StateNamespace: "kruise"}
	for verb, change := range map[world.Verb]func(*plan.Progress){
		world.PauseResume: func(p *plan.Progress) { p.PausedBy = "by a colleague" },
		world.Promote:     func(p *plan.Progress) { p.Step++ },
		world.Undo:        func(p *plan.Progress) { p.Finished = time.Unix(9, 0) },
	} {
		act := world.Act{Verb: verb, On: []cluster.Ref{web}}
		e, err := l.Effect(t.Context(), act)
		if err != nil {
			t.Fatal(err)
		}
		var was plan.Progress
		write := func(f func(*plan.Progress)) {
			if _, err := records.Change(t.Context(), web, "a colleague", func(r *plan.Record) error {
				f(&r.Progress)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		write(func(p *plan.Progress) { was = *p; change(p) })
		act.Precondition = e.Precondition
		before := len(a.written())
		if _, err := l.Do(t.Context(), act); err == nil || !strings.Contains(err.Error(), "has changed since the question") && verb != world.Undo {
			t.Errorf("%s: %v", verb, err)
		}
		if wrote := a.written()[before:]; len(wrote) > 0 {
			t.Errorf("%s: something was written: %q", verb, wrote)
		}
		write(func(p *plan.Progress) { *p = was })
	}
}
