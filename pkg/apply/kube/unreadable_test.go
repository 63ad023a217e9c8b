package kube

import (
	"errors"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestRecords_WriteNothingThatCannotBeRead: a plan or a progress that a later verb would refuse is an
// error before it is stored, and the record stays as it is.
func TestRecords_WriteNothingThatCannotBeRead(t *testing.T) {
	r := failingRecords("create")
	few := onePlan
	few.Steps = []plan.Step{onePlan.Steps[0]}
	few.Steps[0].Kept = -1
	if _, err := r.Begin(t.Context(), web, metav1.OwnerReference{}, few, nil, "anna"); err == nil || !strings.Contains(err.Error(), "spec.steps[0].kept: -1 is too small") {
		t.Errorf("%v", err)
	}
	if _, err := r.Load(t.Context(), web); !errors.Is(err, plan.ErrNoRollout) {
		t.Errorf("it is stored: %v", err)
	}
	want, err := r.Begin(t.Context(), web, metav1.OwnerReference{}, onePlan, nil, "anna")
	if err != nil {
		t.Fatal(err)
	}
	for name, progress := range map[string]plan.Progress{
		"beyond the plan": {Step: 7}, "before it": {Sent: -1}, "a stop that stops nothing": {Stop: plan.ControllerStop{Field: "replicas", Was: "3", Is: "0"}},
	} {
		_, err := r.Change(t.Context(), web, "ben", func(rec *plan.Record) error {
			rec.Progress = progress
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "could not be read back, so it is not written") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := r.Load(t.Context(), web); err != nil || got.Progress != want.Progress || got.By != "anna" {
		t.Errorf("%+v, %v", got.Progress, err)
	}
}

// TestDiscard_DeletesOnlyWhatCannotBeRead: a record that can be read stays, and so does any while
// another process holds its lease.
func TestDiscard_DeletesOnlyWhatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		spoilt, held bool
		gone         bool
		err          error
	}{
		"readable":       {},
		"unreadable":     {spoilt: true, gone: true},
		"driven":         {held: true, err: plan.ErrOtherExecutor},
		"driven, spoilt": {spoilt: true, held: true, err: plan.ErrOtherExecutor},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := failingRecords("create")
			if _, err := r.Begin(t.Context(), web, metav1.OwnerReference{}, onePlan, nil, "anna"); err != nil {
				t.Fatal(err)
			}
			namespace, place := r.location(web)
			client := r.Client.CoreV1().ConfigMaps(namespace)
			if c.spoilt {
				cm, err := client.Get(t.Context(), place, metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				cm.Data[keyRecord] = "{"
				if _, err := client.Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if c.held {
				r.held(t, namespace, place)
			}
			if err := r.Discard(t.Context(), web, "ben@desk", nil); !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Errorf("%v, want %v", err, c.err)
			}
			if _, err := client.Get(t.Context(), place, metav1.GetOptions{}); apierrors.IsNotFound(err) != c.gone {
				t.Errorf("the record: %v", err)
			}
		})
	}
}

// held has another process hold a lease, and renew it.
func (r Records) held(t *testing.T, namespace, name string) {
	t.Helper()
	holder, lasts := "anna@desk", int32(20)
	leases := r.Client.CoordinationV1().Leases(namespace)
	lease, err := leases.Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: &holder, LeaseDurationSeconds: &lasts, RenewTime: &metav1.MicroTime{Time: time.Now()},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	renewals := time.NewTicker(50 * time.Millisecond)
	t.Cleanup(renewals.Stop)
	go func() {
		for {
			select {
			case <-t.Context().Done():
				return
			case <-renewals.C:
				lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
				_, _ = leases.Update(t.Context(), lease, metav1.UpdateOptions{})
			}
		}
	}()
}
