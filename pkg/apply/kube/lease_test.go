package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
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

// TestAwaitLease_IsBoundedByTheTimeOfTheVerb: a lease that another process holds for ever is waited for no longer than the
// verb may take and, without such a time, for as long as one of this program may last; then it is said how long it lasts.
func TestAwaitLease_IsBoundedByTheTimeOfTheVerb(t *testing.T) {
	for name, c := range map[string]struct {
		within time.Duration
		want   time.Duration
		is     error
		text   string
	}{
		"a time":  {7 * time.Second, 7 * time.Second, ErrAcquireTimeout, "the lease shop/rollout.web, which anna@desk had last,: the time to wait for it is over"},
		"no time": {0, defaultLease.acquireTimeout(), plan.ErrOtherExecutor, "lasts 87600h0m0s without being renewed; if that process is gone, delete it: kubectl delete lease rollout.web -n shop"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, quiet := fake.NewClientset(), watch.NewFake()
				core.PrependWatchReactor("leases", clienttesting.DefaultWatchReactor(quiet, nil))
				begun := time.Now()
				by := func() time.Time {
					if c.within == 0 {
						return time.Time{}
					}
					return begun.Add(c.within)
				}
				h := &claim{
					lease:     &leaseHolder{connection: &connection{core: core, changes: newChangeSignal(), opt: Options{AcquireBy: by}}},
					namespace: "shop", name: "rollout.web", acquired: make(chan struct{}), contended: make(chan struct{}),
				}
				h.foreign.Store(10 * 365 * 24 * 3600)
				h.noteHolder("anna@desk")
				err := h.awaitLease(t.Context(), nil)
				quiet.Stop() // a watch of the clientset does not end with its context
				if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text) || time.Since(begun) != c.want {
					t.Errorf("after %s: %v", time.Since(begun), err)
				}
			})
		})
	}
}

// TestLeaseSightings_ExpireUnchangedLeases: a lease counts as expired when it has stayed as it was for as long as it lasts, by
// the clock of who looked.
func TestLeaseSightings_ExpireUnchangedLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		holder, lasts, at := "anna@desk (1)", int32(20), metav1.NewMicroTime(time.Now().Add(-time.Hour))
		lease := &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "rollout.cloneset.web"},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &lasts, RenewTime: &at},
		}
		core, seen := fake.NewClientset(lease), &leaseSightings{}
		seen.look(t.Context(), core, "", []cluster.Ref{web, {Group: web.Group, Kind: web.Kind, Namespace: "shop", Name: "other"}})
		record := func(change func(*resourcelock.LeaderElectionRecord)) *resourcelock.LeaderElectionRecord {
			r := resourcelock.LeaseSpecToLeaderElectionRecord(&lease.Spec)
			change(r)
			return r
		}
		same := func(*resourcelock.LeaderElectionRecord) {}
		if seen.expired("shop", lease.Name, record(same), time.Now().Add(20*time.Second)) {
			t.Error("it lasts 20 seconds from when it was seen")
		}
		later := time.Now().Add(21 * time.Second)
		for name, c := range map[string]struct {
			name   string
			change func(*resourcelock.LeaderElectionRecord)
			want   bool
		}{
			"unchanged":    {lease.Name, same, true},
			"renewed":      {lease.Name, func(r *resourcelock.LeaderElectionRecord) { r.RenewTime = metav1.NewTime(later) }, false},
			"another":      {lease.Name, func(r *resourcelock.LeaderElectionRecord) { r.HolderIdentity = "ben@desk (2)" }, false},
			"longer":       {lease.Name, func(r *resourcelock.LeaderElectionRecord) { r.LeaseDurationSeconds = 60 }, false},
			"another name": {"rollout.cloneset.other", same, false},
		} {
			if got := seen.expired("shop", c.name, record(c.change), later); got != c.want {
				t.Errorf("%s: %t", name, got)
			}
		}
	})
}

