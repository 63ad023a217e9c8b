package conformance

import "testing"

// TestRolloutSteps: every recorded step is read completely enough to be asked
// about: a kind, pods with an owner, batches wherever something was counted.
func TestRolloutSteps(t *testing.T) {
	steps, patched := 0, 0
	for _, c := range List(t, "rollout") {
		all, err := RolloutSteps(c)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for _, s := range all {
			steps++
			if s.Patched() {
				patched++
			}
			readable(t, s)
		}
	}
	if Recorded() && (steps < 100 || patched < steps/2) {
		t.Errorf("%d steps, %d of them patches of the workload", steps, patched)
	}
}

func readable(t *testing.T, s RolloutStep) {
	t.Helper()
	if s.Kind == "" || s.Before.TakenAt.IsZero() || len(s.Trace.Result) == 0 && s.Trace.Step["patch"] != nil {
		t.Errorf("%s step %d: kind %q, taken at %s", s.Case, s.Number, s.Kind, s.Before.TakenAt)
	}
	for _, p := range append(s.Before.Pods, s.After.Pods...) {
		if p.UID == "" || p.Owner == "" || p.CreationTimestamp.IsZero() || len(p.Containers) == 0 {
			t.Errorf("%s step %d: pod %+v", s.Case, s.Number, p)
		}
	}
	counts, _ := s.Trace.Summary["counts"].(map[string]any)
	if counts["inPlaceUpdate"] != nil && len(s.Trace.Batches) == 0 {
		t.Errorf("%s step %d: no batches", s.Case, s.Number)
	}
}
