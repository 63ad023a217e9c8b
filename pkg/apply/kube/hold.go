package kube

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	if err := c.acquired(ctx, got, &other, told); err != nil {
		release()
		return nil, nil, err
	}
	return held, release, nil
}

// acquired waits for the lease, as long as one lasts that nobody renews.
func (c *Cluster) acquired(ctx context.Context, got <-chan struct{}, other *atomic.Value, told func(string)) error {
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
		case <-late.C:
			holder, _ := other.Load().(string)
			return fmt.Errorf("%w: %s", plan.ErrTaken, orSomebody(holder))
		}
	}
}

func orSomebody(holder string) string {
	if holder == "" {
		return "the lease cannot be had; check the permissions for leases.coordination.k8s.io"
	}
	return holder
}

func uidOf(w *cluster.Workload) types.UID { return types.UID(w.UID) }
