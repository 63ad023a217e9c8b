package rollout

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/e2e/rollout/invariant"
)

// lag is how long after a pod fell by itself everybody can have heard of it: watches are
// behind in bad weather.
const lag = 10 * time.Second

// rule is an invariant by its name.
type rule struct {
	name  string
	holds func(invariant.Log, *invariant.Rollout) []string
}

// always are the invariants of whatever happens, done those of rollouts that are completed.
var (
	always = []rule{
		{"inside", invariant.Inside},
		{"leased", invariant.Leased},
		{"stepwise", invariant.Stepwise},
		{"announced", func(l invariant.Log, r *invariant.Rollout) []string { return invariant.Announced(l, r, lag) }},
		{"budget", func(l invariant.Log, r *invariant.Rollout) []string { return invariant.Budget(l, r, lag) }},
	}
	// backward are those of rollouts that another one led back.
	backward = []rule{
		{"inside", invariant.Inside},
		{"leased", invariant.Leased},
		{"budget", func(l invariant.Log, r *invariant.Rollout) []string {
			both := *r
			both.Image = "" // pods of either template are the old ones on one of the ways
			return invariant.Budget(l, &both, lag)
		}},
	}
	done = []rule{
		{"once", invariant.Once},
		{"ended", invariant.Ended},
		{"released", invariant.Released},
		{"served", func(l invariant.Log, r *invariant.Rollout) []string { return invariant.Served(l, r, lag) }},
	}
)

// outcome checks that the planned state is there, and how it was reached. Pods may have
// fallen since by a trouble that is over: they come back. That all of them had been serving
// when the rollout ended is told by the log.
func (h *history) outcome(t *testing.T) {
	t.Helper()
	var got string
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, testcluster.Patience, true, func(context.Context) (bool, error) {
		pods := h.pods(t)
		got = fmt.Sprintf("%d of %d pods run the new image", running(pods, web2), len(pods))
		return running(pods, web2) == len(pods), nil
	})
	if err != nil {
		t.Error(got)
	}
	h.wants(t, always, done...)
}

// wants checks what was audited.
func (h *history) wants(t *testing.T, rules []rule, more ...rule) {
	t.Helper()
	if h.plan == nil {
		return // nothing was begun
	}
	l := h.audited(t)
	for _, r := range slices.Concat(rules, more) {
		for _, wrong := range r.holds(l, h.rollout()) {
			t.Errorf("%s: %s", r.name, wrong)
		}
	}
}

// audited is what the server has noted of the history's namespace.
func (h *history) audited(t *testing.T) invariant.Log {
	t.Helper()
	events, err := h.AuditOf(h.namespace)
	must(t, err)
	return invariant.Read(events)
}

// rollout is what invariants know of the history; without a plan until one was begun.
func (h *history) rollout() *invariant.Rollout {
	state := "rollout." + strings.ToLower(h.object.Kind)
	if h.object.Group != kruiseGroup {
		state += "-native"
	}
	out := &invariant.Rollout{Resource: h.object.Resource.Resource, Name: "web", State: state + ".web", Image: web2}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.plan != nil {
		out.Plan = *h.plan
	}
	return out
}
