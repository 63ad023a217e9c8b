package controller

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const cloneSetYAML = `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]}
  scaleStrategy: {}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1}}
`

func newCloneSet(t *testing.T, edits ...string) *lab {
	t.Helper()
	l := newLab(t, edited(cloneSetYAML, edits...))
	l.settle()
	l.seconds(3)
	l.did()
	return l
}

func (l *lab) cloneSet() kruise.CloneSetStatus { return l.w.Object.(*kruise.CloneSet).Status }

// acts keeps what is done to pods and claims, and shortens it.
func acts(log string) string {
	var out []string
	for second := range strings.SplitSeq(log, "; ") {
		var kept []string
		for entry := range strings.SplitSeq(second, ", ") {
			word, _, _ := strings.Cut(entry, " ")
			if slices.Contains([]string{"", "set", "state", "gone", "image"}, word) {
				continue
			}
			kept = append(kept, strings.ReplaceAll(strings.Replace(entry, "patch", "mark", 1), "web-0000", ""))
		}
		if len(kept) > 0 {
			out = append(out, strings.Join(kept, ", "))
		}
	}
	return strings.Join(out, "; ")
}

// follow writes a changed object, and says what is done in each second.
func (l *lab) follow(seconds int, text string) string {
	l.t.Helper()
	l.write(text)
	l.settle()
	first := l.did()
	return acts(first + "; " + l.rest(seconds))
}

