package rollout_test

import "testing"

// TestPromote_WithNoWaitOnlyRecords: where no process runs the rollout, the request waits for the next one that does.
func TestPromote_WithNoWaitOnlyRecords(t *testing.T) {
	s := begun(t)
	before := s.Object("CloneSet", "web").GetGeneration()
	s.Run("rollout promote cloneset/web --no-wait").Ends(0)
	if after := s.Object("CloneSet", "web").GetGeneration(); after != before {
		t.Errorf("the workload was written: generation %d, was %d", after, before)
	}
	s.Has("", images{"web:1": 3, "web:2": 1})
	s.Run("rollout resume cloneset/web --yes").Ends(0)
	s.Has("", images{"web:2": 4})
}
