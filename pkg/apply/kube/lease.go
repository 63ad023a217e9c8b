package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Lease are the times of the lease. A process that dies without releasing it blocks others
// for as long as the lease lasts, and each renewal is a write.
type Lease struct {
	// Lasts, in whole seconds, is how long others wait for a holder that is silent.
	Lasts time.Duration
	// Tries is how long a holder continues to write without having renewed; it is less
	// than Lasts.
	Tries time.Duration
	// Renew is the time between two renewals.
	Renew time.Duration
}

// defaultLease is the lease of every rollout, unless a caller has its own.
var defaultLease = Lease{Lasts: 20 * time.Second, Tries: 15 * time.Second, Renew: 5 * time.Second}

func (l Lease) withDefaults() Lease {
	if l == (Lease{}) {
		return defaultLease
	}
	return l
}

// acquireTimeout is how long a lease is waited for that is not renewed: it must be seen
// unchanged for as long as it lasts, is tried for at intervals of up to 2.2 times
// Renew, and an overloaded server does not answer each time.
func (l Lease) acquireTimeout() time.Duration { return 3*l.Lasts + 6*l.Renew }

// ErrAcquireTimeout indicates that the time to wait for a lease is over, see [Options.AcquireBy].
var ErrAcquireTimeout = errors.New("the time to wait for it is over")

// Hold makes this process the executor of the rollout. The context that it
// returns ends with a cause that wraps plan.ErrOtherExecutor when another process has taken
// over; as long as the lease is only not renewed, since the cluster does not answer,
// nothing is written. release ends it. A lease whose holder does not renew it is
// taken over; told is called once while that is waited for, and the error wraps
// plan.ErrOtherExecutor and names the holder if it is alive.
func (c *Cluster) Hold(ctx context.Context, told func(holder string)) (held context.Context, release func(), err error) {
	if c.opt.Target.Namespace == "" {
		if err := c.createStateNamespace(ctx); err != nil {
			return nil, nil, err
		}
	}
	h := &claim{lease: c.lease, namespace: c.record.namespace, name: c.record.name, workload: c, owners: c.observer.ownerReferences()}
	if held, release, err = h.acquire(ctx, told); err == nil {
		c.lease.claim.Store(h)
	}
	return held, release, err
}

// releaseTimeout is how long releasing may take: the lease expires in any case.
const releaseTimeout = 3 * time.Second

// leaseHolder reports whether this process may write, which is while it surely holds the
// rollout's lease.
type leaseHolder struct {
	*connection
	// claim is shared by the writers and the election; nil before there is any.
	claim    atomic.Pointer[claim]
	inFlight inFlightWrites
}

// check reports an error while this process must not write, since another may hold
// the rollout by now.
func (lh *leaseHolder) check() error {
	if h := lh.claim.Load(); h != nil {
		return h.check()
	}
	return nil
}

// claim is the claim of this process to be the executor.
type claim struct {
	lease                     *leaseHolder
	namespace, name, identity string
	// workload is what is read again, since others may have written it while they held it; nil is nothing.
	// owners are the objects with which the lease is deleted.
	workload *Cluster
	owners   []metav1.OwnerReference
	// lost ends what the holder does; stop ends the election.
	lost context.CancelCauseFunc
	stop context.CancelFunc
	// acquired is closed when the lease is held for the first time.
	acquired chan struct{}
	first    sync.Once
	// contended is closed when another holder is seen for the first time.
	contended  chan struct{}
	firstOther sync.Once
	// group is where the leases of members are looked at while another holder is waited for; nil is nowhere.
	// foreign is for how many seconds that one holds the lease without renewing it.
	group   *Groups
	foreign atomic.Int64
	// current is the running election, nil while the lease is not held.
	current atomic.Pointer[leaderelection.LeaderElector]
	// lastOther is the name of the last other holder; fault is why the lease could not be
	// written last.
	lastOther, fault atomic.Value
	// heldBefore indicates that the lease was held once.
	heldBefore atomic.Bool
	// renewed is when the write was sent that renewed the lease last: others count from
	// what it wrote, not from when its answer came.
	renewed atomic.Pointer[time.Time]
}

