package invariant

import (
	"fmt"
	"time"
)

// Budget holds when no client takes a pod down on purpose while as many are down as may be. A pod that
// fell by itself counts once everybody can have heard of it, that is after lag. Of a DaemonSet,
// pods that are broken are replaced besides (docs/kruise/workloads.md#advanced-daemonset), and so
// may be those that are not any more, until everybody can have heard of that.
func Budget(l Log, r *Rollout, lag time.Duration) (wrong []string) {
	now, begun := pods{}, false
	var besides []time.Time
	r.follow(untilEnd(l, r), func(w *Write, p *progress) {
		begun = begun || p != nil
		switch {
		case !begun || !act(w, now):
		case now.takes(w):
			most := r.Plan.Limits.MaxUnavailable + within(besides, w.At, lag)
			if down := now.down(w, r, lag); down > most {
				wrong = append(wrong, fmt.Sprintf("%d pods are down, %d may be: %s", down, most, w))
			}
			if r.Resource == "daemonsets" && now.wasBroken(w, r.Image, lag) {
				besides = append(besides, w.At)
			}
		case r.Resource == "daemonsets" && now.broken(w, r.Image):
			besides = append(besides, w.At)
		}
		now.see(w)
	})
	return wrong
}

// within counts the times that are lag ago at most.
func within(list []time.Time, at time.Time, lag time.Duration) (n int) {
	for _, t := range list {
		if at.Sub(t) < lag {
			n++
		}
	}
	return n
}

// broken reports whether a write replaces an old pod that has fallen by itself.
func (p pods) broken(w *Write, image string) bool {
	q := p[w.Name]
	return q != nil && !q.up && !q.acted && q.image != image
}

// wasBroken reports whether a write takes down an old pod that had fallen by itself and has been up again for less than lag.
func (p pods) wasBroken(w *Write, image string, lag time.Duration) bool {
	q := p[w.Name]
	return q != nil && q.image != image && !q.rose.IsZero() && w.At.Sub(q.rose) < lag
}

// takes reports whether a write takes down what serves.
func (p pods) takes(w *Write) bool { return p[w.Name] != nil && p[w.Name].up }

// down counts the pods that do not serve once the write is carried out.
func (p pods) down(w *Write, r *Rollout, lag time.Duration) int {
	up := 0
	for name, q := range p {
		recent := !q.acted && !q.down.IsZero() && w.At.Sub(q.down) < lag
		if name != w.Name && (q.up || recent) {
			up++
		}
	}
	return r.Plan.Limits.Replicas - up
}
