package controller

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const claimTemplate = "\n  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]\n"

func TestCloneSet_Claims(t *testing.T) {
	l := newLab(t, cloneSetYAML+claimTemplate)
	l.settle()
	l.seconds(3)
	if got, want := l.claimsText(), "data-web-00001=CloneSet data-web-00002=CloneSet data-web-00003=CloneSet"; got != want {
		t.Fatalf("claims %s, want %s", got, want)
	}
	for _, c := range l.claims {
		want := map[string]string{"app": "web", kruise.CloneSetInstanceIDLabel: c.Name[len("data-web-"):]}
		if diff := cmp.Diff(want, c.Labels); diff != "" {
			t.Errorf("labels of %s (-want +got):\n%s", c.Name, diff)
		}
	}
	for _, c := range []struct{ name, text, want, claims string }{
		{"an update in place keeps them", edited(cloneSetYAML+claimTemplate, "web:1", "web:2", "maxUnavailable: 1", "maxUnavailable: 3"), "inPlace 1, inPlace 2, inPlace 3", "data-web-00001=CloneSet data-web-00002=CloneSet data-web-00003=CloneSet"},
		{"scaled down they go", edited(cloneSetYAML+claimTemplate, "replicas: 3", "replicas: 2"), "delete 1, unclaim data-1", "data-web-00002=CloneSet data-web-00003=CloneSet"},
		{"recreation makes others", edited(cloneSetYAML+claimTemplate, "web:1", "web:2", "InPlaceIfPossible", "ReCreate", "replicas: 3", "replicas: 1"), "delete 1, unclaim data-1, delete 2, unclaim data-2, mark 3, delete 3, unclaim data-3, claim data-4, create 4 2", "data-web-00004=CloneSet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := *l
			l.t, l.log, l.pods, l.claims = t, nil, append([]*cluster.Pod(nil), l.pods...), append([]*cluster.Claim(nil), l.claims...)
			if got := l.follow(2, c.text); got != c.want || l.claimsText() != c.claims {
				t.Errorf("did %q, want %q; claims %s, want %s", got, c.want, l.claimsText(), c.claims)
			}
		})
	}
}

func (l *lab) claimsText() string {
	out := ""
	for i, c := range l.claims {
		if i > 0 {
			out += " "
		}
		out += c.Name + "=" + c.Owner.Kind
	}
	return out
}

// TestCloneSet_ClaimsOfADeletedPod: what becomes of claims whose pod another actor deleted
// (recorded in 061 and 062).
func TestCloneSet_ClaimsOfADeletedPod(t *testing.T) {
	for _, c := range []struct{ name, strategy, want string }{
		{"without reuse", "{}", "own data-1 Pod, claim data-web-4, create 4 1"},
		{"with reuse", "{enablePVCReuse: true}", "create 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t, edited(cloneSetYAML, "{}", c.strategy)+claimTemplate)
			l.settle()
			l.seconds(3)
			l.did()
			l.delete(l.pod("web-00001"))
			l.did()
			if got := acts(actionsOf(l)); got != c.want {
				t.Errorf("did %q, want %q", got, c.want)
			}
		})
	}
}

// actionsOf is what one pass wants, in the words of the lab, without doing it.
func actionsOf(l *lab) string {
	p, err := Reconcile(&View{Now: l.now, Workload: l.w, Revisions: l.revisions, Pods: l.pods, Claims: l.claims, Gates: l.gates})
	if err != nil {
		l.t.Fatal(err)
	}
	out := ""
	for _, a := range p.Actions {
		switch a := a.(type) {
		case CreatePod:
			name := a.Name
			if name == "" {
				for _, c := range a.Claims {
					out += ", claim " + c.Name + "4"
				}
				name = "4 1"
			}
			out += ", create " + name
		case ChangeClaim:
			if a.Delete {
				out += ", unclaim " + a.Claim.Name
			} else {
				out += fmt.Sprintf(", own %s %s", a.Claim.Name, a.Owner.Kind)
			}
		}
	}
	return out
}

