package simulate

import (
	"maps"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// restart is containers of one pod that were asked to restart, with how often they
// had restarted before.
type restart struct {
	uid    string
	before map[string]int
}

// restartContainers restarts containers of a pod, once for each step.
func (w *World) restartContainers(o *object, step string, r *plan.Restart) error {
	e, err := w.pod(r.PodRef)
	if err != nil {
		return err
	}
	key := plan.RestartKey(step, r.Name)
	if o.restarts[key].uid == e.UID {
		return nil
	}
	w.rec.writes++
	asked := restart{e.UID, map[string]int{}}
	for i := range e.Containers {
		if c := &e.Containers[i]; slices.Contains(r.Containers, c.Name) {
			asked.before[c.Name] = c.Restarts
			if i < len(e.agent) && !e.agent[i].running && !e.agent[i].begun {
				asked.before[c.Name]-- // it starts again anyway
			}
		}
	}
	o.restarts[key] = asked
	for _, name := range r.Containers {
		w.restart(e, name)
	}
	w.touch(o)
	return nil
}

// answers are the results of questions and restarts.
func (w *World) answers(o *object) map[string]plan.Result {
	out := maps.Clone(o.verified)
	for key, asked := range o.restarts {
		if e := w.pods[asked.uid]; e != nil {
			out[key] = asked.result(e)
		}
	}
	return out
}

// result is good when every container has restarted and is ready.
func (r restart) result(e *pod) plan.Result {
	for name, before := range r.before {
		if c, ok := e.Container(name); !ok || c.Restarts <= before || !c.Ready {
			return plan.Result{}
		}
	}
	return plan.Result{Done: true, Good: true}
}
