package controller

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const nativeStatefulSetYAML = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  replicas: 3
  serviceName: web
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]}
`

const claimTemplates = `
  volumeClaimTemplates:
  - {metadata: {name: data, labels: {tier: a}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
`

func newNativeStatefulSet(t *testing.T, edits ...string) *lab {
	t.Helper()
	l := newLab(t, edited(nativeStatefulSetYAML, edits...))
	l.settle()
	l.seconds(8)
	l.did()
	return l
}

func (l *lab) nativeStatefulSet() appsv1.StatefulSetStatus {
	return l.w.Object.(*appsv1.StatefulSet).Status
}

// rest lets so many seconds pass, and says what was done in each.
func (l *lab) rest(seconds int) string {
	l.t.Helper()
	var out []string
	for range seconds {
		l.second()
		if did := l.did(); did != "" {
			out = append(out, did)
		}
	}
	return strings.Join(out, "; ")
}

func TestNativeStatefulSet_CreatesPods(t *testing.T) {
	l := newLab(t, nativeStatefulSetYAML+claimTemplates)
	l.settle()
	if got, want := l.did()+"; "+l.rest(4), "claim data-web-0, create web-0 1; claim data-web-1, create web-1 1; claim data-web-2, create web-2 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	p, revision := l.pod("web-1"), l.revisions[0].Name
	want := map[string]string{
		"app": "web", "controller-revision-hash": revision,
		"statefulset.kubernetes.io/pod-name": "web-1", "apps.kubernetes.io/pod-index": "1",
	}
	if diff := cmp.Diff(want, p.Labels); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"app": "web", "tier": "a"}, l.claims[1].Labels); diff != "" {
		t.Error(diff)
	}
	zero := int32(0)
	if diff := cmp.Diff(appsv1.StatefulSetStatus{
		ObservedGeneration: 1, Replicas: 3, ReadyReplicas: 3, AvailableReplicas: 3, CurrentReplicas: 3, UpdatedReplicas: 3,
		CurrentRevision: revision, UpdateRevision: revision, CollisionCount: &zero,
	}, l.nativeStatefulSet()); diff != "" {
		t.Error(diff)
	}
}

func TestNativeStatefulSet_Rollouts(t *testing.T) {
	const each = "delete web-2; gone web-2, create web-2 2; delete web-1; gone web-1, create web-1 2; delete web-0; gone web-0, create web-0 2"
	for name, c := range map[string]struct {
		edits []string
		want  string
	}{
		"in order":                {nil, each},
		"in parallel, one a time": {[]string{"replicas: 3", "replicas: 3\n  podManagementPolicy: Parallel"}, each},
		"the gate is off": {[]string{
			"replicas: 3", "replicas: 3\n  podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {maxUnavailable: 2}}",
		}, each},
		"partition": {[]string{"replicas: 3", "replicas: 3\n  updateStrategy: {rollingUpdate: {partition: 2}}"}, "delete web-2; gone web-2, create web-2 2"},
		"OnDelete":  {[]string{"replicas: 3", "replicas: 3\n  updateStrategy: {type: OnDelete}"}, ""},
	} {
		l := newNativeStatefulSet(t, c.edits...)
		l.write(edited(nativeStatefulSetYAML, append(c.edits, "web:1", "web:2")...))
		l.settle()
		got := strings.Trim(l.did()+"; "+l.rest(12), "; ")
		if got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

func TestNativeStatefulSet_MaxUnavailable(t *testing.T) {
	edits := []string{"replicas: 3", "replicas: 3\n  podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {maxUnavailable: 2}}"}
	l := newNativeStatefulSet(t, edits...)
	l.gates.MaxUnavailableStatefulSet = true
	l.write(edited(nativeStatefulSetYAML, append(edits, "web:1", "web:2")...))
	l.settle()
	want := "delete web-2, delete web-1; gone web-1, gone web-2, create web-1 2, create web-2 2; delete web-0; gone web-0, create web-0 2"
	if got := l.did() + "; " + l.rest(6); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestNativeStatefulSet_OnDeleteLeavesPodsToTheClient: OnDelete is how the client has the pods for
// itself. A pod that was changed in place, label and all, counts as updated.
func TestNativeStatefulSet_OnDeleteLeavesPodsToTheClient(t *testing.T) {
	edits := []string{"replicas: 3", "replicas: 3\n  updateStrategy: {type: OnDelete}"}
	l := newNativeStatefulSet(t, edits...)
	l.write(edited(nativeStatefulSetYAML, append(edits, "web:1", "web:2")...))
	l.settle()
	update := l.nativeStatefulSet().UpdateRevision
	for _, name := range []string{"web-0", "web-1", "web-2"} {
		l.edit(name, cluster.PodChange{Images: map[string]string{"main": "web:2"}, Labels: map[string]*string{"controller-revision-hash": &update}})
	}
	if got := l.rest(2); got != "" {
		t.Errorf("the controller did %s", got)
	}
	if s := l.nativeStatefulSet(); s.UpdatedReplicas != 3 || s.CurrentRevision == update {
		t.Errorf("%+v", s)
	}
	l.write(edited(nativeStatefulSetYAML, "web:1", "web:2"))
	l.settle()
	if got := l.rest(2); got != "" {
		t.Errorf("RollingUpdate did %s", got)
	}
	if s := l.nativeStatefulSet(); s.CurrentRevision != update {
		t.Errorf("%+v", s)
	}
	l.write(edited(nativeStatefulSetYAML, append(edits, "web:1", "web:2")...))
	l.delete(l.pod("web-1"))
	if got, want := l.rest(2), "delete web-1, gone web-1, create web-1 2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNativeStatefulSet_ScalesDown(t *testing.T) {
	l := newNativeStatefulSet(t)
	l.write(edited(nativeStatefulSetYAML, "replicas: 3", "replicas: 1"))
	l.settle()
	if got, want := l.did()+"; "+l.rest(3), "delete web-2; gone web-2, delete web-1; gone web-1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestNativeStatefulSet_KeepsBrokenPodUnderOrderedReady: under OrderedReady a broken pod stays broken even
// when a good template comes.
func TestNativeStatefulSet_KeepsBrokenPodUnderOrderedReady(t *testing.T) {
	l := newNativeStatefulSet(t)
	l.broken["web:2"] = true
	l.write(edited(nativeStatefulSetYAML, "web:1", "web:2"))
	l.settle()
	l.rest(3)
	l.write(edited(nativeStatefulSetYAML, "web:1", "web:3"))
	p := l.settle()
	if got := l.rest(3); got != "" || p.Why != "pod web-2 is not available" {
		t.Errorf("%s (%s)", got, p.Why)
	}
	l.delete(l.pod("web-2"))
	if got, want := l.rest(2), "delete web-2, gone web-2, create web-2 3; delete web-1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNativeStatefulSet_Claims(t *testing.T) {
	const policy = "  persistentVolumeClaimRetentionPolicy: {whenScaled: Delete, whenDeleted: Retain}\n"
	text := edited(nativeStatefulSetYAML, "replicas: 3", "replicas: 3\n  podManagementPolicy: Parallel") + claimTemplates
	l := newLab(t, text+policy)
	l.settle()
	l.rest(2)
	l.write(strings.Replace(text, "replicas: 3", "replicas: 2", 1) + policy)
	l.settle()
	if got, want := l.did()+"; "+l.rest(1), "own data-web-2 Pod, delete web-2; gone web-2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if len(l.claims) != 2 {
		t.Errorf("%d claims", len(l.claims))
	}
	l.write(text + strings.Replace(policy, "whenDeleted: Retain", "whenDeleted: Delete", 1))
	l.settle()
	if got, want := l.did(), "claim data-web-2, create web-2 1, own data-web-0 StatefulSet, own data-web-1 StatefulSet"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if o := l.claims[2].Owner; o.Kind != "StatefulSet" || o.UID != l.w.UID {
		t.Errorf("a new claim belongs to %+v", o)
	}
	l.write(text)
	l.settle()
	if got, want := l.did(), "own data-web-0, own data-web-1, own data-web-2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestNativeStatefulSet_WaitsForClaim: a pod that comes back does not take the
// claim that goes with the one before.
func TestNativeStatefulSet_WaitsForClaim(t *testing.T) {
	l := newLab(t, strings.Replace(nativeStatefulSetYAML, "replicas: 3", "replicas: 1", 1)+claimTemplates)
	l.claims = []*cluster.Claim{{Name: "data-web-0", Owner: cluster.Owner{Kind: "Pod", Name: "web-0", UID: "before"}}}
	if p := l.settle(); p.Why != "claim data-web-0 of the pod before is not gone yet" || l.did() != "" {
		t.Error(p.Why)
	}
	l.claims = nil
	l.settle()
	if got, want := l.did(), "claim data-web-0, create web-0 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