// newClaim is a claim of what is not a workload that was opened; Holder, Lease and AcquireBy of the
// options count.
func newClaim(c kubernetes.Interface, o Options, namespace, name string) *claim {
	lease := &leaseHolder{connection: &connection{opt: o, core: c, changes: newChangeSignal()}}
	return &claim{lease: lease, namespace: namespace, name: name}
}

// check reports an error unless this process surely holds the lease.
func (h *claim) check() error {
	if e := h.current.Load(); e != nil && e.IsLeader() && h.hasMargin() {
		return nil
	}
	return fmt.Errorf("the lease %s/%s cannot be renewed, nothing is written meanwhile: %w", h.namespace, h.name, plan.ErrUnavailable)
}

// hasMargin reports whether enough of the lease is left for something new to be written.
func (h *claim) hasMargin() bool {
	times := h.lease.opt.Lease.withDefaults()
	return h.remaining() > times.Lasts-times.Tries
}

// remaining is how long the lease still lasts. A machine that slept has not counted that time,
// but its clock shows it; a clock that was put forward only has the next renewal awaited.
func (h *claim) remaining() time.Duration {
	at := h.renewed.Load()
	if at == nil {
		return 0
	}
	now := time.Now()
	gone := max(now.Sub(*at), now.Round(0).Sub(at.Round(0)))
	return h.lease.opt.Lease.withDefaults().Lasts - gone
}

// otherHolder is the last other holder of the lease, "" for none.
func (h *claim) otherHolder() string {
	holder, _ := h.lastOther.Load().(string)
	return holder
}

// withTimeout is the context of one write: it ends with the longest that a request may take, and
// no later than the lease, so that none is in flight when another process has it.
func (lh *leaseHolder) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	most := requestTimeout
	if h := lh.claim.Load(); h != nil {
		most = min(most, h.remaining())
	}
	return context.WithTimeout(ctx, most)
}

// send carries out one write, in the time that is left of the lease.
func (lh *leaseHolder) send(ctx context.Context, send func(context.Context) error) error {
	limited, cancel := lh.withTimeout(ctx)
	defer cancel()
	lh.inFlight.begin()
	err := send(limited)
	if apierrors.IsUnauthorized(err) || errors.Is(err, plan.ErrCredentials) {
		err = send(limited) // a program that makes credentials makes new ones after such an answer
	}
	lh.inFlight.end(time.Now(), err == nil || limited.Err() == nil && !errors.Is(err, plan.ErrUnavailable))
	return err
}

// inFlightWrites are writes that the server may still carry out: those that are in progress,
// and those that ended without an answer. While there are any, the lease is not released before
// it expires: its next holder would write at the same time.
type inFlightWrites struct {
	mu         sync.Mutex
	open       int
	unanswered time.Time
}

var errWriteInFlight = errors.New("a write is in progress: the lease must expire")

func (f *inFlightWrites) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open++
}

// end notes the end of a write, and whether the server answered.
func (f *inFlightWrites) end(now time.Time, answered bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open--; !answered {
		f.unanswered = now
	}
}

// mayHappen reports whether there are any, or were within some time.
func (f *inFlightWrites) mayHappen(now time.Time, within time.Duration) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open > 0 || !f.unanswered.IsZero() && now.Sub(f.unanswered) < within
}

// Holder names the executor of a workload's rollout; "" for none, or one whose lease has
// expired.
func (r Records) Holder(ctx context.Context, ref cluster.Ref) (string, error) {
	namespace, name := r.location(ref)
	return holderNow(ctx, r.Client, namespace, name)
}

// holderNow names the holder of a lease; "" for none, or one that has expired.
func holderNow(ctx context.Context, c kubernetes.Interface, namespace, name string) (string, error) {
	l, err := c.CoordinationV1().Leases(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return holderOf(l, serverTime(c)), nil
}

// holderOf names the holder of a lease at a time of the server, "" for none.
func holderOf(l *coordinationv1.Lease, now time.Time) string {
	if l.Spec.HolderIdentity == nil || l.Spec.RenewTime == nil {
		return ""
	}
	lasts := defaultLease.Lasts
	if l.Spec.LeaseDurationSeconds != nil {
		lasts = time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
	}
	if now.Sub(renewedAt(l)) > lasts {
		return ""
	}
	return *l.Spec.HolderIdentity
}
