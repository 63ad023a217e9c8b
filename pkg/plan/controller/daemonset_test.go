package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const daemonYAML = `
apiVersion: apps.kruise.io/v1beta1
kind: DaemonSet
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {TYPE}}
  OTHER: null
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]}
`

// newDaemons is a DaemonSet that is up on n nodes, n1, n2 …, its pods named
// after their order.
func newDaemons(t *testing.T, n int, edits ...string) *lab {
	t.Helper()
	l := newLab(t, edited(daemonYAML, edits...))
	for i := range n {
		l.node(fmt.Sprintf("n%d", i+1), nil)
	}
	l.settle()
	l.seconds(2)
	l.did()
	return l
}

func (l *lab) node(name string, labels map[string]string, taints ...corev1.Taint) {
	if l.nodes == nil {
		l.nodes = map[string]*cluster.Node{}
	}
	l.nodes[name] = &cluster.Node{Name: name, Labels: labels, Taints: taints}
}

func (l *lab) daemons() kruise.DaemonSetStatus { return l.w.Object.(*kruise.DaemonSet).Status }

// rollout lets seconds pass until nothing happens any more, and says what did,
// second by second.
func (l *lab) rollout() []string {
	l.t.Helper()
	var out []string
	for quiet := 0; quiet < 3; {
		l.second()
		if did := l.did(); did != "" {
			out, quiet = append(out, did), 0
		} else {
			quiet++
		}
	}
	return out
}

