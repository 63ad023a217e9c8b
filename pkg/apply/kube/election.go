package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// The requests for a lease, of a rollout that no other process carries out:
//
//   - one get, which says whether another process holds it;
//   - one create, or one update of a lease that was released;
//   - one update for each [Lease.Renew] that it is held;
//   - one update that releases it.
//
// A watch is opened only while another process holds the lease. The elector of client-go
// would renew it once more right after acquiring, and read it before releasing:
// [recordingLock] leaves out both.

// acquire waits for the lease, and renews it until it is released.
func (h *claim) acquire(ctx context.Context, told func(holder string)) (held context.Context, release func(), err error) {
	held, lost := context.WithCancelCause(ctx)
	election, stop := context.WithCancel(ctx)
	h.identity, h.lost, h.stop = h.lease.opt.Holder+" ("+string(uuid.NewUUID())[:8]+")", lost, stop
	h.acquired, h.contended = make(chan struct{}), make(chan struct{})
	over := make(chan struct{})
	go func() {
		defer close(over)
		h.run(election)
	}()
	release = func() {
		stop()
		patience := time.NewTimer(releaseTimeout)
		defer patience.Stop()
		select {
		case <-over:
		case <-patience.C:
		}
		lost(nil)
	}
	if err := h.awaitLease(ctx, told); err != nil {
		release()
		return nil, nil, err
	}
	return held, release, nil
}

// awaitLease waits for the lease, until one that is not renewed would have expired. A
// holder that renews it is alive: its renewals are watched once there is one.
func (h *claim) awaitLease(ctx context.Context, told func(string)) error {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	renewed, contended := make(chan string, 1), h.contended
	times := h.lease.opt.Lease.withDefaults()
	soon, late := time.NewTimer(times.Lasts/10), time.NewTimer(times.acquireTimeout())
	defer soon.Stop()
	defer late.Stop()
	var over <-chan time.Time
	if by := h.lease.opt.AcquireBy; by != nil && !by().IsZero() {
		timer := time.NewTimer(time.Until(by()))
		defer timer.Stop()
		over = timer.C
	}
	for {
		select {
		case <-h.acquired:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-contended:
			contended = nil
			go h.watchRenewals(watching, renewed)
			if h.group != nil {
				go h.group.lookAtMembers(watching, h.namespace, strings.TrimPrefix(h.name, groupPrefix))
			}
		case <-soon.C:
			// A slow server has not named the holder yet: it is asked again.
			if holder := h.otherHolder(); holder == "" {
				soon.Reset(times.Lasts / 10)
			} else if told != nil {
				told(holder)
			}
		case holder := <-renewed:
			return fmt.Errorf("%w: %s", plan.ErrOtherExecutor, holder)
		case <-over:
			return fmt.Errorf("%s: %w", h.waitedFor(), ErrAcquireTimeout)
		case <-late.C:
			return h.notAcquired()
		}
	}
}

// watchRenewals sends the name of another process that renews the lease, and so is alive.
func (h *claim) watchRenewals(ctx context.Context, alive chan<- string) {
	seen := map[string]metav1.MicroTime{}
	for n := 1; ctx.Err() == nil; n++ {
		w, err := h.lease.core.CoordinationV1().Leases(h.namespace).Watch(ctx, metav1.ListOptions{
			FieldSelector: fields.OneTermEqualSelector("metadata.name", h.name).String(),
		})
		if err == nil {
			for e := range w.ResultChan() {
				if l, ok := e.Object.(*coordinationv1.Lease); ok && h.isRenewalByOther(l, seen) {
					alive <- *l.Spec.HolderIdentity
					w.Stop()
					return
				}
			}
			n = 1
		}
		_ = h.lease.changes.pause(ctx, backoff(n)) // the loop sees the end
	}
}

// isRenewalByOther reports whether another process has renewed the lease since it was
// seen first.
func (h *claim) isRenewalByOther(l *coordinationv1.Lease, seen map[string]metav1.MicroTime) bool {
	holder := l.Spec.HolderIdentity
	if holder == nil || *holder == "" || *holder == h.identity || l.Spec.RenewTime == nil {
		return false
	}
	before, ok := seen[*holder]
	seen[*holder] = *l.Spec.RenewTime
	return ok && !before.Equal(l.Spec.RenewTime)
}

// notAcquired reports why the lease was not acquired, though no other process renewed it.
func (h *claim) notAcquired() error {
	what := h.waitedFor()
	if err, ok := h.fault.Load().(error); ok {
		return planError(what, err)
	}
	if lasts := time.Duration(h.foreign.Load()) * time.Second; h.otherHolder() != "" && lasts > h.lease.opt.Lease.withDefaults().Lasts {
		return fmt.Errorf("%w: %s lasts %s without being renewed; if that process is gone, delete it: kubectl delete lease %s -n %s", plan.ErrOtherExecutor, what, lasts, h.name, h.namespace)
	}
	return fmt.Errorf("%s: %w", what, plan.ErrUnavailable)
}

// waitedFor is the lease in a message, with who had it last.
func (h *claim) waitedFor() string {
	what := fmt.Sprintf("the lease %s/%s", h.namespace, h.name)
	if holder := h.otherHolder(); holder != "" {
		what += ", which " + holder + " had last,"
	}
	return what
}

// run renews the lease until the context ends. One that expired, since the cluster
// did not answer, is acquired again: the rollout continues unless another process has it.
func (h *claim) run(ctx context.Context) {
	ctx = logr.NewContext(ctx, logr.Discard())
	for ctx.Err() == nil {
		e, err := h.elector()
		if err != nil {
			h.lost(err)
			return
		}
		e.Run(ctx)
	}
}

