package kube

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestLeaseOutlastsFlights: while a write may still be carried out, the lease is not let
// go of.
func TestLeaseOutlastsFlights(t *testing.T) {
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
