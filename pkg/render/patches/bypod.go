package patches

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// ByPod takes the steps of the driver client apart into what is sent to each pod:
// what [plan.Next] decides, one pod after the other, while pods behave. The snapshot
// holds the pods as they are. An error is a plan that cannot finish, with the
// reason, as that of [simulate.Predict].
func ByPod(p *plan.Plan, snap plan.Snapshot, o simulate.Options) (Sequence, error) {
	s := FromPlan(p, Known{Pods: true, Count: true})
	w, err := simulate.FromSnapshot(snap, o)
	if err != nil {
		return s, err
	}
	walk := &walk{writer: writer{plan: p, object: s.Object, known: Known{Pods: true, Count: true}}, did: map[string][]done{}, updated: p.Steps[0].Updated}
	promoted := time.Duration(0)
	line, err := simulate.Rollout(w, *p, simulate.RolloutOptions{Promote: &promoted, Did: walk.see})
	if err != nil {
		return s, err
	}
	if line.Summary.Outcome != simulate.Completed {
		return s, fmt.Errorf("the plan cannot finish: it is %s: %s", line.Summary.Outcome, line.Summary.Reason)
	}
	s.Steps = walk.apart(s.Steps)
	return s, nil
}

// walk is what happens to the pods, by step.
type walk struct {
	writer

	did map[string][]done
	// updated is how many pods have the new template so far.
	updated int
}

// done is an action with what was known when it was decided.
type done struct {
	snap   plan.Snapshot
	action plan.Action
}

func (w *walk) see(s plan.Snapshot, a plan.Action) {
	w.did[a.Step] = append(w.did[a.Step], done{s, a})
}

// apart puts what was sent to pods in the place of the steps that sent it.
func (w *walk) apart(steps []Step) []Step {
	var out []Step
	for _, s := range steps {
		var parts []Step
		for _, d := range w.did[s.Name] {
			parts = append(parts, w.sent(d)...)
		}
		if len(parts) == 0 {
			out = append(out, s)
			continue
		}
		for i := range parts {
			parts[i].Name = s.Name + "-" + parts[i].Name
		}
		unique(parts)
		parts[0].Before, parts[0].Notes = slices.Concat(s.Before, parts[0].Before), slices.Concat(s.Notes, parts[0].Notes)
		out = append(out, parts...)
	}
	return out
}

// unique numbers names that come more than once.
func unique(list []Step) {
	times := map[string]int{}
	for i := range list {
		name := list[i].Name
		if times[name]++; times[name] > 1 {
			list[i].Name = fmt.Sprintf("%s-%d", name, times[name])
		}
	}
}

// sent is what somebody sends to do the same by hand.
func (w *walk) sent(d done) []Step {
	switch a := d.action; {
	case a.Pod != nil:
		return w.change(d.snap, a.Pod)
	case a.Evict != nil:
		w.updated++
		t := Target{APIVersion: "v1", Kind: "Pod", Namespace: a.Evict.Namespace, Name: a.Evict.Name}
		return []Step{{
			Name: t.Name + "-evict", Title: "evict " + t.Name + "; it is recreated from the new template", Commands: []string{t.Evict()},
			After: append([]Condition{{"it is gone", t.Gone(a.Evict.UID)}}, w.there(w.updated)...),
		}}
	}
	return nil
}

// there asks for so many pods with the new template, and that as many pods as
// there should be are ready.
func (w *walk) there(n int) []Condition {
	out := w.agreed(n)
	if len(out) == 0 {
		return []Condition{{fmt.Sprintf("%d of %d pods carry the new revision and are ready", n, w.plan.Limits.Replicas), w.ready(n, "10m")}}
	}
	all := Condition{Text: "all pods are ready"}
	if w.object.Kind == kruise.KindDaemonSet {
		all.Check = w.object.waitFor(".status.numberReady", w.object.asked(".status.desiredNumberScheduled"), "10m")
	} else {
		all.Check = w.object.waitFor(".status.readyReplicas", w.object.asked(".spec.replicas"), "10m")
	}
	return append(out, all)
}

// agreed asks that the controller, too, sees so many pods at the new template; a
// ReplicaSet counts nothing of the kind.
func (w *walk) agreed(n int) []Condition {
	field := updatedFields[w.object.key()]
	if field == "" {
		return nil
	}
	return []Condition{{fmt.Sprintf("%d of %d pods have the new template", n, w.plan.Limits.Replicas), w.object.waitFor(field, strconv.Itoa(n), "10m")}}
}

// change is the change of one pod: its conditions first, as the status is a request
// of its own, then its resources, which have one too.
func (w *walk) change(s plan.Snapshot, a *plan.PodAction) []Step {
	p := find(s, a.PodRef)
	if p == nil {
		return nil
	}
	c := &podChange{p, a.Change, object(s)}
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
		out[n-1].After = w.after(c, what)
	}
	return out
}

// after is what must hold before anything else happens to the pod.
func (w *walk) after(c *podChange, what stage) []Condition {
	switch {
	case what == leaves && w.plan.Grace > 0:
		return []Condition{{"it has been out of service for " + w.plan.Grace.String(), fmt.Sprintf("sleep %d", int(w.plan.Grace.Seconds()))}}
	case what == returns:
		return []Condition{{"it is ready", target(c.pod).waitReady("Ready")}}
	case what == goesOn:
		return c.restarted()
	case what == updates:
		w.updated++
		return append(w.agreed(w.updated), c.restarted()...)
	}
	return nil
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
