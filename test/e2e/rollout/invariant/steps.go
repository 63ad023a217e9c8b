package invariant

import (
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Stepwise says: no more pods are updated, or taken down to be, than the recorded step lets.
// A Deployment has no partition: it is stopped on its way, and how far its controller got
// by then is no rollout's doing.
func Stepwise(l Log, r *Rollout) (wrong []string) {
	now, touched := pods{}, map[string]bool{}
	r.follow(untilEnd(l, r), func(w *Write, p *progress) {
		if r.client() && w.By != "" && act(w, now) {
			touched[w.Name+uidOf(now, w.Name)] = true
		}
		before := now.updated(r.Image)
		now.see(w)
		step, going := r.step(p)
		if !going || r.Resource == "deployments" {
			return
		}
		most := step.Updated
		if n := now.updated(r.Image); n > before && n > most {
			wrong = append(wrong, fmt.Sprintf("%d pods are updated in step %s, which lets %d: %s", n, step.Name, most, w))
		}
		if n := len(touched); r.client() && w.By != "" && w.Resource == "pods" && n > most {
			wrong = append(wrong, fmt.Sprintf("%d pods are touched in step %s, which lets %d: %s", n, step.Name, most, w))
		}
	})
	return wrong
}

func uidOf(p pods, name string) string {
	if q := p[name]; q != nil {
		return q.uid
	}
	return ""
}

// untilEnd is the log until the workload or its namespace is being deleted: what follows
// from that no rollout is to blame for.
func untilEnd(l Log, r *Rollout) Log {
	for i := range l {
		w := &l[i]
		if w.Verb == "delete" && w.Done() && (w.Resource == "namespaces" || w.Resource == r.Resource && w.Name == r.Name) {
			return l[:i]
		}
	}
	return l
}

// Announced says: what an operator writes belongs to the step that is recorded already, and
// nothing is written once everybody can have heard, that is after lag, that the rollout
// was put on hold or has halted, but for what stops the controller.
func Announced(l Log, r *Rollout, lag time.Duration) (wrong []string) {
	now := pods{}
	var still time.Time
	r.follow(l, func(w *Write, p *progress) {
		switch {
		case p == nil || p.Held == "" && p.Halted == "":
			still = time.Time{}
		case still.IsZero():
			still = w.At
		}
		switch {
		case !w.Done() || r.ofWorkload(w) && r.stops(w, p):
		case (r.ofWorkload(w) || w.By != "" && act(w, now)) && !still.IsZero() && w.At.Sub(still) > lag:
			wrong = append(wrong, fmt.Sprintf("written although the rollout is stopped (%s): %s", onRecord(p), w))
		case r.ofWorkload(w) && !r.announced(w, p):
			wrong = append(wrong, fmt.Sprintf("no patch of the recorded step (%s): %s %s", onRecord(p), w, Patch(w.Body)))
		case w.By != "" && act(w, now) && !r.changesPods(p):
			wrong = append(wrong, fmt.Sprintf("the recorded step changes no pods (%s): %s", onRecord(p), w))
		}
		now.see(w)
	})
	return wrong
}

func onRecord(p *progress) string {
	if p == nil {
		return "none"
	}
	return fmt.Sprintf("step %d, %q %q", p.Step, p.Held, p.Halted)
}

// announced reports whether a write of the workload is one of the step's patches.
func (r *Rollout) announced(w *Write, p *progress) bool {
	step, going := r.step(p)
	for i := range step.Patches {
		if going && Patch(step.Patches[i].Body) == Patch(w.Body) {
			return true
		}
	}
	return false
}

func (r *Rollout) changesPods(p *progress) bool {
	step, going := r.step(p)
	return going && (step.Kind == plan.StepInPlace || step.Kind == plan.StepRecreate)
}
