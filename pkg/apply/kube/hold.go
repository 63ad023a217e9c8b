package kube

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Lease are the times of the lease. Whoever dies without letting go blocks others
// for as long as the lease lasts, and each renewal is a write.
type Lease struct {
	// Lasts, in whole seconds, is how long others wait for a holder that is silent.
	Lasts time.Duration
	// Tries is how long a holder goes on writing without having renewed; it is less
	// than Lasts.
	Tries time.Duration
	// Renew is the time between two renewals.
	Renew time.Duration
}

// usualLease is the lease of every rollout, unless a caller has its own.
var usualLease = Lease{Lasts: 20 * time.Second, Tries: 15 * time.Second, Renew: 5 * time.Second}

func (l Lease) orUsual() Lease {
	if l == (Lease{}) {
		return usualLease
	}
	return l
}

// patience is how long a lease is waited for that nobody renews: it has to be seen
// unchanged for as long as it lasts, is tried for at intervals of up to 2.2 times
// Renew, and a server in trouble does not answer each time.
func (l Lease) patience() time.Duration { return 3*l.Lasts + 6*l.Renew }

// hasty is how long letting go may take: the lease runs out in any case.
const hasty = 3 * time.Second

// Hold makes this process the one that drives the rollout. The context that it
// returns ends with a cause that wraps plan.ErrTaken when somebody else has taken
// over; as long as the lease is only not renewed, since the cluster does not answer,
// nothing is written. release lets go. A lease whose holder does not renew it is
// taken over; told is called once while that is waited for, and the error wraps
// plan.ErrTaken and names the holder if it is alive.
func (c *Cluster) Hold(ctx context.Context, told func(holder string)) (held context.Context, release func(), err error) {
	if c.opt.Target.Namespace == "" {
		if err := c.stateNamespace(ctx); err != nil {
			return nil, nil, err
		}
	}
	h := &hold{cluster: c, refresh: c.refresh, owners: c.ownerReferences()}
	h.namespace, h.name = c.record.where(c.opt.Target.Ref)
	if held, release, err = h.take(ctx, told); err == nil {
		c.hold.Store(h)
	}
	return held, release, err
}

// take seeks the lease, and keeps it until it is released.
func (h *hold) take(ctx context.Context, told func(holder string)) (held context.Context, release func(), err error) {
	held, lost := context.WithCancelCause(ctx)
	election, stop := context.WithCancel(ctx)
	h.me, h.lost, h.stop, h.got = h.cluster.opt.Holder+" ("+string(uuid.NewUUID())[:8]+")", lost, stop, make(chan struct{})
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
	times := h.cluster.opt.Lease.orUsual()
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

// Holder names who drives the rollout of a workload now; "" for nobody, or somebody
// whose lease has run out.
func (r Records) Holder(ctx context.Context, ref cluster.Ref) (string, error) {
	namespace, name := r.where(ref)
	l, err := r.Client.CoordinationV1().Leases(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return holderOf(l, time.Now()), nil
}

// fenced reports an error while this process must not write, since another may hold
// the rollout by now.
func (c *Cluster) fenced() error {
	if h := c.hold.Load(); h != nil {
		return h.fence()
	}
	return nil
}

// brief is the context of one write: it ends with the longest that a request may take, and
// no later than the lease, so that none is under way when somebody else has it.
func (c *Cluster) brief(ctx context.Context) (context.Context, context.CancelFunc) {
	most := answerWithin
	if h := c.hold.Load(); h != nil {
		most = min(most, h.left())
	}
	return context.WithTimeout(ctx, most)
}

// refresh reads again what this process decides on, since another may have written
// what our watches do not show yet.
func (c *Cluster) refresh(ctx context.Context, all bool) error {
	if err := errors.Join(c.rereadRecord(ctx), c.rereadWorkload(ctx)); err != nil {
		return err
	}
	if !all {
		return nil
	}
	return c.pods.reread(ctx)
}

// lookAgain reads the record and the workload again, as soon as the server answers.
func (c *Cluster) lookAgain(ctx context.Context) error {
	for n := 1; ; n++ {
		err := c.refresh(ctx, false)
		if err == nil || !unavailable(err) {
			return err
		}
		if err := c.bell.settle(ctx, backoff(n)); err != nil {
			return err
		}
	}
}

func uidOf(w *cluster.Workload) types.UID { return types.UID(w.UID) }

// held is a hold that readers and the election share.
type held = atomic.Pointer[hold]