// TestClaim_TakesAnExpiredLeaseAtOnce: a lease that was seen to expire while another one was waited for is not waited for
// once more.
func TestClaim_TakesAnExpiredLeaseAtOnce(t *testing.T) {
	s := newAPIServer(t, nil)
	times := Lease{Lasts: time.Minute, Tries: 40 * time.Second, Renew: 10 * time.Second}
	_, release, err := claimOn(t, s, "ann@desk", times).acquire(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	release()
	killed := s.list(leaseCollection)[0].DeepCopy()
	if err := unstructured.SetNestedField(killed.Object, "ben@desk", "spec", "holderIdentity"); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedField(killed.Object, int64(60), "spec", "leaseDurationSeconds"); err != nil {
		t.Fatal(err)
	}
	s.put(t, leaseCollection, killed)
	next := claimOn(t, s, "next", times)
	next.lease.opt.Shared = &Shared{}
	l, err := next.lease.core.CoordinationV1().Leases("shop").Get(t.Context(), "rollout.web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	next.lease.opt.Shared.leases.seen = map[string]leaseSighting{"shop/rollout.web": {*l.Spec.HolderIdentity, l.Spec.RenewTime.Time, time.Now().Add(-2 * time.Minute)}}
	begun := time.Now()
	_, let, err := next.acquire(t.Context(), nil)
	if err != nil || time.Since(begun) > times.Lasts/2 {
		t.Fatalf("after %s: %v", time.Since(begun), err)
	}
	let()
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
	return &claim{lease: lease, namespace: "shop", name: "rollout.web"}
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

// TestClaim_EndsWithItsRights: a hold whose credentials expire, or lose the permission, ends when its lease does, and says
// why; nothing is asked for ever. One answer of that kind is none: the credentials may have been renewed after it.
func TestClaim_EndsWithItsRights(t *testing.T) {
	times := Lease{Lasts: 4 * time.Second, Tries: 3 * time.Second, Renew: time.Second}
	for name, c := range map[string]struct {
		status  int
		lasting bool
	}{
		"expired": {http.StatusUnauthorized, true}, "renewed": {http.StatusUnauthorized, false},
		"forbidden": {http.StatusForbidden, true}, "allowed again": {http.StatusForbidden, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lasting := c.lasting
			s := newAPIServer(t, nil)
			held, release, err := claimOn(t, s, "ann@desk", times).acquire(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			s.refuse(leaseCollection, c.status)
			if !lasting {
				time.Sleep(2 * times.Renew)
				s.refuse(leaseCollection, 0)
			}
			select {
			case <-held.Done():
				err := context.Cause(held)
				if _, denied := errors.AsType[*apply.DeniedError](err); denied != (c.status == http.StatusForbidden) || denied == errors.Is(err, plan.ErrCredentials) {
					t.Errorf("its kind: %v", err)
				}
				if !lasting || !strings.Contains(err.Error(), "rollout.web") {
					t.Errorf("it ends: %v", err)
				}
			case <-time.After(3 * times.Lasts):
				if lasting {
					t.Error("the lease is asked for without end")
				}
			}
			before := len(s.requested(leaseCollection))
			time.Sleep(2 * times.Renew)
			if after := len(s.requested(leaseCollection)); lasting && after > before {
				t.Errorf("%d more requests", after-before)
			}
		})
	}
}

// TestLeaseHolder_SendsAgainWithNewCredentials: a write that is refused since its credentials expired is sent once more, which
// has them renewed by then, and no oftener.
func TestLeaseHolder_SendsAgainWithNewCredentials(t *testing.T) {
	for _, refused := range []int{0, 1, 2} {
		n := 0
		err := (&leaseHolder{connection: &connection{}}).send(t.Context(), func(context.Context) error {
			if n++; n <= refused {
				return planError("web", apierrors.NewUnauthorized("Unauthorized"))
			}
			return nil
		})
		if n != min(refused, 1)+1 || (err != nil) != (refused == 2) {
			t.Errorf("refused %d times: sent %d times, %v", refused, n, err)
		}
	}
}
