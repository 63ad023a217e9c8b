package state

import (
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func TestAfter(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	created := &cluster.Pod{Created: noon.Add(2 * time.Minute)}
	ready := &cluster.Pod{Created: noon, Conditions: []cluster.Condition{{Since: noon.Add(time.Minute)}, {Since: noon.Add(5 * time.Minute)}}}
	for name, c := range map[string]struct {
		pods []*cluster.Pod
		want time.Time
	}{
		"no pods":   {nil, time.Time{}.Add(time.Hour)},
		"created":   {[]*cluster.Pod{created}, noon.Add(62 * time.Minute)},
		"condition": {[]*cluster.Pod{ready, created}, noon.Add(65 * time.Minute)},
	} {
		if got := After(c.pods); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
