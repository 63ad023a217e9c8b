package rules

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestRecordedSidecarSetReplay: every upgrade of every recorded patch was one
// that the rules allow at that moment, with the images that the patch says.
func TestRecordedSidecarSetReplay(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "SidecarSet") {
		if !s.Patched() {
			sum.skip("no accepted patch")
			continue
		}
		set, _ := recordedSidecarSet(t, s, s.Before)
		if err := replaySidecarSet(s, set); err != nil {
			sum.failed++
			t.Errorf("%s step %d: %v", s.Case, s.Number, err)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "SidecarSet, act by act")
}

func replaySidecarSet(s conformance.RolloutStep, set *SidecarSet) error {
	m := model{pods: set.Pods}
	var pass []*cluster.Pod
	last := -1.0
	for _, op := range s.Trace.Trace {
		at := s.Before.TakenAt.Add(time.Duration(op.T * float64(time.Second)))
		if op.Op == "sidecarUpdate" {
			// One pass chooses once: an unready pod that it upgrades first does
			// not count against those after it (310).
			if op.T-last > passTime {
				pass = set.ChooseUpdate().Pods
			}
			last = op.T
			if err := askSidecar(set, &m, op, at, pass); err != nil {
				return fmt.Errorf("%.2f %s: %w", op.T, op.UID, err)
			}
		}
		m.apply(op, at.Truncate(time.Second))
		m.follow(op)
		set.Pods = m.pods
	}
	return nil
}

// passTime is how long the writes of one pass lie apart at most, in seconds.
const passTime = 0.2

// askSidecar holds one upgrade against the choice and the patch, and applies
// that patch.
func askSidecar(set *SidecarSet, m *model, op conformance.RolloutOp, at time.Time, pass []*cluster.Pod) error {
	p := m.pod(op.UID)
	choice := set.ChooseUpdate()
	if !slices.ContainsFunc(append(choice.Pods, pass...), func(c *cluster.Pod) bool {
		return standingOf(c).compare(standingOf(p)) == 0
	}) {
		return fmt.Errorf("not now: %v (%s)", uids(choice.Pods), choice.Why)
	}
	patch, err := set.Upgrade(p, at)
	if err != nil {
		return err
	}
	want := map[string]string{}
	for name, change := range op.Containers {
		want[name] = change["to"]
	}
	if diff := cmp.Diff(want, patch.Images); diff != "" {
		return fmt.Errorf("images: %s", diff)
	}
	maps.Copy(p.Annotations, patch.Annotations)
	for i := range p.Containers {
		if image, ok := patch.Images[p.Containers[i].Name]; ok {
			p.Containers[i].Image = image
		}
	}
	return nil
}

// follow does what the node does to containers.
func (m *model) follow(op conformance.RolloutOp) {
	p := m.pod(op.UID)
	for i := range p.Containers {
		c := &p.Containers[i]
		switch {
		case op.Op == "ready":
			c.Ready = true
		case op.Container != c.Name:
		case op.Op == "containerStopped", op.Op == "containerWaiting":
			c.Ready = false
		case op.Op == "containerStarted":
			c.StatusImage, c.ImageID = op.Image, "sha256:"+op.Image
			c.Ready = true
		}
	}
}
