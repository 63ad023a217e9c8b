package invariant

import (
	"fmt"
	"time"
)

// Served says: when the record said that all steps are done, all pods had been serving with
// the new image at one time, lag ago at most. What falls afterwards no rollout answers for.
func Served(l Log, r *Rollout, lag time.Duration) (wrong []string) {
	now, most := pods{}, 0
	var all time.Time
	var over bool
	r.follow(l, func(w *Write, p *progress) {
		now.see(w)
		up := now.serving(r.Image)
		if up >= r.Plan.Limits.Replicas {
			all = w.At
		}
		ends := p != nil && !p.Finished.IsZero()
		if ends && !over && w.At.Sub(all) > lag {
			wrong = append(wrong, fmt.Sprintf("done while %d of %d pods serve with the new image, %d at most: %s",
				up, r.Plan.Limits.Replicas, most, w))
		}
		most, over = max(most, up), ends
	})
	return wrong
}
