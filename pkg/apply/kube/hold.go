package kube

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Times of the lease. Whoever dies without letting go blocks others for as long as
// the lease lasts, and each renewal is a write.
const (
	leaseLasts = 20 * time.Second
	leaseTries = 15 * time.Second
	leaseRenew = 5 * time.Second
)

// Hold makes this process the one that drives the rollout. The context that it
// returns ends with a cause that wraps plan.ErrTaken when the hold is lost; release
// lets go. A lease whose holder does not renew it is taken over; told is called once
// while that is waited for, and the error wraps plan.ErrTaken and names the holder
// if it is alive.
func (c *Cluster) Hold(ctx context.Context, told func(holder string)) (held context.Context, release func(), err error) {
	if c.opt.Target.Namespace == "" {
		if err := c.stateNamespace(ctx); err != nil {
			return nil, nil, err
		}
	}
	namespace, name := c.record.where(c.opt.Target.Ref)
	me := c.opt.Holder + " (" + string(uuid.NewUUID())[:8] + ")"
	held, cancel := context.WithCancelCause(ctx)
	election, stop := context.WithCancel(ctx)
	got, over := make(chan struct{}), make(chan struct{})
	var other atomic.Value
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Client: c.core.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: me},
		},
		LeaseDuration: leaseLasts, RenewDeadline: leaseTries, RetryPeriod: leaseRenew, ReleaseOnCancel: true, Name: name,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(got) },
			OnStoppedLeading: func() {},
			OnNewLeader: func(holder string) {
				if holder != me {
					other.Store(holder)
				}
			},
		},
	})
	if err != nil {
		stop()
		cancel(nil)
		return nil, nil, err
	}
	go func() {
		elector.Run(election)
		cancel(fmt.Errorf("%w: the lease %s/%s could not be renewed", plan.ErrTaken, namespace, name))
		close(over)
	}()
	release = func() {
		stop()
		<-over
	}
	if err := c.acquired(ctx, got, me, &other, told); err != nil {
		release()
		return nil, nil, err
	}
	return held, release, nil
}

// acquired waits for the lease, as long as one lasts that nobody renews. A holder
// that renews it is alive.
func (c *Cluster) acquired(ctx context.Context, got <-chan struct{}, me string, other *atomic.Value, told func(string)) error {
	renewed, stop := c.renewals(ctx, me)
	defer stop()
	soon, late := time.NewTimer(2*time.Second), time.NewTimer(leaseLasts+2*leaseRenew)
	defer soon.Stop()
	defer late.Stop()
	for {
		select {
		case <-got:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-soon.C:
			if holder, _ := other.Load().(string); told != nil && holder != "" {
				told(holder)
			}
		case holder := <-renewed:
			return fmt.Errorf("%w: %s", plan.ErrTaken, holder)
		case <-late.C:
			holder, _ := other.Load().(string)
			return fmt.Errorf("%w: %s", plan.ErrTaken, orSomebody(holder))
		}
	}
}

// renewals tells who renews the lease, if somebody else does.
func (c *Cluster) renewals(ctx context.Context, me string) (<-chan string, func()) {
	namespace, name := c.record.where(c.opt.Target.Ref)
	alive := make(chan string, 1)
	w, err := c.core.CoordinationV1().Leases(namespace).Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String(),
	})
	if err != nil {
		return alive, func() {} // the lease itself says so in the end
	}
	go func() {
		seen := map[string]metav1.MicroTime{}
		for e := range w.ResultChan() {
			l, ok := e.Object.(*coordinationv1.Lease)
			if !ok || l.Spec.HolderIdentity == nil || l.Spec.RenewTime == nil || *l.Spec.HolderIdentity == me {
				continue
			}
			holder := *l.Spec.HolderIdentity
			if before, ok := seen[holder]; ok && holder != "" && !before.Equal(l.Spec.RenewTime) {
				alive <- holder
				return
			}
			seen[holder] = *l.Spec.RenewTime
		}
	}()
	return alive, w.Stop
}

func orSomebody(holder string) string {
	if holder == "" {
		return "the lease cannot be had; check the permissions for leases.coordination.k8s.io"
	}
	return holder
}

func uidOf(w *cluster.Workload) types.UID { return types.UID(w.UID) }

// Holder names whoever holds the rollout of a workload now, as the lease says; it is
// empty when nobody does.
func (r Records) Holder(ctx context.Context, ref cluster.Ref) (string, error) {
	namespace, name := r.where(ref)
	l, err := r.Client.CoordinationV1().Leases(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", err
	case l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" || l.Spec.RenewTime == nil:
		return "", nil
	case time.Since(l.Spec.RenewTime.Time) > leaseLasts:
		return "", nil
	}
	return *l.Spec.HolderIdentity, nil
}

// Rollout is the record of the workload's rollout as it is now; the error wraps
// ErrNone without one.
func (c *Cluster) Rollout() (Record, error) {
	rec, err := c.record.now()
	if err == nil && rec.version == "" {
		return rec, fmt.Errorf("%s: %w", c.opt.Target.Ref, ErrNone)
	}
	return rec, err
}
