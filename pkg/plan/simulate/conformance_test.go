package simulate

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestConformanceRollout holds the world against the recordings: each step from
// the recorded state before it, and each case as a whole from its beginning. A
// case passes when all of it agrees.
func TestConformanceRollout(t *testing.T) {
	conformance.Area(t, "rollout", func(_ *testing.T, c conformance.Case) error {
		steps, err := conformance.RolloutSteps(c)
		if err != nil {
			return err
		}
		script, err := conformance.ReadRolloutScript(c)
		if err != nil {
			return err
		}
		if len(steps) != len(script.Steps) {
			return fmt.Errorf("%d steps are recorded, %d written", len(steps), len(script.Steps))
		}
		var errs []error
		for i, s := range steps {
			if err := runStep(c, script, s, script.Steps[i]); err != nil {
				errs = append(errs, fmt.Errorf("step %d (%s):\n%w", s.Number, script.Steps[i].Title, err))
			}
		}
		if err := runCase(c, script, steps); err != nil {
			errs = append(errs, fmt.Errorf("from the beginning:\n%w", err))
		}
		return errors.Join(errs...)
	})
}

// longest is how long a step may take that is waited for.
const longest = 10 * time.Minute

// runStep loads the state before a step, does the step, and compares what
// follows.
func runStep(c conformance.Case, script conformance.RolloutScript, s conformance.RolloutStep, act conformance.RolloutAct) error {
	b, err := loadBed(c, script, s)
	if err != nil {
		return err
	}
	before := b.pods()
	if err := b.watch(); err != nil {
		return err
	}
	named, err := s.Trace.Act()
	if err != nil {
		return err
	}
	named.On = act.On
	answers, err := b.do(named)
	if err != nil {
		return err
	}
	// A step that nobody waits for ends before anything has happened; the
	// recording goes on a little longer.
	var ends error
	d, settle := act.Wait()
	if d == 0 && !settle {
		ends = compareEnd(s, b, before)
	}
	settled, err := b.wait(act)
	if err != nil {
		return err
	}
	if d > 0 || settle {
		ends = compareEnd(s, b, before)
	}
	return errors.Join(compareAnswers(s, answers), compareSettled(s, act, settled), compareActs(s, b, before), compareExtremes(s, b), ends)
}

func compareEnd(s conformance.RolloutStep, b *bed, before map[string]*cluster.Pod) error {
	b.learn(s.After)
	return errors.Join(comparePods(s, b, before), compareStatus(s, b))
}

// runCase brings the case up as it was recorded and does all its steps. What can
// be compared is less: which nodes the pods are on, and so who goes first, is
// another matter there.
func runCase(c conformance.Case, script conformance.RolloutScript, steps []conformance.RolloutStep) error {
	b, err := newBed(c, script)
	if err != nil {
		return err
	}
	if err := b.bringUp(); err != nil {
		return err
	}
	for i, act := range script.Steps {
		if err := b.watch(); err != nil {
			return err
		}
		answers, err := b.do(act)
		if err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		if _, err := b.wait(act); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		b.learn(steps[i].After)
		err = errors.Join(compareAnswers(steps[i], answers), compareCounts(steps[i], b), compareExtremes(steps[i], b))
		if d, settle := act.Wait(); d > 0 || settle {
			err = errors.Join(err, compareRevisions(steps[i], b))
		}
		if err != nil {
			return fmt.Errorf("step %d (%s):\n%w", i+1, act.Title, err)
		}
	}
	return nil
}

// refOfDoc is the reference of a plain document.
func refOfDoc(doc map[string]any) cluster.Ref {
	group := ""
	version := fmt.Sprint(doc["apiVersion"])
	for i := range version {
		if version[i] == '/' {
			group = version[:i]
		}
	}
	meta, _ := doc["metadata"].(map[string]any)
	ref := cluster.Ref{Group: group, Kind: fmt.Sprint(doc["kind"]), Name: fmt.Sprint(meta["name"])}
	if namespace, ok := meta["namespace"].(string); ok {
		ref.Namespace = namespace
	}
	return ref
}
