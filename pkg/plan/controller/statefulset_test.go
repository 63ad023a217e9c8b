package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// statefulSetYAML has marks where tests put something in.
const statefulSetYAML = `
apiVersion: apps.kruise.io/v1beta1
kind: StatefulSet
metadata: {name: web}
spec:
  replicas: 3
  serviceName: web
  selector: {matchLabels: {app: web}}
  podManagementPolicy: Parallel
  updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0, podUpdatePolicy: ReCreate}}
  template:
    metadata: {labels: {app: web}}
    spec:
      readinessGates: [{conditionType: InPlaceUpdateReady}]
      containers: [{name: main, image: "web:1"}]
`

// Edits of statefulSetYAML.
var (
	ordered = []string{"Parallel", "OrderedReady"}
	inPlace = []string{"ReCreate", "InPlaceIfPossible"}
	image2  = []string{"web:1", "web:2"}
)

func all(edits ...[]string) []string {
	var out []string
	for _, e := range edits {
		out = append(out, e...)
	}
	return out
}

func newStatefulSet(t *testing.T, edits ...string) *lab {
	t.Helper()
	l := newLab(t, edited(statefulSetYAML, edits...))
	l.settle()
	l.seconds(12)
	l.did()
	return l
}

// to writes the workload again and says what happens at once.
func (l *lab) to(edits ...string) string {
	l.t.Helper()
	l.write(edited(statefulSetYAML, edits...))
	l.settle()
	return l.did()
}

func (l *lab) statefulSet() kruise.StatefulSetStatus { return l.w.Object.(*kruise.StatefulSet).Status }

