package rollout

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
)

// stormy is a lease that is taken over within seconds and leaves the time to a write that a
// network in bad weather takes for it.
var stormy = kube.Lease{Lasts: 6 * time.Second, Tries: 3 * time.Second, Renew: 300 * time.Millisecond}

// atOnce is how many histories run side by side: most of their time they wait.
const atOnce = 10

// TestChaos_EndsInThePlannedState rolls out through a network that breaks, by processes that are killed, with
// one of [troubles] in the middle of it. Every history ends in the planned state, or, where a user goes back,
// in the one before, or where its trouble says, and everything that is audited of it keeps all invariants.
// CHAOS_HISTORIES is how many there are, CHAOS_SEED the first of them.
func TestChaos_EndsInThePlannedState(t *testing.T) {
	first, count := number(t, "CHAOS_SEED", 0), number(t, "CHAOS_HISTORIES", 8)
	atATime(t, first, count, func(t *testing.T, seed uint64) {
		t.Helper()
		h := newHistory(t, seed, goesForward, goesForward, rollsBack, undoes)
		h.afflict(all[h.chance.IntN(len(all))])
		h.run(t)
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
	// trouble is what goes wrong besides, begun and ended with requests of these numbers.
	trouble    trouble
	begun, end int
	// ending is how it ends, turn the request with which a user ends the rollout to go back, and turned that
	// one has.
	ending ending
	turn   int
	turned atomic.Bool
	// plan is what was begun; nil until then. It stays when another one leads back.
	plan *plan.Plan
	// ahead is how far the clock of the operators is put forward.
	ahead atomic.Int64
	// operators is how many there were, refused that a rival was told of another, struck
	// that the trouble has begun.
	operators       atomic.Int64
	refused, struck atomic.Bool
	// story is what happened, to find out why it failed.
	story []string
}

func newHistory(t *testing.T, seed uint64, ways ...ending) *history {
	t.Helper()
	names := slices.Sorted(maps.Keys(kinds))
	c, namespace := shared(t)
	return historyIn(t, c, namespace, seed, names[int(seed)%len(names)], ways...)
}

// historyIn is a history of one kind in a cluster that audits, which ends in one of these ways; forward without any.
func historyIn(t *testing.T, c *testcluster.Cluster, namespace string, seed uint64, kind string, ways ...ending) *history {
	t.Helper()
	h := &history{seed: seed, chance: rand.New(rand.NewPCG(seed, 3)), kind: kind, ending: goesForward}
	k := kinds[kind]
	h.policy = plan.Policy{Driver: k.driver, Steps: steps(t, k.steps...), Pull: plan.PullNever}
	k.workload.text = h.choose(k.workload.text, ways)
	h.bed = bedIn(t, c, namespace, k.workload)
	if h.chance.IntN(2) == 0 {
		// What cannot be changed in place has every pod recreated.
		h.next = strings.Replace(h.text, `"`+web1+`"`, `"`+web2+`", env: [{name: A, value: "1"}]`, 1)
		h.tell("pods are recreated")
	}
	if len(h.policy.Steps) > 0 && h.chance.IntN(2) == 0 {
		h.policy.Steps[0].Pause = &plan.Pause{For: plan.Duration(time.Second)}
	}
	h.weather = proxy.Weather{Requests: 0.2 * h.chance.Float64(), Watches: h.chance.Float64(), Slow: 800 * time.Millisecond}
	h.tell("%s, %s, weather %+v", h.kind, h.ending, h.weather)
	return h
}

func (h *history) tell(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.story = append(h.story, time.Now().Format("05.000 ")+fmt.Sprintf(format, args...))
}

// Write takes a warning.
func (h *history) Write(line []byte) (int, error) {
	h.tell("%s", strings.TrimSpace(string(line)))
	return len(line), nil
}

// run drives the rollout by one process after the other.
func (h *history) run(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { h.tellIfFailed(t) })
	for kills := h.chance.IntN(4); ; kills-- {
		res, err := h.process(t, kills > 0)
		h.tell("process ended: %s %s %v", res.Outcome, res.Reason, err)
		switch {
		case h.trouble.final && h.struck.Load() && (err != nil || res.Outcome != event.Interrupted):
			if h.turned.Load() {
				h.wants(t, backward)
			} else {
				h.wants(t, always)
			}
			return
		case err == nil && h.isBack(res):
			h.outcomeBack(t)
			return
		case err == nil && res.Outcome == event.Completed && h.ending == goesForward:
			h.outcome(t)
			return
		case err == nil && res.Outcome == event.Completed:
			h.turned.Store(true) // it goes back from the end
		case err == nil && res.Outcome == event.Failed && h.turned.Load() && !h.leadsBack(&res.Plan):
		case err == nil && res.Outcome == event.Failed && h.excused(res.Reason):
			h.retry(t)
		case kills <= 0 && err == nil && res.Outcome != event.TakenOver:
			t.Fatalf("%s: %s", res.Outcome, res.Reason)
		}
		if t.Context().Err() != nil || kills < -20 {
			t.Fatal("it does not end")
		}
	}
}

// retry continues a rollout that has failed, as a user does.
func (h *history) retry(t *testing.T) {
	t.Helper()
	must(t, h.change(t.Context(), func(r *plan.Record) {
		again, err := r.Progress.Retry(r.Plan, time.Now())
		must(t, err)
		r.Progress = again
	}))
}

// tellIfFailed prints what helps to find out why.
func (h *history) tellIfFailed(t *testing.T) {
	t.Helper()
	if t.Failed() {
		t.Logf("seed %d\n%s\n%v\n%s", h.seed, strings.Join(h.story, "\n"), h.log.Count(), h.audited(t))
	}
}

// process is one run of the program: it starts the rollout or continues it, until
// it ends or is killed.
func (h *history) process(t *testing.T, killed bool) (apply.Result, error) {
	t.Helper()
	p, cfg := h.way(t)
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
	if h.ending != goesForward {
		p.At(h.turn, func() { h.turns(context.WithoutCancel(t.Context())) })
	}
	defer h.strike(t, p)()
	return h.drive(ctx, t, cfg)
}

// way is how the next operator gets to the server, which hears who it is.
func (h *history) way(t *testing.T) (*proxy.Proxy, *rest.Config) {
	t.Helper()
	h.mu.Lock()
	seed := h.chance.Uint64()
	h.mu.Unlock()
	p, err := proxy.New(h.Config(), &h.log, h.weather, seed)
	must(t, err)
	cfg := p.Config()
	cfg.Impersonate = rest.ImpersonationConfig{UserName: fmt.Sprint("operator-", h.operators.Add(1)), Groups: []string{"system:masters"}}
	return p, cfg
}

// drive holds the lease and carries the rollout out.
func (h *history) drive(ctx context.Context, t *testing.T, cfg *rest.Config) (apply.Result, error) {
	t.Helper()
	if h.turned.Load() {
		return h.driveBack(ctx, cfg)
	}
	c, err := kube.Open(ctx, cfg, kube.Options{
		Target: h.object, Gates: cluster.DefaultGates(), StateNamespace: "kubectl-kruise", Holder: cfg.Impersonate.UserName, Lease: stormy,
		Warnings: h,
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
	rec, err := h.recorded(t, held, c)
	if err != nil {
		return apply.Result{}, err
	}
	return apply.Run(held, shifted{c, &h.ahead}, h.object.Ref, rec, apply.Options{Emit: func(e event.Event) {
		h.tell("%s %d %s %s", e.Type, e.Step, e.Text, e.Request)
	}})
}

// shifted is a cluster whose clock is put forward, or back.
type shifted struct {
	*kube.Cluster

	ahead *atomic.Int64
}

// Now is what the clock shows.
func (s shifted) Now() time.Time { return s.Cluster.Now().Add(time.Duration(s.ahead.Load())) }

// Await waits as long as that clock says; one that is moved meanwhile ends no waiting.
func (s shifted) Await(ctx context.Context, w cluster.Ref, since string, until time.Time) error {
	if !until.IsZero() {
		until = until.Add(-time.Duration(s.ahead.Load()))
	}
	return s.Cluster.Await(ctx, w, since, until)
}

// recorded is the recorded plan, put there if there is none.
func (h *history) recorded(t *testing.T, ctx context.Context, c *kube.Cluster) (plan.Plan, error) { //nolint:revive // the test comes first
	t.Helper()
	rec, err := c.Resume()
	if err == nil {
		h.keep(&rec.Plan)
		return rec.Plan, nil
	}
	if !errors.Is(err, plan.ErrNoRollout) {
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
	err = c.Begin(ctx, h.object.Ref, p)
	if err == nil || !h.planned() {
		h.keep(&p)
	}
	return p, err
}

// planned reports whether a plan was recorded, as far as the test knows: one that could
// not be is not what earlier writes are judged by.
func (h *history) planned() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.plan != nil
}

func (h *history) keep(p *plan.Plan) {
	if h.leadsBack(p) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.plan = p
}
