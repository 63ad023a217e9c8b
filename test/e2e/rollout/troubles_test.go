package rollout

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
	"github.com/kubectl-kruise/kubectl-kruise/test/e2e/rollout/invariant"
)

// bites says by what is audited after a trouble has begun, or by what a rival heard, that
// the rollout has met it. How a process ends is met where it is named.
var bites = map[string]func(*history, invariant.Log) bool{
	"rival":          func(h *history, _ invariant.Log) bool { return h.refused.Load() },
	"lease deleted":  func(_ *history, l invariant.Log) bool { return has(l, "create", "leases", created, byOperator) },
	"clock forward":  func(_ *history, l invariant.Log) bool { return has(l, "patch", "clonesets", carriedOut, byOperator) },
	"clock back":     func(_ *history, l invariant.Log) bool { return has(l, "patch", "configmaps", carriedOut, byOperator) },
	"quota":          func(_ *history, l invariant.Log) bool { return has(l, "create", "pods", forbidden, byOthers) },
	"webhook":        func(_ *history, l invariant.Log) bool { return has(l, "patch", "clonesets", failed, byOperator) },
	"node not ready": func(_ *history, l invariant.Log) bool { return has(l, "patch", "pods", carriedOut, byOthers) },
	"pods lost":      func(_ *history, l invariant.Log) bool { return has(l, "create", "pods", created, byOthers) },
	"controller asleep": func(_ *history, l invariant.Log) bool {
		return has(l, "patch", "clonesets", carriedOut, byOperator)
	},
}

// Who asked for a write, and what the server answered.
const (
	byOperator, byOthers                   = true, false
	carriedOut, created, forbidden, failed = 200, 201, 403, 500
)

func has(l invariant.Log, verb, resource string, code int32, operator bool) bool {
	for i := range l {
		if w := &l[i]; w.Verb == verb && w.Resource == resource && w.Code == code && (w.By != "") == operator {
			return true
		}
	}
	return false
}

// ends are the ways in which the process ends that meets a trouble, where it does not go on.
var ends = map[string]struct {
	outcome event.Outcome
	reason  string
}{
	"aborted":           {event.Failed, "aborted by carla"},
	"lease taken":       {event.TakenOver, "another-holder"},
	"denied":            {event.Failed, freeze},
	"namespace deleted": {event.Failed, vanished},
}

// vanished are the reasons of a rollout whose namespace is deleted: what is missed first.
const vanished = "the record of the rollout was deleted|the object is gone"

// reasonIs reports whether a reason has one of the texts of want.
func reasonIs(reason, want string) bool {
	return slices.ContainsFunc(strings.Split(want, "|"), func(text string) bool { return strings.Contains(reason, text) })
}

// TestTroubles_CompleteOrFailAsTold tells the story of each trouble by itself, in fair weather: it begins while
// the rollout is at a pause after its first step, the rollout meets it, it ends, and the
// rollout is completed or has ended as it has to.
func TestTroubles_CompleteOrFailAsTold(t *testing.T) {
	for _, what := range all {
		if what.begin == nil {
			continue
		}
		t.Run(what.name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, 2) // a CloneSet
			h.weather, h.trouble = proxy.Weather{}, what
			h.next = strings.Replace(h.text, `"`+web1+`"`, `"`+web2+`", env: [{name: A, value: "1"}]`, 1)
			h.policy.Steps[0].Pause = &plan.Pause{}
			if strings.HasPrefix(what.name, "clock") {
				h.policy.Steps[0].Pause.For = plan.Duration(30 * time.Minute)
			}
			h.meets(t)
		})
	}
}

// meets tells the story.
func (h *history) meets(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { h.tellIfFailed(t) })
	ended := h.background(t)
	h.awaitPause(t)
	since := time.Now()
	end, err := h.trouble.begin(t.Context(), t, h)
	must(t, err)
	over := func() {
		if end != nil {
			end()
		}
	}
	halts := h.trouble.final || h.trouble.name == "aborted" // without any step
	if !halts {
		h.promotes(t)
	}
	h.awaitBite(t, since)
	want, stops := ends[h.trouble.name]
	if !stops {
		over()
	}
	res := <-ended
	if stops {
		if res.Outcome != want.outcome || !reasonIs(res.Reason, want.reason) {
			t.Errorf("%s: %s; want %s: %s", res.Outcome, res.Reason, want.outcome, want.reason)
		}
		over()
		if h.trouble.final {
			h.wants(t, always)
			return
		}
		if res.Outcome == event.Failed {
			h.retry(t)
		}
		if halts {
			h.promotes(t)
		}
		res = <-h.background(t)
	}
	if res.Outcome != event.Completed {
		t.Fatalf("%s: %s", res.Outcome, res.Reason)
	}
	h.outcome(t)
}

// promotes lets the rollout go on past its pause, unless that ends by itself.
func (h *history) promotes(t *testing.T) {
	t.Helper()
	if h.policy.Steps[0].Pause.For == 0 {
		must(t, h.change(t.Context(), func(r *plan.Record) { r.Progress.Promoted = true }))
	}
}

// background has one operator carry the rollout out.
func (h *history) background(t *testing.T) <-chan apply.Result {
	t.Helper()
	_, cfg := h.way(t)
	ended := make(chan apply.Result, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), testcluster.Patience)
		defer cancel()
		res, err := h.drive(ctx, t, cfg)
		h.tell("process ended: %s %s %v", res.Outcome, res.Reason, err)
		ended <- res
	}()
	return ended
}

// awaitPause waits until the rollout is at its pause.
func (h *history) awaitPause(t *testing.T) {
	t.Helper()
	h.await(t, func(ctx context.Context) (bool, error) {
		rec, err := kube.Records{Client: h.Client()}.Load(ctx, h.object.Ref)
		i := rec.Progress.Step
		return err == nil && i < len(rec.Plan.Steps) && rec.Plan.Steps[i].Kind == plan.StepPause && !rec.Progress.Promoted, nil
	})
}

// awaitBite waits until the rollout has met its trouble.
func (h *history) awaitBite(t *testing.T, since time.Time) {
	t.Helper()
	bitten := bites[h.trouble.name]
	if bitten == nil {
		return
	}
	h.await(t, func(context.Context) (bool, error) {
		events, err := h.AuditOf(h.namespace)
		if err != nil {
			return false, err
		}
		l := invariant.Read(events)
		for len(l) > 0 && l[0].At.Before(since) {
			l = l[1:]
		}
		return bitten(h, l), nil
	})
}

func (h *history) await(t *testing.T, holds wait.ConditionWithContextFunc) {
	t.Helper()
	must(t, wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, testcluster.Patience, true, holds))
}
