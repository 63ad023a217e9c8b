package plan

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// watched are what nobody else may change while a plan is carried out, and how to
// read it; ok is false where the object has no such thing.
var watched = []struct {
	condition ConditionType
	gate      string
	read      func(*cluster.Workload) (value string, ok bool)
}{
	{HoldsTemplate, GateTemplate, func(w *cluster.Workload) (string, bool) { return hashOf(w), true }},
	{HoldsPartition, GatePartition, func(w *cluster.Workload) (string, bool) {
		v, ok := partitionOf(w.Object)
		return v.String(), ok
	}},
	{HoldsPaused, GatePaused, func(w *cluster.Workload) (string, bool) { return strconv.FormatBool(rules.PausedOf(w.Object)), true }},
}

// drifted answers where template, partition or pause are neither what the plan has
// found nor what it has made of them.
func (r *run) drifted(s *Step) (Decision, bool) {
	for _, what := range watched {
		want := r.expected(s, what.condition)
		have, ok := what.read(r.object())
		if !ok || len(want) == 0 || slices.Contains(want, have) {
			continue
		}
		why := fmt.Sprintf("%s is %s, not %s%s", what.condition, have, want[0], lastWriter(r.object(), fieldsOf[what.condition]))
		return r.halt(Blocker{Gate: what.gate, Why: why}), true
	}
	return Decision{}, false
}

// expected are the values that something may have now: what the present step has
// made of it, or, as long as its patches were not all seen in force, also what it
// was before.
func (r *run) expected(s *Step, c ConditionType) []string {
	if r.progress.Sent < len(s.Patches) {
		before, ok := valueIn(s.Before, c)
		if !ok {
			before, ok = r.made(c)
		}
		after, changes := valueIn(s.After, c)
		switch {
		case !ok:
			return nil
		case !changes:
			return []string{before}
		case c == HoldsPaused:
			return nil
		}
		return []string{before, after}
	}
	if v, ok := valueIn(s.After, c); ok {
		return []string{v}
	}
	if v, ok := valueIn(s.Before, c); ok {
		return []string{v}
	}
	if v, ok := r.made(c); ok {
		return []string{v}
	}
	return nil
}

// made is what the steps before have made of something.
func (r *run) made(c ConditionType) (string, bool) {
	for i := r.progress.Step - 1; i >= 0; i-- {
		if v, ok := valueIn(r.plan.Steps[i].After, c); ok {
			return v, true
		}
	}
	return "", false
}

func valueIn(list []Condition, c ConditionType) (string, bool) {
	for _, have := range list {
		if have.Type == c {
			return have.Value, true
		}
	}
	return "", false
}
