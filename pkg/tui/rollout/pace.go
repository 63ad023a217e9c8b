package rollout

import (
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// recent is how many pods the pace is taken from: the last ones, so that a pause long
// ago does not count.
const recent = 20

// toGo is how long the pods that are missing take, at the pace at which the last ones
// became ready. It is read off the pods, so it is the same for whoever looks.
func toGo(d *world.Detail) (time.Duration, bool) {
	missing := max(d.Pods.Desired, d.Pods.Total) - d.Pods.UpdatedReady
	if d.Health != world.Progressing || missing <= 0 {
		return 0, false
	}
	var ready []time.Time
	for _, p := range d.Snapshot.Pods {
		if d.Updated[p.UID] && p.IsReady() {
			ready = append(ready, p.ReadySince())
		}
	}
	if len(ready) < 3 {
		return 0, false
	}
	slices.SortFunc(ready, time.Time.Compare)
	ready = ready[max(len(ready)-recent, 0):]
	spent := ready[len(ready)-1].Sub(ready[0])
	each := spent / time.Duration(len(ready)-1)
	return (each * time.Duration(missing)).Round(time.Second), each > 0
}
