package plan

import "slices"

// DefaultSteps are what is taken when nobody says anything: first one pod,
// because most bad changes show at the first pod already; then a tenth, where it
// is more than that, and half, so that a change which only fails under load does
// not reach everybody; then all. Nothing pauses, since a pause nobody asked for
// would hang a pipeline: each step waits until its pods are available, which is
// all that can be asked without knowing the application.
func DefaultSteps(total int) []PolicyStep {
	steps := []PolicyStep{{To: Pods(1)}}
	if total > 20 {
		steps = append(steps, PolicyStep{To: Amount{10, true}})
	}
	if total > 4 {
		steps = append(steps, PolicyStep{To: Amount{50, true}})
	}
	return append(steps, PolicyStep{To: All})
}

// rung is one step with the number of pods that it comes to.
type rung struct {
	PolicyStep
	// updated is how many pods are updated when it is done.
	updated int
}

// ladder resolves steps for total pods of which some are updated already. Steps
// that come to no more pods than the one before are left out; what they would
// wait for afterwards is waited for there.
func ladder(steps []PolicyStep, total, already int) []rung {
	var out []rung
	for _, s := range steps {
		n := s.To.Of(total)
		switch {
		case n <= already && len(out) == 0 && n < total:
			continue
		case len(out) > 0 && n <= out[len(out)-1].updated:
			last := &out[len(out)-1]
			last.Verify = append(slices.Clip(last.Verify), s.Verify...)
			if s.Pause != nil {
				last.Pause = s.Pause
			}
		default:
			out = append(out, rung{s, n})
		}
	}
	return out
}

// fallen names the steps that come to fewer pods than one before: 50%,3 of 10. A
// policy is kept while its workload shrinks, so that is worth a word and no more.
func fallen(steps []PolicyStep, total int) []string {
	var out []string
	most := 0
	for _, s := range steps {
		n := s.To.Of(total)
		if n < most {
			out = append(out, s.To.String())
		}
		most = max(most, n)
	}
	return out
}