func TestStatefulSet_CreatesPods(t *testing.T) {
	l := newLab(t, statefulSetYAML+claimTemplates)
	l.settle()
	const want = "claim data-web-0, create web-0 1, claim data-web-1, create web-1 1, claim data-web-2, create web-2 1, " +
		"set web-0 InPlaceUpdateReady=True, set web-1 InPlaceUpdateReady=True, set web-2 InPlaceUpdateReady=True"
	if got := l.did(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	l.seconds(2)
	p, revision := l.pod("web-1"), l.revisions[0].Name
	if diff := cmp.Diff(map[string]string{
		"app": "web", "controller-revision-hash": revision, "statefulset.kubernetes.io/pod-name": "web-1",
		"apps.kubernetes.io/pod-index": "1", "lifecycle.apps.kruise.io/state": "Normal",
	}, p.Labels); diff != "" {
		t.Error(diff)
	}
	if got := p.Annotations["lifecycle.apps.kruise.io/timestamp"]; got != "2026-07-01T12:00:00Z" {
		t.Errorf("state since %q", got)
	}
	zero := int32(0)
	if diff := cmp.Diff(kruise.StatefulSetStatus{
		ObservedGeneration: 1, Replicas: 3, ReadyReplicas: 3, AvailableReplicas: 3, CurrentReplicas: 3, UpdatedReplicas: 3,
		UpdatedReadyReplicas: 3, UpdatedAvailableReplicas: 3, CurrentRevision: revision, UpdateRevision: revision,
		CollisionCount: &zero, LabelSelector: "app=web",
		VolumeClaims: []kruise.VolumeClaimStatus{{VolumeClaimName: "data", CompatibleReplicas: 3, CompatibleReadyReplicas: 3}},
	}, l.statefulSet()); diff != "" {
		t.Error(diff)
	}
}

func TestStatefulSet_Recreates(t *testing.T) {
	const each = "delete web-2; gone web-2, create web-2 2, set web-2 InPlaceUpdateReady=True; " +
		"delete web-1; gone web-1, create web-1 2, set web-1 InPlaceUpdateReady=True; " +
		"delete web-0; gone web-0, create web-0 2, set web-0 InPlaceUpdateReady=True"
	for name, edits := range map[string][]string{"in order": ordered, "in parallel": nil} {
		l := newStatefulSet(t, edits...)
		if got := l.to(all(edits, image2)...) + "; " + l.rest(12); got != each {
			t.Errorf("%s: %s\nwant %s", name, got, each)
		}
		if s := l.statefulSet(); s.CurrentRevision != s.UpdateRevision || s.CurrentReplicas != 3 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestStatefulSet_UpdatesInPlace(t *testing.T) {
	l := newStatefulSet(t, inPlace...)
	const begin = "set web-2 InPlaceUpdateReady=False, inPlace web-2, image web-2 2, state web-2 Updating"
	if got := l.to(all(inPlace, image2)...); got != begin {
		t.Errorf("%s\nwant %s", got, begin)
	}
	if s := l.statefulSet(); s.UpdatedReplicas != 1 || s.ReadyReplicas != 2 || s.CurrentReplicas != 2 {
		t.Errorf("%+v", s)
	}
	const next = "set web-2 InPlaceUpdateReady=True, state web-2 Normal, " +
		"set web-1 InPlaceUpdateReady=False, inPlace web-1, image web-1 2, state web-1 Updating"
	if got := l.rest(1); got != next {
		t.Errorf("%s\nwant %s", got, next)
	}
	l.rest(5)
	if got := l.images(); got != "web-0=2 web-1=2 web-2=2" {
		t.Error(got)
	}
	for _, p := range l.pods {
		if p.Containers[0].Restarts != 1 || rules.StateOf(p) != rules.StateNormal || rules.RevisionOf(p) != l.statefulSet().UpdateRevision {
			t.Errorf("%s: %+v", p.Name, p)
		}
	}
}

// TestStatefulSet_RecreatesWhatCannotChangeInPlace: what cannot change in place is recreated, metadata
// changes without a restart, and InPlaceOnly stops.
func TestStatefulSet_RecreatesWhatCannotChangeInPlace(t *testing.T) {
	env := []string{`image: "web:1"`, `image: "web:1", env: [{name: A, value: b}]`}
	l := newStatefulSet(t, inPlace...)
	if got := l.to(all(inPlace, env)...); got != "delete web-2" {
		t.Errorf("env: %s", got)
	}
	l = newStatefulSet(t, inPlace...)
	tier := []string{"labels: {app: web}}\n    spec", "labels: {app: web, tier: gold}}\n    spec"}
	l.to(all(inPlace, tier)...)
	l.rest(3)
	for _, p := range l.pods {
		if p.Labels["tier"] != "gold" || p.Containers[0].Restarts != 0 {
			t.Errorf("%s: %v, %d restarts", p.Name, p.Labels, p.Containers[0].Restarts)
		}
	}
	only := []string{"ReCreate", "InPlaceOnly"}
	l = newStatefulSet(t, only...)
	if got := l.to(all(only, env)...); got != "" {
		t.Errorf("InPlaceOnly did %s", got)
	}
	if p := l.pass(); p.RequeueAfter != Retry || p.Why != "pod web-2: spec.containers[0].env: only images of containers, labels and annotations change in place" {
		t.Errorf("again after %v: %s", p.RequeueAfter, p.Why)
	}
}

// TestStatefulSet_WorkedExamples are the worked examples of docs/kruise/workloads.md#worked-examples.
func TestStatefulSet_WorkedExamples(t *testing.T) {
	t.Run("13", func(t *testing.T) {
		edits := []string{"replicas: 3", "replicas: 5\n  reserveOrdinals: [1]", "partition: 0", "partition: 3"}
		l := newStatefulSet(t, edits...)
		l.to(all(edits, image2)...)
		l.rest(12)
		if got := l.images(); got != "web-0=1 web-2=1 web-3=1 web-4=2 web-5=2" {
			t.Error(got)
		}
		l.delete(l.pod("web-3"))
		l.delete(l.pod("web-5"))
		l.rest(6)
		if got := l.images(); got != "web-0=1 web-2=1 web-3=1 web-4=2 web-5=2" {
			t.Errorf("pods that were lost came back as %s", got)
		}
	})
	t.Run("14", func(t *testing.T) {
		edits := []string{"replicas: 3", "replicas: 6", "partition: 0", "partition: 3, maxUnavailable: 2"}
		l := newStatefulSet(t, edits...)
		l.edit("web-0", cluster.PodChange{AddFinalizers: []string{"example.com/hold"}})
		l.delete(l.pod("web-0"))
		l.did()
		if got := l.to(all(edits, image2)...); got != "delete web-5" {
			t.Error(got)
		}
		l.edit("web-2", cluster.PodChange{AddFinalizers: []string{"example.com/hold"}})
		l.delete(l.pod("web-2"))
		l.did()
		if got := l.rest(4); got != "gone web-5, create web-5 2, set web-5 InPlaceUpdateReady=True" {
			t.Error(got)
		}
	})
	t.Run("15", func(t *testing.T) {
		edits := []string{"replicas: 3", "replicas: 5", "partition: 0", "partition: 2, unorderedUpdate: {}, maxUnavailable: 1"}
		l := newStatefulSet(t, edits...)
		revision := l.statefulSet().CurrentRevision
		l.to(all(edits, image2)...)
		l.rest(30)
		if got := l.images(); got != "web-0=1 web-1=1 web-2=2 web-3=2 web-4=2" {
			t.Error(got)
		}
		l.edit("web-4", cluster.PodChange{Labels: map[string]*string{"controller-revision-hash": &revision}})
		if got := l.rest(2); got != "delete web-4; gone web-4, create web-4 2, set web-4 InPlaceUpdateReady=True" {
			t.Error(got)
		}
	})
	t.Run("16", func(t *testing.T) {
		for unavailable, want := range map[string]string{
			"20%": "delete web-6", "50%": "delete web-6, delete web-5, delete web-4", "5%": "delete web-6",
		} {
			edits := []string{"replicas: 3", "replicas: 7", "partition: 0", "maxUnavailable: " + unavailable}
			l := newStatefulSet(t, edits...)
			if got := l.to(all(edits, image2)...); got != want {
				t.Errorf("%s: %s", unavailable, got)
			}
		}
	})
}

func TestStatefulSet_Paused(t *testing.T) {
	l := newStatefulSet(t)
	yes := "true"
	l.edit("web-1", cluster.PodChange{Labels: map[string]*string{kruise.SpecifiedDeleteLabel: &yes}})
	paused := []string{"partition: 0", "paused: true", "replicas: 3", "replicas: 4"}
	if got, want := l.to(all(paused, image2)...), "create web-3 2, set web-3 InPlaceUpdateReady=True"; got != want {
		t.Errorf("paused: %s, want %s", got, want)
	}
	if p := l.second(); p.Why != "paused" || l.did() != "" {
		t.Error(p.Why)
	}
	if got := l.to(all(paused[2:], image2)...); got != "delete web-1" {
		t.Errorf("resumed: %s", got)
	}
}

// TestStatefulSet_SpecifiedDeletes: specified deletes go from the highest ordinal, within
// the budget, whatever the partition.
func TestStatefulSet_SpecifiedDeletes(t *testing.T) {
	edits := []string{"partition: 0", "partition: 3, maxUnavailable: 2"}
	l := newStatefulSet(t, edits...)
	yes := "true"
	for _, name := range []string{"web-0", "web-1", "web-2"} {
		l.edit(name, cluster.PodChange{Labels: map[string]*string{kruise.SpecifiedDeleteLabel: &yes}})
	}
	l.settle()
	if got := l.did(); got != "delete web-2, delete web-1" {
		t.Error(got)
	}
	l.rest(1)
	if got := l.rest(1); got != "delete web-0" {
		t.Error(got)
	}
}

func TestStatefulSet_OnDelete(t *testing.T) {
	edits := []string{"RollingUpdate, rollingUpdate: {partition: 0, podUpdatePolicy: ReCreate}", "OnDelete"}
	l := newStatefulSet(t, edits...)
	yes := "true"
	l.edit("web-2", cluster.PodChange{Labels: map[string]*string{kruise.SpecifiedDeleteLabel: &yes}})
	if got := l.to(all(edits, image2)...) + l.rest(2); got != "" {
		t.Error(got)
	}
	l.delete(l.pod("web-0"))
	l.rest(3)
	if got := l.images(); got != "web-0=2 web-1=1 web-2=1" {
		t.Error(got)
	}
	if s := l.statefulSet(); s.CurrentRevision == s.UpdateRevision || s.UpdatedReplicas != 1 {
		t.Errorf("%+v", s)
	}
}

func TestStatefulSet_ReservedOrdinals(t *testing.T) {
	l := newStatefulSet(t, ordered...)
	got := l.to(all(ordered, []string{"replicas: 3", "replicas: 3\n  reserveOrdinals: [0]"})...) + "; " + l.rest(2)
	if want := "create web-3 1, set web-3 InPlaceUpdateReady=True; delete web-0; gone web-0"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestStatefulSet_ScaleRate(t *testing.T) {
	edits := []string{"replicas: 3", "replicas: 8\n  scaleStrategy: {maxUnavailable: 2}"}
	l := newStatefulSet(t)
	l.to(edits...)
	for i, want := range []int{5, 7, 8, 8} {
		if len(l.pods) != want {
			t.Errorf("after %d s: %d pods, want %d", i, len(l.pods), want)
		}
		l.rest(1)
	}
}

// TestStatefulSet_KeepsBrokenPodUnderOrderedReady: OrderedReady does not look after pods above a broken one
// and does not repair it; Parallel does.
func TestStatefulSet_KeepsBrokenPodUnderOrderedReady(t *testing.T) {
	for name, c := range map[string]struct {
		edits []string
		want  string
	}{"ordered": {ordered, "web-0=1 web-1=1 web-2=2"}, "parallel": {nil, "web-0=3 web-1=3 web-2=3"}} {
		l := newStatefulSet(t, c.edits...)
		l.broken["web:2"] = true
		l.to(all(c.edits, image2)...)
		l.rest(4)
		l.to(all(c.edits, []string{"web:1", "web:3"})...)
		l.rest(12)
		if got := l.images(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestStatefulSet_UndoReusesTheRevision: an old template finds its revision under its name, and
// the pods that were updated go back.
func TestStatefulSet_UndoReusesTheRevision(t *testing.T) {
	edits := []string{"partition: 0", "partition: 2"}
	l := newStatefulSet(t, edits...)
	first := l.statefulSet().UpdateRevision
	l.to(all(edits, image2)...)
	l.rest(6)
	l.to(edits...)
	l.rest(6)
	if got := l.images(); got != "web-0=1 web-1=1 web-2=1" {
		t.Error(got)
	}
	if s := l.statefulSet(); s.UpdateRevision != first || s.CurrentRevision != first || len(l.revisions) != 2 || l.revisions[0].Number != 3 {
		t.Errorf("%+v, %+v", s, l.revisions)
	}
}

// TestStatefulSet_NextPodWaitsForMinReadySeconds: the next pod waits until the last one has been ready
// for long enough.
func TestStatefulSet_NextPodWaitsForMinReadySeconds(t *testing.T) {
	edits := []string{"partition: 0", "minReadySeconds: 4"}
	l := newStatefulSet(t, edits...)
	l.to(all(edits, image2)...)
	l.rest(2)
	if p := l.settle(); p.RequeueAfter.Milliseconds() != 4001 {
		t.Errorf("looks again after %v", p.RequeueAfter)
	}
	if got := l.rest(4); got != "" {
		t.Error(got)
	}
	if got := l.rest(1); got != "delete web-1" {
		t.Error(got)
	}
}

func TestStatefulSet_DeletesOldRevisions(t *testing.T) {
	l := newStatefulSet(t)
	for _, image := range []string{"web:2", "web:3", "web:4", "web:5"} {
		l.to("replicas: 3", "replicas: 1\n  revisionHistoryLimit: 1", "web:1", image)
		l.rest(4)
	}
	if len(l.revisions) != 2 || l.revisions[1].Number != 5 {
		t.Errorf("%d revisions are left", len(l.revisions))
	}
}

func TestStatefulSet_GracePeriod(t *testing.T) {
	grace := all(inPlace, []string{"partition: 0", "inPlaceUpdateStrategy: {gracePeriodSeconds: 3}"})
	l := newStatefulSet(t, grace...)
	if got, want := l.to(all(grace, image2)...), "set web-2 InPlaceUpdateReady=False, inPlace web-2, state web-2 Updating"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if p := l.pass(); p.RequeueAfter.Seconds() != 3 {
		t.Errorf("looks again after %v", p.RequeueAfter)
	}
	if got := l.rest(2); got != "" {
		t.Errorf("during the grace period %s", got)
	}
	if got := l.rest(1); got != "image web-2 2" {
		t.Errorf("at its end %s", got)
	}
	const next = "set web-2 InPlaceUpdateReady=True, state web-2 Normal, set web-1 InPlaceUpdateReady=False, inPlace web-1, state web-1 Updating"
	if got := l.rest(1); got != next {
		t.Errorf("then %s", got)
	}
}

// TestStatefulSet_UpdateWaitsForItsHook: an inPlaceUpdate hook holds the pod before its
// update, and has to be put back after it.
func TestStatefulSet_UpdateWaitsForItsHook(t *testing.T) {
	hook := "  lifecycle: {inPlaceUpdate: {labelsHandler: {hold: \"yes\"}}}\n  template:"
	edits := all(inPlace, []string{"  template:", hook, "labels: {app: web}}\n", "labels: {app: web, hold: \"yes\"}}\n", "replicas: 3", "replicas: 1"})
	l := newStatefulSet(t, edits...)
	no, yes := "no", "yes"
	if got := l.to(all(edits, image2)...) + l.rest(2); got != "state web-0 PreparingUpdate" {
		t.Error(got)
	}
	l.edit("web-0", cluster.PodChange{Labels: map[string]*string{"hold": &no}})
	l.settle()
	if got, want := l.did(), "set web-0 InPlaceUpdateReady=False, inPlace web-0, image web-0 2, state web-0 Updating"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := l.rest(2), "set web-0 InPlaceUpdateReady=True, state web-0 Updated"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	l.edit("web-0", cluster.PodChange{Labels: map[string]*string{"hold": &yes}})
	if got := l.rest(1); got != "state web-0 Normal" {
		t.Error(got)
	}
}

// TestStatefulSet_DeletionWaitsForItsHook: the preDelete hook holds pods before a scale-down,
// a recreation and a specified delete alike.
func TestStatefulSet_DeletionWaitsForItsHook(t *testing.T) {
	yes, no := "true", "no"
	edits := []string{"  template:", "  lifecycle: {preDelete: {labelsHandler: {hold: \"yes\"}}}\n  template:", "labels: {app: web}}\n", "labels: {app: web, hold: \"yes\"}}\n"}
	for name, begin := range map[string]func(*lab){
		"recreation": func(l *lab) { l.to(all(edits, image2)...) },
		"scale down": func(l *lab) { l.to(all(edits, []string{"replicas: 3", "replicas: 2"})...) },
		"marked": func(l *lab) {
			l.edit("web-2", cluster.PodChange{Labels: map[string]*string{kruise.SpecifiedDeleteLabel: &yes}})
			l.settle()
		},
	} {
		l := newStatefulSet(t, edits...)
		begin(l)
		l.rest(2)
		if got := rules.StateOf(l.pod("web-2")); got != rules.StatePreparingDelete {
			t.Errorf("%s: %s", name, got)
		}
		l.edit("web-2", cluster.PodChange{Labels: map[string]*string{"hold": &no}})
		l.settle()
		if got := l.did(); got != "delete web-2" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestStatefulSet_PreNormal(t *testing.T) {
	edits := []string{"  template:", "  lifecycle: {preNormal: {labelsHandler: {checked: \"yes\"}}}\n  template:", "replicas: 3", "replicas: 1"}
	l := newLab(t, edited(statefulSetYAML, edits...))
	l.settle()
	l.rest(2)
	if got := rules.StateOf(l.pod("web-0")); got != rules.StatePreparingNormal {
		t.Error(got)
	}
	yes := "yes"
	l.edit("web-0", cluster.PodChange{Labels: map[string]*string{"checked": &yes}})
	if got := l.rest(1); got != "state web-0 Normal" {
		t.Error(got)
	}
}