func TestDaemonSet_CreatesPods(t *testing.T) {
	l := newLab(t, daemonYAML)
	for _, name := range []string{"n2", "n1"} {
		l.node(name, nil)
	}
	l.settle()
	if diff := cmp.Diff("create web-00001 1, create web-00002 1", l.did()); diff != "" {
		t.Error(diff)
	}
	hash := cluster.Hash(l.revisions[0].Name)
	want := &cluster.Pod{
		Namespace: "default", Name: "web-00001", UID: "p1", Created: labStart, Phase: corev1.PodPending, Node: "n1",
		Labels: map[string]string{"app": "web", "controller-revision-hash": hash}, Annotations: map[string]string{},
		Owner:      cluster.Owner{Kind: "DaemonSet", Name: "web", UID: "w"},
		Containers: []cluster.Container{{Name: "main", Image: "web:1"}}, InitContainers: []cluster.Container{},
	}
	if diff := cmp.Diff(want, l.pods[0]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(kruise.DaemonSetStatus{
		DesiredNumberScheduled: 2, CurrentNumberScheduled: 2, UpdatedNumberScheduled: 2, NumberUnavailable: 2, ObservedGeneration: 1, UpdateRevision: hash,
	}, l.daemons()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	l.second()
	if diff := cmp.Diff(kruise.DaemonSetStatus{
		DesiredNumberScheduled: 2, CurrentNumberScheduled: 2, UpdatedNumberScheduled: 2, NumberReady: 2, NumberAvailable: 2, ObservedGeneration: 1, UpdateRevision: hash,
	}, l.daemons()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestDaemonSet_Rollouts runs whole rollouts; chance takes the first that may come.
func TestDaemonSet_Rollouts(t *testing.T) {
	for _, c := range []struct {
		name  string
		edits []string
		want  []string
	}{
		{"201: one after the other", nil, []string{
			"gone web-00003, create web-00004 2", "delete web-00002", "gone web-00002, create web-00005 2",
			"delete web-00001", "gone web-00001, create web-00006 2",
		}},
		{"202: half of three, rounded up", []string{"TYPE", "maxUnavailable: 50%"}, []string{
			"gone web-00002, gone web-00003, create web-00004 2, create web-00005 2",
			"delete web-00001", "gone web-00001, create web-00006 2",
		}},
		{"203: partition", []string{"TYPE", "partition: 2"}, []string{"gone web-00003, create web-00004 2"}},
		{"205: surge", []string{"TYPE", "maxSurge: 1"}, []string{
			"delete web-00003, create web-00005 2", "gone web-00003, delete web-00002, create web-00006 2",
			"gone web-00002, delete web-00001", "gone web-00001",
		}},
		{"207: in place", []string{"TYPE", "rollingUpdateType: InPlaceIfPossible"}, []string{
			"set web-00003 InPlaceUpdateReady=True, set web-00002 InPlaceUpdateReady=False, inPlace web-00002, image web-00002 2",
			"set web-00002 InPlaceUpdateReady=True, set web-00001 InPlaceUpdateReady=False, inPlace web-00001, image web-00001 2",
			"set web-00001 InPlaceUpdateReady=True",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			edits := c.edits
			if edits == nil {
				edits = []string{"TYPE", "partition: 0"}
			}
			l := newDaemons(t, 3, edits...)
			l.write(edited(daemonYAML, append(edits, "web:1", "web:2")...))
			l.settle()
			l.did()
			if diff := cmp.Diff(c.want, l.rollout()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			kept := 0
			if strings.HasPrefix(c.name, "203") {
				kept = 2
			}
			if s := l.daemons(); int(s.UpdatedNumberScheduled) != 3-kept || s.NumberAvailable != 3 || s.NumberUnavailable != 0 {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// TestDaemonSet_FirstPassOfAnUpdate looks at the very first round of an update.
func TestDaemonSet_FirstPassOfAnUpdate(t *testing.T) {
	for _, c := range []struct {
		name  string
		edits []string
		setUp func(*lab)
		want  string
	}{
		{"one of three", nil, nil, "delete web-00003"},
		{"paused", []string{"TYPE", "paused: true"}, nil, ""},
		{"OnDelete", []string{"{rollingUpdate: {TYPE}}", "{type: OnDelete}"}, nil, ""},
		{"everything", []string{"TYPE", "maxUnavailable: 100%"}, nil, "delete web-00003, delete web-00002, delete web-00001"},
		{"as far as the burst goes", []string{"TYPE", "maxUnavailable: 100%", "OTHER: null", "burstReplicas: 2"}, nil, "delete web-00003, delete web-00002"},
		{"204: a selector", []string{"TYPE", "selector: {matchLabels: {canary: 'yes'}}"}, func(l *lab) {
			l.node("n2", map[string]string{"canary": "yes"})
		}, "delete web-00002"},
		{"212: a broken pod goes outside the budget, and first", nil, func(l *lab) { l.breaks("web-00001") }, "delete web-00001, delete web-00003"},
		{"under surge it gets a neighbour", []string{"TYPE", "maxSurge: 1"}, func(l *lab) { l.breaks("web-00001") }, "create web-00004 2, create web-00005 2"},
		{"in place, but for a pod from before", []string{"TYPE", "rollingUpdateType: InPlaceIfPossible"}, func(l *lab) {
			l.replace("p3", func(p *cluster.Pod) *cluster.Pod { q := *p; q.ReadinessGates = nil; return &q })
		}, "delete web-00003"},
		{"213: held by a hook", []string{"OTHER: null", "lifecycle: {preDelete: {labelsHandler: {hold: 'yes'}}}"}, func(l *lab) {
			for _, p := range l.pods {
				l.edit(p.Name, cluster.PodChange{Labels: map[string]*string{"hold": new("yes")}})
			}
		}, "state web-00003 PreparingDelete"},
		{"which takes it out of service", []string{"OTHER: null", "lifecycle: {preDelete: {labelsHandler: {hold: 'yes'}, markPodNotReady: true}}"}, func(l *lab) {
			for _, p := range slices.Clone(l.pods) {
				l.replace(p.UID, func(p *cluster.Pod) *cluster.Pod {
					q := *p.With(cluster.PodChange{Labels: map[string]*string{"hold": new("yes")}, Conditions: []cluster.Condition{cluster.SetTo(kruise.KruisePodReady, corev1.ConditionTrue, "", "")}}, l.now)
					q.ReadinessGates = []string{kruise.KruisePodReady}
					return &q
				})
			}
		}, "set web-00003 KruisePodReady=False, state web-00003 PreparingDelete"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newDaemons(t, 3, c.edits...)
			if c.setUp != nil {
				c.setUp(l)
			}
			l.did()
			l.write(edited(daemonYAML, append(slices.Clone(c.edits), "web:1", "web:2")...))
			l.pass()
			if got := l.did(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// breaks takes a pod's readiness, and keeps it.
func (l *lab) breaks(name string) {
	l.broken[name] = true
	l.second()
}

// TestDaemonSet_ReleasedHookUpdatesWhilePaused: a held pod uses the budget up; once it is released
// it goes, also while the update is paused (213).
func TestDaemonSet_ReleasedHookUpdatesWhilePaused(t *testing.T) {
	edits := []string{"TYPE", "paused: false", "OTHER: null", "lifecycle: {preDelete: {labelsHandler: {hold: 'yes'}}}"}
	l := newDaemons(t, 3, edits...)
	for _, p := range l.pods {
		l.edit(p.Name, cluster.PodChange{Labels: map[string]*string{"hold": new("yes")}})
	}
	l.write(edited(daemonYAML, append(edits, "web:1", "web:2")...))
	l.settle()
	l.did()
	if got := l.rollout(); got != nil {
		t.Errorf("while it is held: %q", got)
	}
	edits[1] = "paused: true"
	l.write(edited(daemonYAML, append(edits, "web:1", "web:2")...))
	l.edit("web-00003", cluster.PodChange{Labels: map[string]*string{"hold": nil}})
	l.settle()
	if diff := cmp.Diff([]string{"delete web-00003, gone web-00003, create web-00004 2"}, l.rollout()); diff != "" {
		t.Errorf("released: %s", diff)
	}
}

// TestDaemonSet_InPlaceRecord is what an update writes on the pod: the short hash
// everywhere, and no lifecycle state (docs/kruise/workloads.md#steps-on-the-pod).
func TestDaemonSet_InPlaceRecord(t *testing.T) {
	edits := []string{"TYPE", "rollingUpdateType: InPlaceIfPossible"}
	l := newDaemons(t, 1, edits...)
	before := l.pod("web-00001")
	l.write(edited(daemonYAML, append(edits, "web:1", "web:2")...))
	l.pass()
	hash := cluster.Hash(l.revisions[1].Name)
	p := l.pod("web-00001")
	record := `{"revision":"` + hash + `","updateTimestamp":"2026-07-01T12:00:02Z","lastContainerStatuses":{"main":{"imageID":"sha256:web:1"}},"updateImages":true,"containerBatchesRecord":[{"timestamp":"2026-07-01T12:00:02Z","containers":["main"]}]}`
	if got := p.Annotations[kruise.InPlaceUpdateStateAnnotation]; got != record {
		t.Errorf("record %s", got)
	}
	if diff := cmp.Diff(map[string]string{"app": "web", "controller-revision-hash": hash}, p.Labels); diff != "" {
		t.Error(diff)
	}
	if before.Labels["controller-revision-hash"] == hash {
		t.Error("the pod of before was changed")
	}
}

// TestDaemonSet_EnvChangeRecreates: what cannot be done in place is recreated (207).
func TestDaemonSet_EnvChangeRecreates(t *testing.T) {
	edits := []string{"TYPE", "rollingUpdateType: InPlaceIfPossible"}
	l := newDaemons(t, 1, edits...)
	l.write(edited(daemonYAML, append(edits, `"web:1"`, `"web:1", env: [{name: A, value: b}]`)...))
	l.pass()
	if got := l.did(); got != "delete web-00001" {
		t.Errorf("%q", got)
	}
}

// TestDaemonSet_NextPodWaitsForMinReadySeconds: the next pod waits, and the controller comes back by
// itself (214).
func TestDaemonSet_NextPodWaitsForMinReadySeconds(t *testing.T) {
	edits := []string{"OTHER: null", "minReadySeconds: 5"}
	l := newDaemons(t, 2, edits...)
	l.seconds(6)
	l.write(edited(daemonYAML, append(edits, "web:1", "web:2")...))
	l.settle()
	l.second() // gone, and made again
	pass := l.second()
	if pass.RequeueAfter <= 4*time.Second || pass.RequeueAfter > 5*time.Second+time.Millisecond {
		t.Errorf("again %v", pass.RequeueAfter)
	}
	if s := l.daemons(); s.NumberReady != 2 || s.NumberAvailable != 1 || s.NumberUnavailable != 1 {
		t.Errorf("status %+v", s)
	}
	l.did()
	for range 5 {
		l.second()
	}
	if got := l.did(); got != "" {
		t.Errorf("too early: %q", got)
	}
	l.second()
	if got := l.did(); got != "delete web-00001" {
		t.Errorf("then: %q", got)
	}
}

// TestDaemonSet_StatusOfOldest: while a new pod runs beside the old one, the old one counts (205,
// 206).
func TestDaemonSet_StatusOfOldest(t *testing.T) {
	edits := []string{"TYPE", "maxSurge: 1"}
	l := newDaemons(t, 2, edits...)
	l.write(edited(daemonYAML, append(edits, "web:1", "web:2")...))
	l.settle()
	l.pass()
	if s := l.daemons(); s.UpdatedNumberScheduled != 0 || s.NumberAvailable != 2 || s.CurrentNumberScheduled != 2 || s.NumberUnavailable != 0 {
		t.Errorf("status %+v", s)
	}
	l.now = l.now.Add(time.Second)
	l.kubelet()
	l.settle()
	if s := l.daemons(); s.UpdatedNumberScheduled != 0 || s.NumberAvailable != 2 {
		t.Errorf("while the old pod terminates: %+v", s)
	}
}

// TestDaemonSet_Nodes: nodes join and leave (211).
func TestDaemonSet_Nodes(t *testing.T) {
	edits := []string{"TYPE", "partition: 2", "containers:", "nodeSelector: {pool: a}, containers:"}
	l := newLab(t, edited(daemonYAML, edits...))
	l.node("n1", map[string]string{"pool": "a"})
	l.node("n2", map[string]string{"pool": "b"})
	l.settle()
	l.seconds(2)
	if got := l.did(); got != "create web-00001 1" {
		t.Errorf("%q", got)
	}
	l.node("n2", map[string]string{"pool": "a"})
	l.settle()
	if got := l.did(); got != "create web-00002 1" {
		t.Errorf("a node joins: %q", got)
	}
	l.write(edited(daemonYAML, append(edits, "web:1", "web:2")...))
	l.node("n3", map[string]string{"pool": "a"})
	l.settle()
	l.seconds(2)
	if got := l.did(); got != "create web-00003 2" {
		t.Errorf("a node joins under the partition: %q", got)
	}
	l.node("n1", nil)
	delete(l.nodes, "n2")
	l.settle()
	l.seconds(2)
	if got := l.did(); got != "delete web-00001, delete web-00002, gone web-00001, gone web-00002" {
		t.Errorf("two nodes leave: %q", got)
	}
	if s := l.daemons(); s.DesiredNumberScheduled != 1 || s.NumberMisscheduled != 0 || s.UpdatedNumberScheduled != 1 {
		t.Errorf("status %+v", s)
	}
}

// TestDaemonSet_ProgressiveAnnotation is case 217.
func TestDaemonSet_ProgressiveAnnotation(t *testing.T) {
	edits := []string{"TYPE", "partition: 3", "OTHER: null", "scaleStrategy: {partitionedScaling: true}"}
	l := newLab(t, edited(daemonYAML, edits...))
	for i := range 5 {
		l.node(fmt.Sprintf("n%d", i+1), nil)
	}
	// The partition is of what the status says, which the first pass writes.
	l.w.Object.(*kruise.DaemonSet).Status.DesiredNumberScheduled = 5
	for _, step := range []struct{ partition, want string }{
		{"partition: 3", "create web-00001 1, create web-00002 1"}, {"partition: 1", "create web-00003 1, create web-00004 1"}, {"partition: 0", "create web-00005 1"},
	} {
		edits[1] = step.partition
		l.write(edited(daemonYAML, edits...))
		l.settle()
		if got := l.did(); got != step.want {
			t.Errorf("%s: %q, want %q", step.partition, got, step.want)
		}
		l.second()
	}
}

// TestDaemonSet_ReplacesFailedAndDuplicatePods: failed pods and duplicates go, those that are deleted by
// hand come back at the newest revision, also under OnDelete (209, 210).
func TestDaemonSet_ReplacesFailedAndDuplicatePods(t *testing.T) {
	l := newDaemons(t, 2, "{rollingUpdate: {TYPE}}", "{type: OnDelete}")
	l.write(edited(daemonYAML, "{rollingUpdate: {TYPE}}", "{type: OnDelete}", "web:1", "web:2"))
	l.settle()
	l.delete(l.pod("web-00001"))
	l.settle()
	l.seconds(2)
	if got := l.did(); got != "delete web-00001, gone web-00001, create web-00003 2" {
		t.Errorf("deleted by hand: %q", got)
	}
	l.replace(l.pod("web-00002").UID, func(p *cluster.Pod) *cluster.Pod { q := *p; q.Phase = corev1.PodFailed; return &q })
	l.pass()
	if got := l.did(); got != "delete web-00002" {
		t.Errorf("failed: %q", got)
	}
}

// TestDaemonSet_UndoRenumbersTheRevision: the revision of before gets a new number (215).
func TestDaemonSet_UndoRenumbersTheRevision(t *testing.T) {
	l := newDaemons(t, 2, "TYPE", "partition: 1")
	l.write(edited(daemonYAML, "TYPE", "partition: 1", "web:1", "web:2"))
	l.settle()
	l.seconds(3)
	l.did()
	l.write(edited(daemonYAML, "TYPE", "partition: 1"))
	l.settle()
	if got := l.did(); got != "" || l.daemons().UpdatedNumberScheduled != 1 {
		t.Errorf("%q, status %+v", got, l.daemons())
	}
	if len(l.revisions) != 2 || l.revisions[0].Number != 3 || l.revisions[1].Number != 2 {
		t.Errorf("revisions %+v", l.revisions)
	}
	l.write(edited(daemonYAML, "TYPE", "partition: 0"))
	l.settle()
	if got := l.did(); got != "delete web-00003" {
		t.Errorf("%q", got)
	}
}

type chance func(n int) int

func (c chance) Below(n int) int { return c(n) }

func TestDaemonSet_ChoosesAtRandom(t *testing.T) {
	l := newDaemons(t, 4)
	pods := slices.Clone(l.pods)
	picks := []int{3, 0, 1}
	s := &daemonSet{view: &View{Chance: chance(func(n int) int {
		pick := picks[0]
		picks = picks[1:]
		if pick >= n {
			t.Errorf("%d of %d", pick, n)
		}
		return pick
	})}}
	var got []string
	for _, p := range s.pickRandom(pods, 3) {
		got = append(got, p.Name)
	}
	if diff := cmp.Diff([]string{"web-00004", "web-00002", "web-00001"}, got); diff != "" {
		t.Error(diff)
	}
}

const nativeDaemonYAML = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web, annotations: {deprecated.daemonset.template.generation: "1"}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]}
`

// TestNativeDaemonSet_Rollouts: the rules are the same; an older mark of updated pods
// does not stop the update.
func TestNativeDaemonSet_Rollouts(t *testing.T) {
	l := newLab(t, nativeDaemonYAML)
	l.node("n1", nil)
	l.node("n2", nil)
	l.settle()
	l.seconds(2)
	l.did()
	for _, p := range l.pods {
		l.edit(p.Name, cluster.PodChange{Labels: map[string]*string{"pod-template-generation": new("1")}})
	}
	l.write(edited(nativeDaemonYAML, "web:1", "web:2"))
	l.settle()
	l.did()
	want := []string{"gone web-00002, create web-00003 2", "delete web-00001", "gone web-00001, create web-00004 2"}
	if diff := cmp.Diff(want, l.rollout()); diff != "" {
		t.Error(diff)
	}
	s := l.w.Object.(*appsv1.DaemonSet).Status
	if diff := cmp.Diff(appsv1.DaemonSetStatus{
		CurrentNumberScheduled: 2, DesiredNumberScheduled: 2, NumberReady: 2, NumberAvailable: 2, UpdatedNumberScheduled: 2, ObservedGeneration: 2,
	}, s); diff != "" {
		t.Error(diff)
	}
}
