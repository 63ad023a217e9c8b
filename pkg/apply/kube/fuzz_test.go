package kube

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// FuzzRecord: whatever stands in the ConfigMap of a rollout, anybody may have written it:
// nothing panics, and a record that is taken is written as it is read.
func FuzzRecord(f *testing.F) {
	good, err := Records{}.configMap(plan.Record{Ref: web, Plan: onePlan, By: "ann", Base: map[string]any{"a": "b"}}, metav1.OwnerReference{})
	if err != nil {
		f.Fatal(err)
	}
	packedPlan, err := decompress(good.BinaryData[keyPlan])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good.Data[keyRecord], packedPlan, []byte(`{"a": "b"}`), true)
	f.Add(`{"progress": {"step": -1}}`, packedPlan, []byte(`null`), true)
	f.Add(`[]`, []byte("x"), []byte{0x1f, 0x8b, 8}, false)
	f.Fuzz(func(t *testing.T, record string, text, base []byte, pack bool) {
		cm := &corev1.ConfigMap{Data: map[string]string{keyRecord: record}, BinaryData: map[string][]byte{keyPlan: text, keyBase: base}}
		if pack {
			cm.BinaryData = map[string][]byte{keyPlan: compress(text), keyBase: compress(base)}
		}
		rec, err := readRecord(cm)
		if err != nil {
			return
		}
		for _, tr := range plan.Transitions() {
			_ = rec.Progress.Allows(tr, rec.Plan)
		}
		_, _ = rec.State(), rec.Describe()
		kept, err := Records{}.configMap(rec, metav1.OwnerReference{})
		if err != nil {
			return // it is too large to be kept
		}
		again, err := readRecord(kept)
		if diff := cmp.Diff(storedRecordOf(rec), storedRecordOf(again)); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	})
}
