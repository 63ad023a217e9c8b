package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// wrongClock is the transport of a machine whose clock is ahead of the server's.
type wrongClock struct {
	http.RoundTripper

	by time.Duration
}

func (w wrongClock) ServerTime() time.Time { return time.Now().Add(-w.by) }

// TestHolder_WhateverTheClocksSay: with the clock of this machine or of the holder ten minutes ahead or behind, a
// rollout that is carried out is not called dead, and one that is not is not called alive.
func TestHolder_WhateverTheClocksSay(t *testing.T) {
	const wrong = 10 * time.Minute
	for _, ago := range []time.Duration{time.Second, time.Minute} {
		for _, ours := range []time.Duration{0, wrong, -wrong} {
			for _, theirs := range []time.Duration{0, wrong, -wrong} {
				t.Run(fmt.Sprintf("renewed %s ago, our clock is wrong by %s, theirs by %s", ago, ours, theirs), func(t *testing.T) {
					s := newAPIServer(t, nil)
					server := time.Now().Add(-ours)
					s.put(t, leaseCollection, leaseOf("anna@desk (1)", server.Add(-ago+theirs), server.Add(-ago)))
					cfg := s.config()
					cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return wrongClock{next, ours} })
					core, err := kubernetes.NewForConfig(cfg)
					if err != nil {
						t.Fatal(err)
					}
					by, err := (Records{Client: core}).Holder(t.Context(), web)
					if err != nil || (by != "") != (ago < defaultLease.Lasts) {
						t.Errorf("the holder is %q, %v", by, err)
					}
				})
			}
		}
	}
}

// leaseOf is the lease of a rollout, renewed at a time of its holder's clock and one of the server's.
func leaseOf(holder string, theirs, server time.Time) *coordinationv1.Lease {
	lasts, at, noted := int32(20), metav1.NewMicroTime(theirs), metav1.NewTime(server)
	_, name := recordLocation(web, "")
	return &coordinationv1.Lease{
		TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
		ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: name, ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "other", Operation: metav1.ManagedFieldsOperationUpdate, Time: &metav1.Time{Time: server.Add(time.Hour)}, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{}}}`)},
			{Manager: "kubectl-kruise", Operation: metav1.ManagedFieldsOperationUpdate, Time: &noted, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:renewTime":{}}}`)},
		}},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &lasts, RenewTime: &at},
	}
}

// TestClaim_IsNotMisledByClocks: a lease that is renewed is not taken over, though by its times it expired ten minutes
// ago; one that is not renewed is, though by its times it lasts ten minutes more.
func TestClaim_IsNotMisledByClocks(t *testing.T) {
	times := Lease{Lasts: 4 * time.Second, Tries: 3 * time.Second, Renew: time.Second}
	for name, c := range map[string]struct {
		wrong time.Duration
		alive bool
	}{"the holder is behind": {-10 * time.Minute, true}, "it was ahead, and is gone": {10 * time.Minute, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t, nil)
			renew := func() {
				l := leaseOf("anna@desk (1)", time.Now().Add(c.wrong), time.Now())
				l.Namespace, l.Name, *l.Spec.LeaseDurationSeconds = "shop", "rollout.web", 4
				s.put(t, leaseCollection, l)
			}
			renew()
			end := make(chan struct{})
			defer close(end)
			go func() {
				for c.alive {
					select {
					case <-end:
						return
					case <-time.After(times.Renew):
						renew()
					}
				}
			}()
			_, release, err := claimOn(t, s, "ben@desk", times).acquire(t.Context(), nil)
			if c.alive != errors.Is(err, plan.ErrOtherExecutor) {
				t.Errorf("%v", err)
			}
			if err == nil {
				release()
			}
		})
	}
}

// TestNow_IsTheServers: what is recorded, and what a pause is counted by, has the server's clock wherever that is clearly
// another one; a time to wait for is reached on a machine with any.
func TestNow_IsTheServers(t *testing.T) {
	for by, want := range map[time.Duration]time.Duration{0: 0, tolerance / 2: 0, 10 * time.Minute: -10 * time.Minute, -10 * time.Minute: 10 * time.Minute} {
		t.Run(by.String(), func(t *testing.T) {
			cfg := newAPIServer(t, nil).config()
			cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return wrongClock{next, by} })
			core, err := kubernetes.NewForConfig(cfg)
			if err != nil {
				t.Fatal(err)
			}
			c := &connection{core: core, changes: newChangeSignal()}
			if ahead := time.Until(c.Now()); (ahead - want).Abs() > time.Minute {
				t.Errorf("it is %s ahead of this machine, want %s", ahead, want)
			}
			version, _ := c.changes.current()
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			if err := c.await(ctx, version, c.Now().Add(time.Millisecond)); err != nil {
				t.Errorf("the time is not reached: %v", err)
			}
			rec, err := (Records{Client: core}).Begin(t.Context(), web, metav1.OwnerReference{}, onePlan, nil, "anna")
			if ahead := time.Until(rec.Begun); err != nil || (ahead-want).Abs() > time.Minute {
				t.Errorf("it was begun %s from now, want %s, %v", ahead, want, err)
			}
		})
	}
}