// TestCloneSet_DeletesClaimsOfGonePods: without reuse, claims of pods that are gone go.
func TestCloneSet_DeletesClaimsOfGonePods(t *testing.T) {
	l := newCloneSet(t)
	self := cluster.Owner{Kind: "CloneSet", Name: "web", UID: "w"}
	id := func(id string) map[string]string { return map[string]string{kruise.CloneSetInstanceIDLabel: id} }
	l.claims = []*cluster.Claim{
		{Name: "lost", Labels: id("zzzzz"), Owner: self},
		{Name: "used", Labels: id("00001"), Owner: self},
		{Name: "foreign", Labels: id("yyyyy")},
		{Name: "going", Labels: id("xxxxx"), Owner: self, Deleting: true},
		{Name: "nobody's", Owner: self},
	}
	if got, want := acts(actionsOf(l)), "unclaim lost"; got != want {
		t.Errorf("did %q, want %q", got, want)
	}
}

const hooked = "\n  lifecycle: {inPlaceUpdate: {labelsHandler: {hold: \"true\"}}, preDelete: {labelsHandler: {hold: \"true\"}}}\n"

func newHooked(t *testing.T) (*lab, string) {
	t.Helper()
	text := edited(cloneSetYAML, "{labels: {app: web}}", `{labels: {app: web, hold: "true"}}`) + hooked
	l := newLab(t, text)
	l.settle()
	l.seconds(3)
	l.did()
	return l, text
}

func (l *lab) hold(name, value string) {
	l.edit(name, cluster.PodChange{Labels: map[string]*string{"hold": new(value)}})
	l.settle()
}

func (l *lab) states() string {
	var out []string
	for _, p := range l.pods {
		out = append(out, p.Name[len("web-0000"):]+":"+p.Labels[kruise.LifecycleStateLabel]+"="+imageOf(p))
	}
	return strings.Join(out, " ")
}

// TestCloneSet_HoldsUpdate follows a pod through the hook of an in-place update
// (recorded in 050).
func TestCloneSet_HoldsUpdate(t *testing.T) {
	l, text := newHooked(t)
	l.follow(2, edited(text, "web:1", "web:2"))
	if got, want := l.states(), "1:PreparingUpdate=1 2:Normal=1 3:Normal=1"; got != want {
		t.Fatalf("held: %s, want %s", got, want)
	}
	l.hold("web-00001", "released")
	if got, want := l.states(), "1:Updating=2 2:Normal=1 3:Normal=1"; got != want {
		t.Fatalf("released: %s, want %s", got, want)
	}
	l.second()
	if got, want := l.states(), "1:Updated=2 2:Normal=1 3:Normal=1"; got != want {
		t.Fatalf("updated: %s, want %s", got, want)
	}
	l.hold("web-00001", "true")
	if got, want := l.states(), "1:Normal=2 2:PreparingUpdate=1 3:Normal=1"; got != want {
		t.Fatalf("held again: %s, want %s", got, want)
	}
	l.write(text)
	l.settle()
	if got, want := l.states(), "1:PreparingUpdate=2 2:Normal=1 3:Normal=1"; got != want {
		t.Errorf("taken back: %s, want %s: a pod that only waited needs nothing", got, want)
	}
}

// TestCloneSet_HoldsDeletion: a held deletion is taken back while it can be, and
// blocks its replacement (docs/kruise/workloads.md#worked-examples, preDelete hold).
func TestCloneSet_HoldsDeletion(t *testing.T) {
	l, text := newHooked(t)
	l.follow(1, edited(text, "replicas: 3", "replicas: 1"))
	if got, want := l.states(), "1:PreparingDelete=1 2:PreparingDelete=1 3:Normal=1"; got != want {
		t.Fatalf("held: %s, want %s", got, want)
	}
	l.follow(1, edited(text, "replicas: 3", "replicas: 2"))
	if got, want := l.states(), "1:Normal=1 2:PreparingDelete=1 3:Normal=1"; got != want {
		t.Fatalf("one taken back: %s, want %s", got, want)
	}
	l.hold("web-00002", "released")
	l.second()
	if got, want := l.states(), "1:Normal=1 3:Normal=1"; got != want {
		t.Fatalf("released: %s, want %s", got, want)
	}
	l.edit("web-00001", cluster.PodChange{Labels: map[string]*string{kruise.SpecifiedDeleteLabel: new("true")}})
	l.settle()
	l.second()
	if got, want := l.states(), "1:PreparingDelete=1 3:Normal=1"; got != want {
		t.Errorf("marked and held: %s, want %s", got, want)
	}
	l.follow(1, edited(text, "replicas: 3", "replicas: 2", "scaleStrategy: {}", "scaleStrategy: {excludePreparingDelete: true}"))
	if got, want := l.states(), "1:PreparingDelete=1 3:Normal=1 4:Normal=1"; got != want {
		t.Errorf("held deletions do not count: %s, want %s", got, want)
	}
}

