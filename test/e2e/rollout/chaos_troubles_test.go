package rollout

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
)

// trouble is something that goes wrong around a rollout for a time.
type trouble struct {
	name string
	// begin has it happen; the function that it returns ends it.
	begin func(context.Context, *testing.T, *history) (end func(), err error)
	// fits selects which histories it can happen to; nil is all.
	fits func(*history) bool
	// excuse is what a rollout may halt for then; it is retried.
	excuse string
	// final indicates that the rollout cannot be completed.
	final bool
}

// all are the troubles, the first of which is none.
var all = []trouble{
	{name: "none"},
	{name: "rival", begin: rival},
	{name: "held", begin: onHold},
	{name: "aborted", begin: aborted, excuse: "aborted by carla"},
	{name: "lease taken", begin: leaseTaken},
	{name: "lease deleted", begin: leaseDeleted},
	{name: "clock forward", begin: clock(time.Hour), excuse: "is not done after"},
	{name: "clock back", begin: clock(-time.Hour), excuse: "is not done after"}, // put right, it is forward
	{name: "quota", begin: quota},
	{name: "webhook", begin: webhook},
	{name: "denied", begin: denied, excuse: freeze},
	{name: "controller asleep", begin: asleep, fits: func(h *history) bool { return h.policy.Driver == plan.DriverKruise }},
	{name: "node not ready", begin: unready},
	{name: "pods lost", begin: lost, fits: func(h *history) bool {
		// Of the other kinds a pod that is lost comes back from the newest template.
		return h.kind == "CloneSet" || h.kind == "Advanced StatefulSet"
	}},
	{name: "namespace deleted", begin: namespaceDeleted, final: true},
}

// afflict gives the history its trouble.
func (h *history) afflict(what trouble) {
	h.begun = 10 + h.chance.IntN(40)
	h.end = h.begun + 1 + h.chance.IntN(40)
	if what.begin == nil || what.fits != nil && !what.fits(h) {
		return
	}
	h.trouble = what
	h.tell("%s from request %d to %d", what.name, h.begun, h.end)
}

func (h *history) excused(reason string) bool {
	return h.trouble.excuse != "" && strings.Contains(reason, h.trouble.excuse)
}

// strike has the trouble happen to a process, once in a history; it is over with the
// request that ends it, and when the function was called.
func (h *history) strike(t *testing.T, p *proxy.Proxy) (over func()) {
	t.Helper()
	if h.trouble.begin == nil || h.struck.Load() {
		return func() {}
	}
	s := &spell{}
	p.At(h.begun, func() { s.begin(t, h) })
	p.At(h.end, s.over)
	return s.over
}

// spell is the time that a trouble lasts. What is over before it has begun does not begin.
type spell struct {
	mu   sync.Mutex
	gone bool
	end  func()
}

func (s *spell) begin(t *testing.T, h *history) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return
	}
	h.struck.Store(true)
	end, err := h.trouble.begin(context.WithoutCancel(t.Context()), t, h)
	h.tell("%s has begun: %v", h.trouble.name, err)
	s.end = func() {
		if end != nil {
			end()
		}
		h.tell("%s is over", h.trouble.name)
	}
}

func (s *spell) over() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	if s.end != nil {
		s.end()
		s.end = nil
	}
}
