package kube

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// take seeks the lease, and keeps it until it is released.
func (h *hold) take(ctx context.Context, told func(holder string)) (held context.Context, release func(), err error) {
	held, lost := context.WithCancelCause(ctx)
	election, stop := context.WithCancel(ctx)
	h.me, h.lost, h.stop, h.got = h.lease.opt.Holder+" ("+string(uuid.NewUUID())[:8]+")", lost, stop, make(chan struct{})
	over := make(chan struct{})
	go func() {
		defer close(over)
		h.keep(election)
	}()
	release = func() {
		stop()
		patience := time.NewTimer(hasty)
		defer patience.Stop()
		select {
		case <-over:
		case <-patience.C:
		}
		lost(nil)
	}
	if err := h.acquired(ctx, told); err != nil {
		release()
		return nil, nil, err
	}
	return held, release, nil
}

// acquired waits for the lease, as long as one lasts that nobody renews. A holder
// that renews it is alive.
func (h *hold) acquired(ctx context.Context, told func(string)) error {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	renewed := make(chan string, 1)
	go h.rivals(watching, renewed)
	times := h.lease.opt.Lease.orUsual()
	soon, late := time.NewTimer(times.Lasts/10), time.NewTimer(times.patience())
	defer soon.Stop()
	defer late.Stop()
	for {
		select {
		case <-h.got:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-soon.C:
			// A slow server has not told the holder by now: it is asked for again.
			if holder := h.rival(); holder == "" {
				soon.Reset(times.Lasts / 10)
			} else if told != nil {
				told(holder)
			}
		case holder := <-renewed:
			return fmt.Errorf("%w: %s", plan.ErrTaken, holder)
		case <-late.C:
			return h.refused()
		}
	}
}

// rivals tells who else renews the lease, which is a sign of life.
func (h *hold) rivals(ctx context.Context, alive chan<- string) {
	seen := map[string]metav1.MicroTime{}
	for n := 1; ctx.Err() == nil; n++ {
		w, err := h.lease.core.CoordinationV1().Leases(h.namespace).Watch(ctx, metav1.ListOptions{
			FieldSelector: fields.OneTermEqualSelector("metadata.name", h.name).String(),
		})
		if err == nil {
			for e := range w.ResultChan() {
				if l, ok := e.Object.(*coordinationv1.Lease); ok && h.renews(l, seen) {
					alive <- *l.Spec.HolderIdentity
					w.Stop()
					return
				}
			}
			n = 1
		}
		_ = h.lease.bell.settle(ctx, backoff(n)) // the loop sees the end
	}
}

// renews reports whether somebody else has renewed the lease since it was seen
// first.
func (h *hold) renews(l *coordinationv1.Lease, seen map[string]metav1.MicroTime) bool {
	holder := l.Spec.HolderIdentity
	if holder == nil || *holder == "" || *holder == h.me || l.Spec.RenewTime == nil {
		return false
	}
	before, ok := seen[*holder]
	seen[*holder] = *l.Spec.RenewTime
	return ok && !before.Equal(l.Spec.RenewTime)
}

// refused says why the lease could not be had, though nobody was seen to renew it.
func (h *hold) refused() error {
	what := fmt.Sprintf("the lease %s/%s", h.namespace, h.name)
	if holder := h.rival(); holder != "" {
		what += ", which " + holder + " had last,"
	}
	if err, ok := h.fault.Load().(error); ok {
		return told(what, err)
	}
	return fmt.Errorf("%s: %w", what, plan.ErrUnavailable)
}

// keep holds the lease until the context ends. One that ran out, since the cluster
// did not answer, is sought again: the rollout goes on unless somebody else has it.
func (h *hold) keep(ctx context.Context) {
	ctx = logr.NewContext(ctx, logr.Discard())
	for ctx.Err() == nil {
		e, err := h.election()
		if err != nil {
			h.lost(err)
			return
		}
		e.Run(ctx)
	}
}

func (h *hold) election() (*leaderelection.LeaderElector, error) {
	times := h.lease.opt.Lease.orUsual()
	var e *leaderelection.LeaderElector
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: h.namespace, Name: h.name},
		Client:     ownedLeases{h.lease.core.CoordinationV1(), h.owners},
		LockConfig: resourcelock.ResourceLockConfig{Identity: h.me},
	}
	e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          &watchedLock{lock, h},
		LeaseDuration: times.Lasts, RenewDeadline: times.Tries, RetryPeriod: times.Renew, ReleaseOnCancel: true, Name: h.name,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { h.begin(ctx, e) },
			OnStoppedLeading: func() { h.current.Store(nil) },
			OnNewLeader:      h.meet,
		},
	})
	return e, err
}

// begin reads again what others may have written, and only then lets this process
// write.
func (h *hold) begin(ctx context.Context, e *leaderelection.LeaderElector) {
	for n := 1; ; n++ {
		err := h.refresh(ctx, h.had.Load() || h.rival() != "")
		if err == nil {
			break
		}
		h.fault.Store(faulty{err})
		if h.lease.bell.settle(ctx, backoff(n)) != nil {
			return
		}
	}
	h.had.Store(true)
	h.current.Store(e)
	h.first.Do(func() { close(h.got) })
	h.lease.bell.ring()
}

// meet is told of every holder. Whoever has the lease after us has taken over.
func (h *hold) meet(holder string) {
	if holder == h.me || holder == "" {
		return
	}
	h.other.Store(holder)
	if h.had.Load() {
		h.lost(fmt.Errorf("%w: %s", plan.ErrTaken, holder))
		h.stop()
	}
}

// ownedLeases makes leases that go away with the workload.
type ownedLeases struct {
	coordination.LeasesGetter

	owners []metav1.OwnerReference
}

// Leases is the client of a namespace.
func (l ownedLeases) Leases(namespace string) coordination.LeaseInterface {
	return ownedLease{l.LeasesGetter.Leases(namespace), l.owners}
}

type ownedLease struct {
	coordination.LeaseInterface

	owners []metav1.OwnerReference
}

// Create creates a lease with its owner.
func (l ownedLease) Create(ctx context.Context, lease *coordinationv1.Lease, o metav1.CreateOptions) (*coordinationv1.Lease, error) {
	lease.OwnerReferences = l.owners
	return l.LeaseInterface.Create(ctx, lease, o)
}

// watchedLock is a lock that keeps when it was renewed, or why it was refused.
type watchedLock struct {
	*resourcelock.LeaseLock

	hold *hold
}

// Create makes the lease.
func (l *watchedLock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.note(time.Now(), l.LeaseLock.Create(ctx, r))
}

// Update writes the lease. It is not let go of while a write may still be carried out.
func (l *watchedLock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	lease := l.hold.lease
	if r.HolderIdentity == "" && lease.flights.open(time.Now(), lease.opt.Lease.orUsual().Lasts) {
		return errUnderWay
	}
	return l.note(time.Now(), l.LeaseLock.Update(ctx, r))
}

// note keeps what became of a write that was sent at a time.
func (l *watchedLock) note(sent time.Time, err error) error {
	if err != nil {
		l.hold.fault.Store(faulty{err})
		return err
	}
	l.hold.renewed.Store(&sent)
	return nil
}

// faulty has one type for all errors, as an atomic.Value wants.
type faulty struct{ error }

// Unwrap returns the error.
func (f faulty) Unwrap() error { return f.error }
