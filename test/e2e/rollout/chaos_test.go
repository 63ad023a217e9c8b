package rollout

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
)

// quick is a lease that is taken over within seconds.
var quick = kube.Lease{Lasts: time.Second, Tries: 800 * time.Millisecond, Renew: 200 * time.Millisecond}

// atOnce is how many histories run side by side: most of their time they wait.
const atOnce = 10

// TestChaos rolls out through a network that breaks, by processes that are killed.
// Every history ends in the planned state; no step is sent twice, none left out, and
// never are more pods unavailable than the workload allows. CHAOS_HISTORIES is how
// many there are, CHAOS_SEED the first of them.
func TestChaos(t *testing.T) {
	first, count := number(t, "CHAOS_SEED", 0), number(t, "CHAOS_HISTORIES", 30)
	atATime(t, first, count, func(t *testing.T, seed uint64) {
		t.Helper()
		newHistory(t, seed).run(t)
	})
}

// atATime tells histories, some of them at a time.
func atATime(t *testing.T, first, count uint64, tell func(*testing.T, uint64)) {
	t.Helper()
	var all sync.WaitGroup
	turns := make(chan struct{}, atOnce)
	for seed := first; seed < first+count; seed++ {
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { tell(t, seed) })
		})
	}
	all.Wait()
}

func number(t *testing.T, name string, byDefault uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return byDefault
	}
	n, err := strconv.ParseUint(text, 10, 32)
	must(t, err)
	return n
}

// history is one rollout through bad weather.
type history struct {
	*bed

	seed    uint64
	chance  *rand.Rand
	kind    string
	policy  plan.Policy
	weather proxy.Weather
	log     proxy.Log
	// plan is what was begun; nil until then.
	plan *plan.Plan
	// story is what happened, for whoever has to find out why it ended badly.
	story []string
}

func newHistory(t *testing.T, seed uint64) *history {
	t.Helper()
	h := &history{seed: seed, chance: rand.New(rand.NewPCG(seed, 3))}
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	h.kind = names[int(seed)%len(names)]
	k := kinds[h.kind]
	h.bed = newBed(t, k.workload)
	if h.chance.IntN(2) == 0 {
		// What cannot be changed in place has every pod made anew.
		h.next = strings.Replace(h.text, `"`+web1+`"`, `"`+web2+`", env: [{name: A, value: "1"}]`, 1)
		h.tell("pods are made anew")
	}
	h.policy = plan.Policy{Driver: k.driver, Steps: steps(t, k.steps...), Pull: plan.PullNever}
	h.weather = proxy.Weather{Requests: 0.2 * h.chance.Float64(), Watches: h.chance.Float64(), Slow: 800 * time.Millisecond}
	h.tell("%s, weather %+v", h.kind, h.weather)
	return h
}

func (h *history) tell(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.story = append(h.story, time.Now().Format("05.000 ")+fmt.Sprintf(format, args...))
}

// run drives the rollout by one process after the other.
func (h *history) run(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { h.tellIfFailed(t) })
	available := watchAvailability(t, h.bed)
	for kills := h.chance.IntN(4); ; kills-- {
		res, err := h.process(t, kills > 0)
		h.tell("process ended: %s %s %v", res.Outcome, res.Reason, err)
		if err == nil && res.Outcome == event.Completed {
			break
		}
		if kills <= 0 && err == nil && res.Outcome != event.TakenOver {
			t.Fatalf("%s: %s", res.Outcome, res.Reason)
		}
		if t.Context().Err() != nil || kills < -20 {
			t.Fatal("it does not end")
		}
	}
	h.outcome(t, available)
}

// tellIfFailed helps whoever has to find out why.
func (h *history) tellIfFailed(t *testing.T) {
	t.Helper()
	if t.Failed() {
		t.Logf("seed %d\n%s\n%v", h.seed, strings.Join(h.story, "\n"), h.log.Count())
	}
}

// outcome checks that the planned state is there, and how it was reached.
func (h *history) outcome(t *testing.T, available *availability) {
	t.Helper()
	if pods := h.pods(t); running(pods, web2) != len(pods) {
		t.Errorf("%d of %d pods run the new image", running(pods, web2), len(pods))
	}
	if low, least := available.least(), available.replicas-h.plan.Limits.MaxUnavailable; low < least {
		t.Errorf("%d pods were available, at least %d have to be\n%s", low, least, strings.Join(available.story, "\n"))
	}
	h.eachOnce(t)
}

// process is one run of the program: it begins the rollout or goes on with it, until
// it ends or is killed.
func (h *history) process(t *testing.T, killed bool) (apply.Result, error) {
	t.Helper()
	p, err := proxy.New(h.Config(), &h.log, h.weather, h.chance.Uint64())
	must(t, err)
	ctx, end := context.WithTimeoutCause(t.Context(), testcluster.Patience, errors.New("the test has no patience left"))
	defer end()
	die := func() {
		p.Kill() // first: nothing is said farewell to
		end()
	}
	defer die()
	if killed {
		p.At(1+h.chance.IntN(50), func() {
			h.tell("killed")
			die()
		})
	}
	c, err := kube.Open(ctx, p.Config(), kube.Options{
		Target: h.object, Gates: cluster.DefaultGates(), StateNamespace: "kubectl-kruise", Holder: "test", Lease: quick,
		Warn: func(text string) { h.tell("warning: %s", text) },
	})
	if err != nil {
		return apply.Result{}, err
	}
	defer c.Close()
	held, release, err := c.Hold(ctx, func(holder string) { h.tell("held by %s", holder) })
	if err != nil {
		return apply.Result{}, err
	}
	defer release()
	rec, err := h.begun(t, held, c)
	if err != nil {
		return apply.Result{}, err
	}
	return apply.Run(held, c, h.object.Ref, rec, apply.Options{Emit: func(e event.Event) {
		h.tell("%s %d %s %s", e.Type, e.Step, e.Text, e.Request)
	}})
}

// begun is the plan on record, put there if there is none.
func (h *history) begun(t *testing.T, ctx context.Context, c *kube.Cluster) (plan.Plan, error) { //nolint:revive // the test comes first
	t.Helper()
	rec, err := c.Resume()
	if err == nil {
		h.plan = &rec.Plan
		return rec.Plan, nil
	}
	if !errors.Is(err, kube.ErrNone) {
		return plan.Plan{}, err
	}
	s, err := c.Observe(ctx, h.object.Ref)
	if err != nil {
		return plan.Plan{}, err
	}
	desired, err := plan.WithTemplate(s.Workload, h.read(t, h.next).Template)
	must(t, err)
	p, err := plan.Build(desired, s, h.policy)
	must(t, err)
	h.plan = &p
	return p, c.Begin(ctx, h.object.Ref, p)
}