// TestCloneSet_Grace: the pass comes back when the change is due.
func TestCloneSet_Grace(t *testing.T) {
	l := newCloneSet(t)
	l.write(edited(cloneSetYAML, "web:1", "web:2", "maxUnavailable: 1", "maxUnavailable: 1, inPlaceUpdateStrategy: {gracePeriodSeconds: 3}"))
	if p := l.pass(); p.RequeueAfter != 3*time.Second {
		t.Errorf("again after %v", p.RequeueAfter)
	}
	l.now = l.now.Add(time.Second)
	if p := l.pass(); p.RequeueAfter != 2*time.Second {
		t.Errorf("a second later again after %v", p.RequeueAfter)
	}
	l.did()
	if got, want := acts(l.rest(8)), "inPlace 2; inPlace 3"; got != want {
		t.Errorf("did %q, want %q", got, want)
	}
}

// TestCloneSet_ExpectsNoUpdateOfNegativeReplicas: no webhook refuses the number where none runs.
func TestCloneSet_ExpectsNoUpdateOfNegativeReplicas(t *testing.T) {
	for _, partition := range []string{"0", "1", "50%", "100%"} {
		l := newCloneSet(t, "replicas: 3", "replicas: -1", "maxUnavailable: 1", "maxUnavailable: 1, partition: "+partition)
		if got := l.cloneSet(); got.ExpectedUpdatedReplicas != 0 || got.Replicas != 0 {
			t.Errorf("partition %s: %d of %d", partition, got.ExpectedUpdatedReplicas, got.Replicas)
		}
	}
}

func TestCloneSet_Status(t *testing.T) {
	l := newCloneSet(t, "maxUnavailable: 1", "maxUnavailable: 1, partition: 1")
	want := kruise.CloneSetStatus{
		ObservedGeneration: 1, Replicas: 3, ReadyReplicas: 3, AvailableReplicas: 3, UpdatedReplicas: 3, UpdatedReadyReplicas: 3,
		UpdatedAvailableReplicas: 3, ExpectedUpdatedReplicas: 2, UpdateRevision: "web-7569fd794f", CurrentRevision: "web-7569fd794f",
		CollisionCount: new(int32), LabelSelector: "app=web",
	}
	if diff := cmp.Diff(want, l.cloneSet()); diff != "" {
		t.Errorf("up (-want +got):\n%s", diff)
	}
	l.write(edited(cloneSetYAML, "web:1", "web:2", "maxUnavailable: 1", "maxUnavailable: 1, partition: 1"))
	l.pass()
	want.ObservedGeneration, want.UpdateRevision = 2, "web-d74f59c8b"
	want.UpdatedReplicas, want.UpdatedReadyReplicas, want.UpdatedAvailableReplicas = 0, 0, 0
	if diff := cmp.Diff(want, l.cloneSet()); diff != "" {
		t.Errorf("a pass says what it saw, not what it did (-want +got):\n%s", diff)
	}
	l.pass()
	want.ReadyReplicas, want.AvailableReplicas, want.UpdatedReplicas = 2, 2, 1
	if diff := cmp.Diff(want, l.cloneSet()); diff != "" {
		t.Errorf("an update that has begun counts (-want +got):\n%s", diff)
	}
	if p := l.pass(); p.Status != nil || len(p.Actions) > 0 {
		t.Errorf("nothing new, but %+v", p)
	}
}

// TestCloneSet_Progressing: the reasons and times of the recorded 068 and 090.
func TestCloneSet_Progressing(t *testing.T) {
	deadline := "\n  progressDeadlineSeconds: 8\n"
	l := newLab(t, cloneSetYAML+deadline)
	l.settle()
	l.seconds(3)
	l.expectProgress("True CloneSetAvailable", "CloneSet is available")
	available := l.now
	l.now = l.now.Add(2 * time.Second)
	l.broken["web:2"] = true
	l.write(edited(cloneSetYAML, "web:1", "web:2") + deadline)
	p := l.pass()
	l.expectProgress("True CloneSetUpdated", "CloneSet is progressing")
	if want := 8*time.Second + time.Millisecond; p.RequeueAfter != want {
		t.Errorf("again after %v, want %v", p.RequeueAfter, want)
	}
	if c := l.cloneSetProgress(); !c.LastUpdateTime.Time.Equal(l.now) || !c.LastTransitionTime.Time.Before(available) {
		t.Errorf("times %v %v: only the reason changed", c.LastUpdateTime, c.LastTransitionTime)
	}
	l.seconds(9)
	l.expectProgress("False ProgressDeadlineExceeded", "CloneSet revision web-d74f59c8b has timed out progressing")
	l.follow(1, edited(cloneSetYAML, "web:1", "web:2", "maxUnavailable: 1", "maxUnavailable: 1, paused: true")+deadline)
	l.expectProgress("True CloneSetPaused", "CloneSet is paused")
	l.broken = map[string]bool{}
	l.follow(2, edited(cloneSetYAML, "web:1", "web:2", "maxUnavailable: 1", "maxUnavailable: 1, partition: 2")+deadline)
	l.expectProgress("True ProgressPartitionAvailable", "CloneSet has been paused due to partition ready")
	l.follow(1, edited(cloneSetYAML, "web:1", "web:2", "maxUnavailable: 1", "maxUnavailable: 1, partition: 2"))
	if c := l.cloneSetProgress(); c.Type != "" {
		t.Errorf("without a deadline there is %+v", c)
	}
}