// TestCloneSet_WorkedExamples replays the worked examples of docs/kruise/workloads.md#worked-examples; pods
// that tie come in the order of their names.
func TestCloneSet_WorkedExamples(t *testing.T) {
	recreate := []string{"InPlaceIfPossible", "ReCreate"}
	image := []string{"web:1", "web:2"}
	for _, c := range []struct {
		name    string
		given   []string
		then    []string
		seconds int
		want    string
		images  string
	}{
		{
			"1 basic in place",
			[]string{"replicas: 3", "replicas: 5", "maxUnavailable: 1", "maxUnavailable: 40%"},
			image, 5,
			"inPlace 1, inPlace 2; inPlace 3, inPlace 4; inPlace 5", "web-00001=2 web-00002=2 web-00003=2 web-00004=2 web-00005=2",
		},
		{
			"nothing to do", nil,
			[]string{"maxUnavailable: 1", "maxUnavailable: 2"},
			2,
			"", "web-00001=1 web-00002=1 web-00003=1",
		},
		{
			"2 surge rounds down", append(recreate, "maxUnavailable: 1", "maxUnavailable: 20%, maxSurge: 1"), image, 5,
			"create 4 2; mark 1, delete 1, create 5 2; mark 2, delete 2, create 6 2; delete 3", "web-00004=2 web-00005=2 web-00006=2",
		},
		{
			"surge in place",
			[]string{"maxUnavailable: 1", "maxUnavailable: 1, maxSurge: 1"},
			image, 5,
			"create 4 2, inPlace 1; inPlace 2, delete 3", "web-00001=2 web-00002=2 web-00004=2",
		},
		{
			"4 partition in percent",
			[]string{"replicas: 3", "replicas: 5", "maxUnavailable: 1", "maxUnavailable: 5, partition: 99%"},
			image, 3,
			"inPlace 1", "web-00001=2 web-00002=1 web-00003=1 web-00004=1 web-00005=1",
		},
		{
			"partition 100%",
			[]string{"maxUnavailable: 1", "maxUnavailable: 1, partition: 100%"},
			image, 3,
			"", "web-00001=1 web-00002=1 web-00003=1",
		},
		{
			"paused", nil, append(image, "maxUnavailable: 1", "maxUnavailable: 1, paused: true"), 3,
			"", "web-00001=1 web-00002=1 web-00003=1",
		},
		{
			"11 recreation under a partition", append(recreate, "replicas: 3", "replicas: 4", "maxUnavailable: 1", "maxUnavailable: 1, partition: 2"), image, 6,
			"mark 1, delete 1, create 5 2; mark 2, delete 2, create 6 2", "web-00003=1 web-00004=1 web-00005=2 web-00006=2",
		},
		{
			"12 surge only",
			[]string{
				"v1beta1", "v1alpha1", "replicas: 3", "replicas: 4",
				"{rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1}}", "{maxUnavailable: 0, maxSurge: 2}",
			},
			image, 7,
			"create 5 2, create 6 2; mark 1, mark 2, delete 1, delete 2, create 7 2, create 8 2; delete 3, delete 4", "web-00005=2 web-00006=2 web-00007=2 web-00008=2",
		},
		{
			"scale up in steps",
			[]string{"{}", "{maxUnavailable: 2}"},
			[]string{"replicas: 3", "replicas: 8"},
			6,
			"create 4 1, create 5 1; create 6 1, create 7 1; create 8 1",
			"web-00001=1 web-00002=1 web-00003=1 web-00004=1 web-00005=1 web-00006=1 web-00007=1 web-00008=1",
		},
		{
			"scale down", nil,
			[]string{"replicas: 3", "replicas: 1"},
			3,
			"delete 1, delete 2", "web-00003=1",
		},
		{
			"to nothing", nil,
			[]string{"replicas: 3", "replicas: 0"},
			3,
			"delete 1, delete 2, delete 3", "",
		},
		{
			"image and size at once", nil, append(image, "replicas: 3", "replicas: 4"), 5,
			"create 4 2; inPlace 1; inPlace 2; inPlace 3", "web-00001=2 web-00002=2 web-00003=2 web-00004=2",
		},
		{
			"env cannot change in place", nil,
			[]string{`image: "web:1"`, `image: "web:1", env: [{name: A, value: b}]`, "replicas: 3", "replicas: 1"},
			4,
			"delete 1, delete 2, mark 3, delete 3, create 4 1", "web-00004=1",
		},
		{
			"recreation", recreate, image, 6,
			"mark 1, delete 1, create 4 2; mark 2, delete 2, create 5 2; mark 3, delete 3, create 6 2", "web-00004=2 web-00005=2 web-00006=2",
		},
		{
			"OnDelete", nil, append(image, "{rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1}}", "{type: OnDelete}"), 3,
			"", "web-00001=1 web-00002=1 web-00003=1",
		},
		{
			"InPlaceOnly and possible",
			[]string{"InPlaceIfPossible", "InPlaceOnly"},
			image, 5,
			"inPlace 1; inPlace 2; inPlace 3", "web-00001=2 web-00002=2 web-00003=2",
		},
		{
			"InPlaceOnly and impossible",
			[]string{"InPlaceIfPossible", "InPlaceOnly"},
			[]string{`image: "web:1"`, `image: "web:2", env: [{name: A, value: b}]`},
			3,
			"", "web-00001=1 web-00002=1 web-00003=1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newCloneSet(t, c.given...)
			got := l.follow(c.seconds, edited(edited(cloneSetYAML, c.given...), c.then...))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("did (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.images, l.images()); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCloneSet_Unfinished(t *testing.T) {
	small := []string{"maxUnavailable: 1", "maxUnavailable: 1, partition: 1"}
	l := newCloneSet(t, small...)
	l.follow(3, edited(edited(cloneSetYAML, small...), "web:1", "web:2"))
	if got, want := l.images(), "web-00001=2 web-00002=2 web-00003=1"; got != want {
		t.Fatalf("under partition 1: %s, want %s", got, want)
	}
	for _, c := range []struct {
		name, text, want, images string
	}{
		{"a raised partition takes nothing back", edited(cloneSetYAML, "web:1", "web:2", small[0], "maxUnavailable: 1, partition: 3"), "", "web-00001=2 web-00002=2 web-00003=1"},
		{"5 an undo leaves as many as the partition keeps", edited(cloneSetYAML, small...), "inPlace 2", "web-00001=2 web-00002=1 web-00003=1"},
		{"8 missing pods are new ones", edited(cloneSetYAML, "web:1", "web:2", small[0], small[1], "replicas: 3", "replicas: 5"), "create 4 2, create 5 2", "web-00001=2 web-00002=2 web-00003=1 web-00004=2 web-00005=2"},
		{"8 a percentage rises with the size", edited(cloneSetYAML, "web:1", "web:2", small[0], "maxUnavailable: 1, partition: 60%", "replicas: 3", "replicas: 5"), "create 4 1, create 5 1", "web-00001=2 web-00002=2 web-00003=1 web-00004=1 web-00005=1"},
		{"a third template under the partition", edited(cloneSetYAML, "web:1", "web:3", small[0], small[1]), "inPlace 2; inPlace 1", "web-00001=3 web-00002=3 web-00003=1"},
		{"partition 0", edited(cloneSetYAML, "web:1", "web:2"), "inPlace 3", "web-00001=2 web-00002=2 web-00003=2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := *l
			l.t, l.pods, l.revisions = t, slices.Clone(l.pods), slices.Clone(l.revisions)
			if got := l.follow(3, c.text); got != c.want || l.images() != c.images {
				t.Errorf("did %q, want %q; pods %s, want %s", got, c.want, l.images(), c.images)
			}
		})
	}
}

func TestCloneSet_Undo(t *testing.T) {
	l := newCloneSet(t)
	first := l.cloneSet().UpdateRevision
	l.follow(1, edited(cloneSetYAML, "web:1", "web:2"))
	if got, want := l.follow(4, cloneSetYAML), "inPlace 2, inPlace 1"; got != want {
		t.Errorf("the undo did %q, want %q: what is under way comes first", got, want)
	}
	if s := l.cloneSet(); s.UpdateRevision != first || s.CurrentRevision != first || s.UpdatedAvailableReplicas != 3 {
		t.Errorf("after the undo: %+v, want the first revision %s again", s, first)
	}
	if got, want := l.images(), "web-00001=1 web-00002=1 web-00003=1"; got != want {
		t.Errorf("pods %s, want %s", got, want)
	}
	if len(l.revisions) != 2 || l.revisions[0].Name != first || l.revisions[0].Number != 3 {
		t.Errorf("revisions: %+v", l.revisions)
	}
}

func TestCloneSet_RollbackGate(t *testing.T) {
	half := []string{"maxUnavailable: 1", "maxUnavailable: 1, partition: 1"}
	l := newCloneSet(t, half...)
	l.gates.CloneSetPartitionRollback = true
	l.follow(3, edited(edited(cloneSetYAML, half...), "web:1", "web:2"))
	got := l.follow(3, edited(cloneSetYAML, "web:1", "web:2", half[0], "maxUnavailable: 1, partition: 2"))
	if want := "inPlace 2"; got != want {
		t.Errorf("6 the raised partition did %q, want %q", got, want)
	}
	if got, want := l.images(), "web-00001=2 web-00002=1 web-00003=1"; got != want {
		t.Errorf("pods %s, want %s", got, want)
	}
}

func TestCloneSet_BrokenPods(t *testing.T) {
	l := newCloneSet(t, "replicas: 3", "replicas: 5", "maxUnavailable: 1", "maxUnavailable: 2")
	for _, name := range []string{"web-00002", "web-00004", "web-00005"} {
		l.broken[name] = true
	}
	l.second()
	l.did()
	text := edited(cloneSetYAML, "web:1", "web:2", "replicas: 3", "replicas: 5", "maxUnavailable: 1", "maxUnavailable: 2")
	if got, want := l.follow(2, text), "inPlace 2, inPlace 4"; got != want {
		t.Errorf("7 of three broken pods %q go first, want %q", got, want)
	}
	l.broken = map[string]bool{}
	if got, want := acts(l.rest(3)), "inPlace 5, inPlace 1; inPlace 3"; got != want {
		t.Errorf("once they are well %q, want %q", got, want)
	}
}

func TestCloneSet_MarkedPods(t *testing.T) {
	marked := cluster.PodChange{Labels: map[string]*string{kruise.SpecifiedDeleteLabel: new("true")}}
	l := newCloneSet(t, "replicas: 3", "replicas: 5")
	for _, name := range []string{"web-00001", "web-00003", "web-00004"} {
		l.edit(name, marked)
	}
	l.settle()
	first := l.did()
	if got, want := acts(first+"; "+l.rest(4)), "delete 1, create 6 1; delete 3, create 7 1; delete 4, create 8 1"; got != want {
		t.Errorf("10 marked pods: %q, want %q", got, want)
	}
	l.edit("web-00002", marked)
	if got, want := l.follow(2, edited(cloneSetYAML, "replicas: 3", "replicas: 4")), "delete 2"; got != want {
		t.Errorf("10 marked while replicas are lowered: %q, want %q", got, want)
	}
}

func TestCloneSet_PodsToDelete(t *testing.T) {
	l := newCloneSet(t)
	named := edited(cloneSetYAML, "{}", "{podsToDelete: [web-00003, web-00001, web-00009]}")
	got := l.follow(4, named)
	want := "delete 1, podsToDelete [3 1], create 4 1, podsToDelete [3]; delete 3, create 5 1, podsToDelete []"
	if got != want {
		t.Errorf("named pods: %q, want %q", got, want)
	}
	if s := l.cloneSet(); s.ObservedGeneration != l.w.Generation || l.w.Generation != 5 {
		t.Errorf("generation %d, observed %d: each name that is taken out is a change of the spec", l.w.Generation, s.ObservedGeneration)
	}
}

func TestCloneSet_IsRefused(t *testing.T) {
	l := newCloneSet(t, "maxUnavailable: 1", "maxUnavailable: 3")
	l.refused["web-00002"] = true
	l.write(edited(cloneSetYAML, "web:1", "web:2", "maxUnavailable: 1", "maxUnavailable: 3"))
	l.pass()
	l.pass()
	if got, want := acts(l.did()), "inPlace 1, refuse 2, refuse 2"; got != want {
		t.Errorf("did %q: the pass ends at the first refusal, want %q", got, want)
	}
	for _, a := range l.asks() {
		if !a.Permit {
			t.Errorf("the update of %s does not ask the budgets", a.Pod.Name)
		}
	}
}

// asks are the updates of pods that the next pass wants.
func (l *lab) asks() (out []PatchPod) {
	p, err := Reconcile(&View{Now: l.now, Workload: l.w, Revisions: l.revisions, Pods: l.pods, Gates: l.gates})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, a := range p.Actions {
		if a, ok := a.(PatchPod); ok {
			out = append(out, a)
		}
	}
	if len(out) == 0 {
		l.t.Fatal("the controller wants nothing")
	}
	return out
}

func TestCloneSet_NewPod(t *testing.T) {
	l := newLab(t, cloneSetYAML)
	var made CreatePod
	p, err := Reconcile(&View{Now: l.now, Workload: l.w})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range p.Actions {
		if a, ok := a.(CreatePod); ok {
			made = a
		}
	}
	want := CreatePod{
		Prefix: "web-", IDLabels: []string{"apps.kruise.io/cloneset-instance-id"}, Revision: "web-7569fd794f",
		Labels: map[string]string{
			"controller-revision-hash": "web-7569fd794f", "pod-template-hash": "7569fd794f", "lifecycle.apps.kruise.io/state": "PreparingNormal",
		},
		Annotations: map[string]string{"lifecycle.apps.kruise.io/timestamp": "2026-07-01T12:00:00Z"},
		Gates:       []string{"InPlaceUpdateReady"},
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("a new pod (-want +got):\n%s", diff)
	}
	l.settle()
	l.second()
	for _, p := range l.pods {
		if c, _ := p.Condition("InPlaceUpdateReady"); c.Status != corev1.ConditionTrue || p.Labels["lifecycle.apps.kruise.io/state"] != "Normal" {
			t.Errorf("pod %s is not let ready: %v %v", p.Name, p.Conditions, p.Labels)
		}
	}
}

// TestCloneSet_ScaleUpLimited: the event comes also when no pod at all may be made.
func TestCloneSet_ScaleUpLimited(t *testing.T) {
	for unavailable, want := range map[string]string{"1": "lets 0 be created now", "2": "lets 1 be created now", "3": ""} {
		l := newCloneSet(t)
		l.broken["web-00001"] = true
		l.second()
		l.write(edited(cloneSetYAML, "replicas: 3", "replicas: 5", "{}", "{maxUnavailable: "+unavailable+"}"))
		said := ""
		for _, a := range l.pass().Actions {
			if e, ok := a.(Event); ok && e.Reason == "ScaleUpLimited" {
				said = e.Message
			}
		}
		if !strings.Contains(said, want) || (said == "") != (want == "") {
			t.Errorf("%s: %q", unavailable, said)
		}
	}
}
