package patches

import (
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// ByPod takes the steps of the driver client apart into what is sent to each pod:
// what [plan.Next] decides, one pod after the other, while pods behave. The snapshot
// holds the pods as they are. An error is a plan that cannot finish, with the
// reason; it is that of [simulate.Predict].
func ByPod(p *plan.Plan, snap plan.Snapshot, o simulate.Options) (Sequence, error) {
	s := FromPlan(p, Known{Pods: true, Count: true})
	w, err := simulate.FromSnapshot(snap, o)
	if err != nil {
		return s, err
	}
	did := map[string][]done{}
	promoted := time.Duration(0)
	line, err := simulate.Rollout(w, *p, simulate.RolloutOptions{Promote: &promoted, Did: func(s plan.Snapshot, a plan.Action) {
		did[a.Step] = append(did[a.Step], done{s, a})
	}})
	if err != nil {
		return s, err
	}
	if line.Summary.Outcome != simulate.Completed {
		return s, fmt.Errorf("the plan cannot finish: it is %s: %s", line.Summary.Outcome, line.Summary.Reason)
	}
	s.Steps = apart(s.Steps, did)
	return s, nil
}

// done is an action with what was known when it was decided.
type done struct {
	snap   plan.Snapshot
	action plan.Action
}

// apart puts what was sent to pods in the place of the steps that sent it.
func apart(steps []Step, did map[string][]done) []Step {
	var out []Step
	for _, s := range steps {
		var parts []Step
		for _, d := range did[s.Name] {
			parts = append(parts, d.steps()...)
		}
		if len(parts) == 0 {
			out = append(out, s)
			continue
		}
		named := map[string]int{}
		for i := range parts {
			parts[i].Name = s.Name + "-" + parts[i].Name
			if named[parts[i].Name]++; named[parts[i].Name] > 1 {
				parts[i].Name = fmt.Sprintf("%s-%d", parts[i].Name, named[parts[i].Name])
			}
		}
		parts[0].Before, parts[0].Notes = append(s.Before, parts[0].Before...), append(s.Notes, parts[0].Notes...)
		last := &parts[len(parts)-1]
		last.After = append(last.After, s.After...)
		out = append(out, parts...)
	}
	return out
}

// steps are what somebody sends to do the same by hand.
func (d done) steps() []Step {
	switch a := d.action; {
	case a.Pod != nil:
		return d.change(a.Pod)
	case a.Evict != nil:
		return []Step{evict(d.snap, *a.Evict)}
	}
	return nil
}

// change is the change of one pod: its conditions first, as the status is a request
// of its own, then its resources, which have one too.
func (d done) change(a *plan.PodAction) []Step {
	p := find(d.snap, a.PodRef)
	if p == nil {
		return nil
	}
	c := &podChange{p, a.Change, object(d.snap)}
	what := c.kind()
	var out []Step
	for _, part := range []struct {
		sub, name string
		body      map[string]any
	}{{"status", "-status", c.conditions()}, {"resize", "-resources", c.resources()}, {"", "", c.rest()}} {
		if part.body == nil {
			continue
		}
		c.pin(part.body)
		out = append(out, Step{
			Name: p.Name + "-" + string(what) + part.name, Title: what.title(p.Name),
			Patch: &Patch{Target: target(p), Type: plan.PatchStrategic, Subresource: part.sub, Body: part.body},
		})
	}
	if n := len(out); n > 0 {
		out[n-1].After = what.after(p)
	}
	return out
}

// evict is the eviction of one pod, which asks every PodDisruptionBudget.
func evict(snap plan.Snapshot, ref plan.PodRef) Step {
	t := Target{APIVersion: "v1", Kind: "Pod", Namespace: ref.Namespace, Name: ref.Name}
	s := Step{
		Name: ref.Name + "-evict", Title: "evict " + ref.Name + "; it is made anew from the new template", Commands: []string{t.Evict()},
		After: []Condition{{"it is gone", t.Gone(ref.UID)}},
	}
	if w := object(snap); w != nil {
		s.After = append(s.After, Condition{"the new pod is there and ready", ready(w)})
	}
	return s
}

// ready waits until the parent has as many pods ready as it wants.
func ready(w *cluster.Workload) string {
	t := Target{APIVersion: w.Group + "/" + w.Version, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name}
	if w.Kind == "DaemonSet" {
		return t.waitFor(".status.numberReady", t.asked(".status.desiredNumberScheduled"), "10m")
	}
	return t.waitFor(".status.readyReplicas", t.asked(".spec.replicas"), "10m")
}

// object is what the pods belong to.
func object(s plan.Snapshot) *cluster.Workload {
	if s.Carrier != nil {
		return s.Carrier
	}
	return s.Workload
}

func find(s plan.Snapshot, ref plan.PodRef) *cluster.Pod {
	for _, p := range s.Pods {
		if p.Name == ref.Name && p.Namespace == ref.Namespace && (ref.UID == "" || p.UID == ref.UID) {
			return p
		}
	}
	return nil
}

func target(p *cluster.Pod) Target {
	return Target{APIVersion: "v1", Kind: "Pod", Namespace: p.Namespace, Name: p.Name}
}