func (l *lab) cloneSetProgress() kruise.CloneSetCondition {
	for _, c := range l.cloneSet().Conditions {
		if c.Type == "Progressing" {
			return c
		}
	}
	return kruise.CloneSetCondition{}
}

func (l *lab) expectProgress(want, message string) {
	l.t.Helper()
	if c := l.cloneSetProgress(); string(c.Status)+" "+c.Reason != want || c.Message != message {
		l.t.Errorf("Progressing %s %s %q, want %s %q", c.Status, c.Reason, c.Message, want, message)
	}
}

// TestCloneSet_ImpossibleInPlaceOnlyFails: InPlaceOnly and an impossible change.
func TestCloneSet_ImpossibleInPlaceOnlyFails(t *testing.T) {
	l := newCloneSet(t, "InPlaceIfPossible", "InPlaceOnly")
	l.write(edited(cloneSetYAML, "InPlaceIfPossible", "InPlaceOnly", `image: "web:1"`, `image: "web:1", env: [{name: A, value: b}]`))
	p := l.settle()
	want := "pod web-00001 cannot be updated in place, and the policy is InPlaceOnly: spec.containers[0].env: only images of containers, labels and annotations change in place"
	if c := l.cloneSet().Conditions; len(c) != 1 || c[0].Type != "FailedUpdate" || c[0].Status != "True" || c[0].Message != want || p.Why != want {
		t.Errorf("conditions %+v, why %q", c, p.Why)
	}
	l.write(edited(cloneSetYAML, "InPlaceIfPossible", "InPlaceOnly", `image: "web:1"`, `image: "web:1", args: [a]`))
	l.settle()
	if c := l.cloneSet().Conditions; len(c) != 1 || c[0].Message != want {
		t.Errorf("the first reason does not hide the second: %+v", c)
	}
}

// TestCloneSet_UpdatesAfterARefusedDeletion: when nothing could be deleted, updates are looked
// after all the same.
func TestCloneSet_UpdatesAfterARefusedDeletion(t *testing.T) {
	l := newCloneSet(t)
	l.write(edited(cloneSetYAML, "web:1", "web:2", "maxUnavailable: 1", "maxUnavailable: 2, partition: 2"))
	l.settle()
	l.now = l.now.Add(time.Second)
	l.kubelet()
	l.edit("web-00003", cluster.PodChange{Labels: map[string]*string{kruise.SpecifiedDeleteLabel: new("true")}})
	p, err := Reconcile(&View{Now: l.now, Workload: l.w, Revisions: l.revisions, Pods: l.pods, Gates: l.gates})
	if err != nil {
		t.Fatal(err)
	}
	if got := actionsText(p); got != "controller.DeletePod, controller.Event" {
		t.Errorf("wants %s", got)
	}
	then, ok := p.IfRefused(0, errors.New("no budget"))
	if got := actionsText(then); !ok || got != "controller.PatchPod" {
		t.Errorf("refused at once it wants %q", got)
	}
	if s, ok := then.Status.(*kruise.CloneSetStatus); !ok || len(s.Conditions) != 1 || s.Conditions[0].Type != "FailedScale" || s.Conditions[0].Message != "no budget" {
		t.Errorf("status %+v", then.Status)
	}
	if then, _ := p.IfRefused(1, errors.New("no budget")); len(then.Actions) > 0 {
		t.Errorf("refused after a deletion it wants %+v", then.Actions)
	}
}
