package rollout

import (
	"strings"
	"testing"
)

// TestUndo_DuringARolloutAdvisesAbort: in the middle of a rollout undo says so, and what there is to do
// instead, whether it is asked for real or not; once that was aborted it goes back from
// from the present step, with all pods, whatever partition was left.
func TestUndo_DuringARolloutAdvisesAbort(t *testing.T) {
	for _, name := range []string{"CloneSet", "Advanced StatefulSet", "Deployment", "StatefulSet OnDelete"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := kinds[name]
			b := newBed(t, k.workload)
			undo := []string{"rollout", "undo", b.typed(), "--driver", string(k.driver), "--pull-images", "never"}
			b.call(t, "rollout", "run", b.typed(), "--image", "main="+web2, "--driver", string(k.driver), "--pull-images", "never",
				"--steps", strings.Join(k.steps, ","), "--pause-after", "1", "--exit-on-pause", "--yes").Wants(t, 5)
			for _, how := range []string{"--dry-run=client", "--dry-run=server", "--yes"} {
				b.call(t, append(undo, how)...).Wants(t, 1, " has a rollout already: ", " --rollback ", "' rolls it back")
			}
			b.call(t, "rollout", "abort", b.typed(), "--yes").Wants(t, 0)
			b.call(t, append(undo, "--dry-run=client")...).Wants(t, 0, "rolled back (dry run)", web1)
			b.call(t, append(undo, "--yes")...).Wants(t, 0)
			if pods := b.pods(t); running(pods, web1) != len(pods) {
				t.Errorf("%d of %d pods have gone back", running(pods, web1), len(pods))
			}
		})
	}
}
