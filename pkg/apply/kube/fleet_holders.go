package kube

import (
	"context"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// holders tell who drives rollouts: a watch for the lease of each that is not over.
// There are few, and all leases of a cluster would be those of all its nodes.
type holders struct {
	fleet *Fleet

	mu     sync.Mutex
	leases map[cluster.Ref]*leased
}

// leased is the lease of one rollout.
type leased struct {
	stop context.CancelFunc

	mu sync.Mutex
	// lease is nil until the first answer, and where none is given; asked says that the
	// question is over.
	lease *mirror[*coordinationv1.Lease]
	asked bool
}

// unread stands for whoever may hold a lease that may not be read.
const unread = "an executor that you may not read"

// of is who drives a rollout now; "" is nobody. The first question begins the watch.
func (h *holders) of(ref cluster.Ref) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.leases[ref]
	if l == nil {
		if h.leases == nil {
			h.leases = map[cluster.Ref]*leased{}
		}
		l = h.begin(ref)
		h.leases[ref] = l
	}
	return l.holder()
}

func (h *holders) begin(ref cluster.Ref) *leased {
	c := h.fleet.c
	ctx, stop := context.WithCancel(c.ctx)
	l := &leased{stop: stop}
	namespace, name := c.record.where(ref)
	s := typed("the lease of "+ref.String(), &coordinationv1.Lease{}, c.core.CoordinationV1().Leases(namespace), "")
	s.fields = fields.OneTermEqualSelector("metadata.name", name).String()
	m := newMirror(c.bell.ring, readAs(itself[*coordinationv1.Lease]))
	go func() {
		err := follow(ctx, h.fleet.link.over(s), m)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.asked = true; err == nil {
			l.lease = m
		}
		c.bell.ring()
	}()
	return l
}

func (l *leased) holder() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lease == nil {
		return unread // nobody says that a rollout stands still before it is known
	}
	for _, lease := range listed(l.lease) {
		return holderOf(lease, time.Now())
	}
	return ""
}

// known reports whether every question has been answered.
func (h *holders) known() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.leases {
		l.mu.Lock()
		asked := l.asked
		l.mu.Unlock()
		if !asked {
			return false
		}
	}
	return true
}

// only ends the watches of rollouts that are over.
func (h *holders) only(sights map[cluster.Ref]*Sight) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ref, l := range h.leases {
		if s := sights[ref]; s == nil || !s.Begun {
			l.stop()
			delete(h.leases, ref)
		}
	}
}
