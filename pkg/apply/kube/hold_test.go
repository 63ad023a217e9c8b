package kube

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// TestSure: a lease counts from when its renewal was sent, whenever that was answered;
// no write is under way longer than the lease lasts.
func TestSure(t *testing.T) {
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

// TestAcquired_SlowServer: who held the lease is told, also where the server takes its
// time to say so.
func TestAcquired_SlowServer(t *testing.T) {
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
