package simulate

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
)

// TestConformance_RememberingChangesNothing does the steps of every recorded case twice, the second
// time with controllers that remember nothing of pods: the pods, and all that happened to them, are
// the same.
func TestConformance_RememberingChangesNothing(t *testing.T) {
	conformance.Area(t, "rollout", func(_ *testing.T, c conformance.Case) error {
		script, err := conformance.ReadRolloutScript(c)
		if err != nil {
			return err
		}
		remembering, err := played(c, script, false)
		if err != nil {
			return err
		}
		forgetting, err := played(c, script, true)
		if err != nil {
			return err
		}
		for _, both := range [][2]any{
			{forgetting.Timeline(), remembering.Timeline()},
			{forgetting.store.all.now, remembering.store.all.now},
		} {
			if diff := cmp.Diff(both[0], both[1]); diff != "" {
				return fmt.Errorf("(-forgetting, +remembering):\n%s", diff)
			}
		}
		return nil
	})
}

// played is the bed of a case after all its steps.
func played(c conformance.Case, script conformance.RolloutScript, forgets bool) (*bed, error) {
	b, err := newBed(c, script)
	if err != nil {
		return nil, err
	}
	b.opt.forgets = forgets
	if err := b.bringUp(); err != nil {
		return nil, err
	}
	for _, act := range script.Steps {
		if _, err := b.do(act); err != nil {
			return nil, err
		}
		if _, err := b.wait(act); err != nil {
			return nil, err
		}
	}
	return b, nil
}
