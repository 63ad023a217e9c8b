package kube

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestClaim_CountsFromWhenRenewalWasSent: a lease counts from when its renewal was sent, whenever that was answered;
// no write is under way longer than the lease lasts.
func TestClaim_CountsFromWhenRenewalWasSent(t *testing.T) {
	for name, c := range map[string]struct {
		ago, most time.Duration
		sure      bool
	}{
		"just now":          {0, requestTimeout, true},
		"in its time":       {13 * time.Second, 7 * time.Second, true},
		"in doubt":          {16 * time.Second, 4 * time.Second, false},
		"over":              {25 * time.Second, 0, false},
		"clock is set back": {-time.Hour, requestTimeout, true},
	} {
		t.Run(name, func(t *testing.T) {
			k := &leaseHolder{connection: &connection{}}
			h := &claim{lease: k}
			if h.hasMargin() {
				t.Error("it was never renewed")
			}
			sent := time.Now().Add(-c.ago)
			h.renewed.Store(&sent)
			k.claim.Store(h)
			if h.hasMargin() != c.sure {
				t.Errorf("%s are left", h.remaining())
			}
			ctx, cancel := k.withTimeout(t.Context())
			defer cancel()
			if end, ok := ctx.Deadline(); !ok || time.Until(end) > c.most {
				t.Errorf("a write may take %s, want at most %s", time.Until(end), c.most)
			}
		})
	}
}

// TestAwaitLease_SlowServer: who held the lease is told, also where the server takes its
// time to say so.
func TestAwaitLease_SlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, quiet := fake.NewClientset(), watch.NewFake()
		core.PrependWatchReactor("leases", clienttesting.DefaultWatchReactor(quiet, nil))
		h := &claim{lease: &leaseHolder{connection: &connection{core: core, changes: newChangeSignal()}}, acquired: make(chan struct{})}
		go func() {
			time.Sleep(defaultLease.Lasts / 2)
			h.lastOther.Store("anna@desk")
			time.Sleep(defaultLease.Lasts)
			close(h.acquired)
		}()
		var told []string
		if err := h.awaitLease(t.Context(), func(holder string) { told = append(told, holder) }); err != nil {
			t.Fatal(err)
		}
		quiet.Stop() // a watch of the clientset does not end with its context
		if len(told) != 1 || told[0] != "anna@desk" {
			t.Errorf("told of %q", told)
		}
	})
}

// TestLeaseHolder_KeepsLeaseWhileWritesAreInFlight: while a write may still be carried out, the lease is not let
// go of.
func TestLeaseHolder_KeepsLeaseWhileWritesAreInFlight(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		open bool
	}{
		"done":         {t.Context(), nil, false},
		"refused":      {t.Context(), fmt.Errorf("web: %w", plan.ErrConflict), false},
		"no answer":    {t.Context(), fmt.Errorf("web: %w: EOF", plan.ErrUnavailable), true},
		"interrupted":  {ended, context.Canceled, true},
		"done in time": {ended, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			lease := &leaseHolder{connection: &connection{}}
			// It has no LeaseLock to ask: only what is refused before returns.
			lock := &recordingLock{claim: &claim{lease: lease}}
			err := lease.send(c.ctx, func(context.Context) error {
				if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{}); !errors.Is(err, errWriteInFlight) {
					t.Errorf("let go of under way: %v", err)
				}
				return c.err
			})
			if !errors.Is(err, c.err) {
				t.Error(err)
			}
			now := time.Now()
			if got := lease.inFlight.mayHappen(now, time.Minute); got != c.open {
				t.Errorf("open %t", got)
			}
			if lease.inFlight.mayHappen(now.Add(2*time.Minute), time.Minute) {
				t.Error("open for ever")
			}
		})
	}
}
