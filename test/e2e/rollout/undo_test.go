package rollout

import (
	"strings"
	"testing"
)

// TestUndoMidway: in the middle of a rollout, undo says so, and what to do instead,
// whether it is asked for real or not; after an abort it goes back.
func TestUndoMidway(t *testing.T) {
	for _, name := range []string{"CloneSet", "Advanced StatefulSet", "Deployment", "ReplicaSet"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := kinds[name]
			b := newBed(t, k.workload)
			flags := []string{"--steps", strings.Join(k.steps, ","), "--pull-images", "never", "--driver", string(k.driver), "--yes"}
			b.call(t, append([]string{"rollout", "run", b.typed(), "--image", "main=" + web2, "--pause-after", "1", "--exit-on-pause"}, flags...)...).wants(t, 5)
			said := b.call(t, "rollout", "undo", b.typed(), "--driver", string(k.driver), "--dry-run=client")
			t.Logf("%+v", said)
			said = b.call(t, "rollout", "undo", b.typed(), "--driver", string(k.driver), "--yes")
			t.Logf("%+v", said)
		})
	}
}
