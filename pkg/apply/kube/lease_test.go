package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestClaim_CountsFromWhenRenewalWasSent: a lease counts from when its renewal was sent, whenever that was answered;
// no write is in progress longer than the lease lasts.
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

// TestAwaitLease_NamesTheHolderOfASlowServer: who held the lease is named, also where the server takes its
// time to say so.
func TestAwaitLease_NamesTheHolderOfASlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, quiet := fake.NewClientset(), watch.NewFake()
		core.PrependWatchReactor("leases", clienttesting.DefaultWatchReactor(quiet, nil))
		h := &claim{lease: &leaseHolder{connection: &connection{core: core, changes: newChangeSignal()}}, acquired: make(chan struct{}), contended: make(chan struct{})}
		go func() {
			time.Sleep(defaultLease.Lasts / 2)
			h.noteHolder("anna@desk")
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
					t.Errorf("released during a write: %v", err)
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

const leaseCollection = "coordination.k8s.io/v1/leases"

// claimOn is a claim on a lease of a server, by a process of a name.
func claimOn(t *testing.T, s *apiServer, holder string, times Lease) *claim {
	t.Helper()
	core, err := kubernetes.NewForConfig(s.config())
	if err != nil {
		t.Fatal(err)
	}
	lease := &leaseHolder{connection: &connection{core: core, changes: newChangeSignal(), opt: Options{Holder: holder, Lease: times}}}
	return &claim{lease: lease, namespace: "shop", name: "rollout.web", refresh: func(context.Context, bool) error { return nil }}
}

// TestClaim_SendsFewRequests: a lease that no other process holds is read once, written when it
// is acquired, renewed and released, and never watched.
func TestClaim_SendsFewRequests(t *testing.T) {
	s := newAPIServer(t, nil)
	for _, c := range []struct {
		name, verbs string
		renewals    int
	}{
		{"new", "get create update", 0},
		{"released before", "get update update", 0},
		{"renewed", "get update update update update", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(s.requested(leaseCollection))
			times := Lease{Lasts: 4 * time.Second, Tries: 3 * time.Second, Renew: time.Second}
			_, release, err := claimOn(t, s, "ann@desk", times).acquire(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(c.renewals)*times.Renew + times.Renew/3)
			release()
			if got := strings.Join(s.requested(leaseCollection)[before:], " "); got != c.verbs {
				t.Errorf("requests %q, want %q", got, c.verbs)
			}
		})
	}
}

// TestClaim_WatchesOtherHolder: a lease that another process holds is watched, which shows
// whether that process is alive.
func TestClaim_WatchesOtherHolder(t *testing.T) {
	s := newAPIServer(t, nil)
	times := Lease{Lasts: 4 * time.Second, Tries: 3 * time.Second, Renew: time.Second}
	_, release, err := claimOn(t, s, "ann@desk", times).acquire(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	_, _, err = claimOn(t, s, "ben@desk", times).acquire(t.Context(), nil)
	if !errors.Is(err, plan.ErrOtherExecutor) || !strings.Contains(err.Error(), "ann@desk") {
		t.Errorf("%v, want that ann has it", err)
	}
	if n := len(slices.DeleteFunc(s.requested(leaseCollection), func(verb string) bool { return verb != "watch" })); n != 1 {
		t.Errorf("%d watches, want 1", n)
	}
}

// TestRecordingLock_ReleasesOnlyItsOwn: a process that does not know yet that another one has
// acquired the lease leaves it alone when it ends.
func TestRecordingLock_ReleasesOnlyItsOwn(t *testing.T) {
	s := newAPIServer(t, nil)
	_, release, err := claimOn(t, s, "ann@desk", Lease{Lasts: time.Minute, Tries: 40 * time.Second, Renew: 20 * time.Second}).acquire(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	taken := s.list(leaseCollection)[0].DeepCopy()
	if err := unstructured.SetNestedField(taken.Object, "ben@desk", "spec", "holderIdentity"); err != nil {
		t.Fatal(err)
	}
	s.put(t, leaseCollection, taken)
	release()
	if got, _, _ := unstructured.NestedString(s.list(leaseCollection)[0].Object, "spec", "holderIdentity"); got != "ben@desk" {
		t.Errorf("the lease is held by %q, want ben@desk", got)
	}
}