func (h *claim) elector() (*leaderelection.LeaderElector, error) {
	times := h.lease.opt.Lease.withDefaults()
	var e *leaderelection.LeaderElector
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: h.namespace, Name: h.name},
		Client:     ownedLeases{h.lease.core.CoordinationV1(), h.owners},
		LockConfig: resourcelock.ResourceLockConfig{Identity: h.identity},
	}
	e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          &recordingLock{LeaseLock: lock, claim: h},
		LeaseDuration: times.Lasts, RenewDeadline: times.Tries, RetryPeriod: times.Renew, ReleaseOnCancel: true, Name: h.name,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { h.startLeading(ctx, e) },
			OnStoppedLeading: func() { h.current.Store(nil) },
			OnNewLeader:      h.noteHolder,
		},
	})
	return e, err
}

// startLeading reads again what others may have written, and only then lets this process
// write.
func (h *claim) startLeading(ctx context.Context, e *leaderelection.LeaderElector) {
	for n := 1; ; n++ {
		if h.workload == nil {
			break
		}
		err := h.workload.reread(ctx, h.heldBefore.Load() || h.otherHolder() != "")
		if err == nil {
			break
		}
		h.fault.Store(storedError{err})
		if h.lease.changes.pause(ctx, backoff(n)) != nil {
			return
		}
	}
	h.heldBefore.Store(true)
	h.current.Store(e)
	h.first.Do(func() { close(h.acquired) })
	h.lease.changes.broadcast()
}

// noteHolder is called with every holder. One that has the lease after this process has
// taken over.
func (h *claim) noteHolder(holder string) {
	if holder == h.identity || holder == "" {
		return
	}
	h.lastOther.Store(holder)
	h.firstOther.Do(func() { close(h.contended) })
	if h.heldBefore.Load() {
		h.lost(fmt.Errorf("%w: %s", plan.ErrOtherExecutor, holder))
		h.stop()
	}
}

// noteRefusal ends the hold where the lease has expired since the credentials are not accepted any more, or do not
// allow it: without others nothing would ever be written again.
func (h *claim) noteRefusal(err error) {
	forbidden := apierrors.IsForbidden(err)
	if !forbidden && !apierrors.IsUnauthorized(err) {
		return
	}
	h.fault.Store(storedError{err})
	if !h.heldBefore.Load() || h.remaining() > 0 {
		return
	}
	if err = planError(fmt.Sprintf("the lease %s/%s", h.namespace, h.name), err); forbidden {
		err = &apply.DeniedError{Err: err}
	}
	h.lost(err)
	h.stop()
}

// ownedLeases creates leases that are deleted with the workload.
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

// recordingLock is a lock that keeps when it was renewed, or why it was refused. It leaves out
// requests that tell and write nothing new.
type recordingLock struct {
	*resourcelock.LeaseLock

	claim *claim
	// written is what was written last, while no request has failed since; nil without.
	// holder is who has the lease, as far as is known. Only the goroutine of the elector uses
	// them.
	written *resourcelock.LeaderElectionRecord
	holder  string
}

// expired is the duration of a lease that counts as expired from when it is read.
const expired = -3600

var errHeldByOther = errors.New("another process holds the lease: it is not released")

// Get reads the lease. While it lasts, this process knows what it wrote: should another process
// have changed the lease nevertheless, the update that follows is a conflict, and the lease is
// read then.
func (l *recordingLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if l.written != nil && l.claim.remaining() > 0 {
		raw, err := json.Marshal(l.written)
		return l.written, raw, err
	}
	record, raw, err := l.LeaseLock.Get(ctx)
	if err == nil {
		l.holder = record.HolderIdentity
		l.claim.foreign.Store(int64(record.LeaseDurationSeconds))
		if s := l.claim.lease.opt.Shared; s != nil && s.leases.expired(l.claim.namespace, l.claim.name, record, time.Now()) {
			// It has been waited for: the elector would begin to count now.
			record.LeaseDurationSeconds, raw = expired, append(raw, ' ')
		}
	}
	l.claim.noteRefusal(err)
	return record, raw, err
}

// Create creates the lease.
func (l *recordingLock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.note(time.Now(), r, l.LeaseLock.Create(ctx, r))
}

// Update writes the lease, unless it was written just now. It is not released while a write may
// still be carried out, nor after another process has acquired it.
func (l *recordingLock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	lease := l.claim.lease
	times := lease.opt.Lease.withDefaults()
	switch {
	case r.HolderIdentity == "" && lease.inFlight.mayHappen(time.Now(), times.Lasts):
		return errWriteInFlight
	case r.HolderIdentity == "" && l.holder != l.claim.identity:
		return errHeldByOther
	case r.HolderIdentity != "" && l.written != nil && l.claim.remaining() > times.Lasts-times.Renew/10:
		return nil
	}
	return l.note(time.Now(), r, l.LeaseLock.Update(ctx, r))
}

// note keeps what was written at a time, or why it was refused.
func (l *recordingLock) note(sent time.Time, r resourcelock.LeaderElectionRecord, err error) error {
	if err != nil {
		l.written = nil
		l.claim.fault.Store(storedError{err})
		l.claim.noteRefusal(err)
		return err
	}
	l.written, l.holder = &r, r.HolderIdentity
	l.claim.renewed.Store(&sent)
	return nil
}

// storedError has one type for all errors, as an atomic.Value wants.
type storedError struct{ error }

// Unwrap returns the error.
func (f storedError) Unwrap() error { return f.error }
