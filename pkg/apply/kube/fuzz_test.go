package kube

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// partEnd ends a part of a fuzzed text.
const partEnd = "\x1e"

// FuzzGroup: the ConfigMap of a group may hold anything: it is a group or a fault, and one that is
// taken is written as it is read.
func FuzzGroup(f *testing.F) {
	other := onePlan
	other.Target.Name = "api"
	rec := plan.Rollout{Namespace: "shop", Name: "all", Members: []plan.Member{{Ref: web, Plan: onePlan}, {Ref: other.Target.Ref(), Plan: other, Wave: 1, DependsOn: []cluster.Ref{web}}}, Bounds: plan.Bounds{Parallel: 2}}
	good, err := groupConfigMap(rec)
	if err != nil {
		f.Fatal(err)
	}
	plans, err := decompressTo(good.BinaryData[keyPlans], maxUnpackedBytes)
	if err != nil {
		f.Fatal(err)
	}
	distort.Fuzz(f, []string{good.Data[keyGroup] + partEnd + string(plans), "{}" + partEnd + "[]", "null" + partEnd + "null"}, func(t *testing.T, text string) {
		t.Helper()
		stored, plans, _ := strings.Cut(text, partEnd)
		got, err := groups.read(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: good.Name}, Data: map[string]string{keyGroup: stored}, BinaryData: map[string][]byte{keyPlans: compress([]byte(plans))}})
		if err != nil {
			return
		}
		_ = got.Digest("cluster")
		kept, err := groupConfigMap(got)
		if err != nil {
			return // it is too large to be kept
		}
		again, err := groups.read(kept)
		if err != nil || again.Digest("") != got.Digest("") {
			t.Errorf("%v: %+v, then %+v", err, got, again)
		}
	})
}

// FuzzPast: what a ConfigMap says of past rollouts is read, bounded, or refused.
func FuzzPast(f *testing.F) {
	good, err := decompressTo(compressPast([]plan.PastRollout{{
		Begun: time.Unix(1, 0).UTC(), Result: plan.RolloutCompleted, By: "ann", Steps: []plan.PastStep{{Name: "update", Title: "t"}}, Decisions: []plan.AuditEntry{{By: "ann", Detail: "d"}},
	}}, maxPastBytes), maxUnpackedBytes)
	if err != nil {
		f.Fatal(err)
	}
	distort.Fuzz(f, []string{string(good), "[{}, null]", "{}"}, func(t *testing.T, text string) {
		t.Helper()
		list, err := readPast(compress([]byte(text)))
		if err != nil {
			return
		}
		again, err := readPast(compressPast(list, maxPastBytes))
		if diff := cmp.Diff(list, again, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	})
}

// FuzzRestartNote: whatever the note on a pod says, it has a result with a reason.
func FuzzRestartNote(f *testing.F) {
	note := restartNote{Method: plan.RestartSignal, Before: map[string]int{"main": 1, "gone": -1}, Sent: true}
	distort.Fuzz(f, []string{note.text(), `{"before": null}`, `[]`}, func(t *testing.T, text string) {
		t.Helper()
		p := &cluster.Pod{Annotations: map[string]string{restartAnnotation: text}, Containers: []cluster.Container{{Name: "main", Restarts: 1, Ready: true}}}
		if a, ok := restartNoteOf(p); ok && a.result(p).Text == "" {
			t.Errorf("%q has no result", text)
		}
	})
}

// FuzzLease: whatever a lease says, which all who may write leases can write, its holder is the one that it names, or none.
func FuzzLease(f *testing.F) {
	texts := []string{
		`{"metadata":{"managedFields":[{"manager":"a","operation":"Update","time":"2026-07-01T12:00:00Z","fieldsV1":{"f:spec":{"f:renewTime":{}}}}]},"spec":{"holderIdentity":"ann","leaseDurationSeconds":20,"renewTime":"2026-07-01T12:00:00.000000Z"}}`,
		`{"spec":{"holderIdentity":"ann","leaseDurationSeconds":-2147483648,"renewTime":null}}`, `{"metadata":{"managedFields":[{"operation":"Update","fieldsV1":null}]}}`,
	}
	now := time.Date(2026, 7, 1, 12, 0, 10, 0, time.UTC)
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		var l coordinationv1.Lease
		if json.Unmarshal([]byte(text), &l) != nil {
			return
		}
		if by := holderOf(&l, now); by != "" && (l.Spec.HolderIdentity == nil || by != *l.Spec.HolderIdentity || l.Spec.RenewTime == nil) {
			t.Errorf("held by %q", by)
		}
	})
}
