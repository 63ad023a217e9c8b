package patches

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
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
	line, err := simulate.Rollout(w, *p, simulate.RolloutOptions{Promote: &promoted, Did: func(s plan.Snapshot, a plan.Action) {
		walk.did[a.Step] = append(walk.did[a.Step], done{s, a})
	}})
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

// apart puts what was sent to pods in the place of the steps that sent it.
func (w *walk) apart(steps []Step) []Step {
	var out []Step
	for _, s := range steps {
		var parts []Step
		for _, d := range w.did[s.Name] {
			parts = append(parts, w.stepsByHand(d)...)
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

// stepsByHand is what a user sends to do the same by hand.
func (w *walk) stepsByHand(d done) []Step {
	switch a := d.action; {
	case a.Pod != nil:
		return w.change(d.snap, a.Pod)
	case a.Evict != nil:
		w.updated++
		t := podTarget(a.Evict.Namespace, a.Evict.Name)
		return []Step{{
			Name: t.Name + "-evict", Title: "evict " + t.Name + "; it is recreated from the new template", Commands: []string{Evict(t)},
			After: append([]Condition{{"it is gone", Gone(t, a.Evict.UID)}}, w.readyConditions(w.updated)...),
		}}
	}
	return nil
}

// readyConditions asks for so many pods with the new template, and that as many pods as
// readyConditions should be are ready.
func (w *walk) readyConditions(n int) []Condition {
	out := w.statusConditions(n)
	if len(out) == 0 {
		return []Condition{{podsOf(n, w.plan.Limits.Replicas, "has the new revision and is ready", "have the new revision and are ready"), w.ready(n, usual)}}
	}
	all := Condition{Text: "all pods are ready"}
	if w.object.Kind == kruise.KindDaemonSet {
		all.Check = waitFor(w.object, ".status.numberReady", fieldInShell(w.object, ".status.desiredNumberScheduled"), usual)
	} else {
		all.Check = waitFor(w.object, ".status.readyReplicas", fieldInShell(w.object, ".spec.replicas"), usual)
	}
	return append(out, all)
}

// statusConditions asks that the controller, too, sees so many pods at the new template; a
// ReplicaSet counts nothing of the kind.
func (w *walk) statusConditions(n int) []Condition {
	field := updatedFields[kindOf(w.object)]
	if field == "" {
		return nil
	}
	return []Condition{{podsOf(n, w.plan.Limits.Replicas, "has the new template", "have the new template"), waitFor(w.object, field, strconv.Itoa(n), usual)}}
}

// change is the change of one pod. Its patches have no time: they are sent later.
func (w *walk) change(s plan.Snapshot, a *plan.PodAction) []Step {
	i := slices.IndexFunc(s.Pods, func(p *cluster.Pod) bool {
		return p.Name == a.Name && p.Namespace == a.Namespace && (a.UID == "" || p.UID == a.UID)
	})
	if i < 0 {
		return nil
	}
	parent := s.Workload
	if s.Carrier != nil {
		parent = s.Carrier
	}
	p, what := s.Pods[i], stageOf(&a.Change)
	var out []Step
	for _, patch := range plan.PodPatches(p, a.Change, plan.ResourcesOf(parent.Template), time.Time{}) {
		out = append(out, Step{
			Name: p.Name + "-" + string(what) + patchSuffixes[patch.Subresource], Title: what.title(p.Name), Patch: &Patch{Target: podTarget(p.Namespace, p.Name), Type: patch.Type, Subresource: patch.Subresource, Body: patch.Body},
		})
	}
	if n := len(out); n > 0 {
		out[n-1].After = w.after(p, &a.Change, what)
	}
	return out
}

// patchSuffixes are what the steps of patches of a pod are called besides, by subresource.
var patchSuffixes = map[string]string{"status": "-status", "resize": "-resources"}

// after is what must hold before anything else happens to the pod.
func (w *walk) after(p *cluster.Pod, c *cluster.PodChange, what podStage) []Condition {
	switch {
	case what == leaves && w.plan.Grace > 0:
		return []Condition{{"it has been out of service for " + w.plan.Grace.String(), fmt.Sprintf("sleep %d", int(time.Duration(w.plan.Grace).Seconds()))}}
	case what == returns:
		return []Condition{{"it is ready", waitReady(podTarget(p.Namespace, p.Name), "Ready")}}
	case what == goesOn:
		return restarted(p, c)
	case what == updates:
		w.updated++
		return append(w.statusConditions(w.updated), restarted(p, c)...)
	}
	return nil
}

// podStage is how far a pod is brought by a change.
type podStage string

// The stages of a pod that is updated in place.
const (
	leaves  podStage = "leave"
	updates podStage = "update"
	returns podStage = "return"
	goesOn  podStage = "continue"
	prepare podStage = "prepare-delete"
)

// stageOf distinguishes the stages by the state that the change writes.
func stageOf(c *cluster.PodChange) podStage {
	state := c.Labels[kruise.LifecycleStateLabel]
	switch {
	case state != nil && *state == string(rules.StatePreparingUpdate):
		return leaves
	case state != nil && *state == string(rules.StatePreparingDelete):
		return prepare
	case state != nil && *state == string(rules.StateNormal) && len(c.Images) == 0:
		return returns
	case state == nil && len(c.Images) == 0 && c.Labels[cluster.RevisionLabel] == nil:
		return goesOn
	}
	return updates
}

func (s podStage) title(pod string) string {
	switch s {
	case leaves:
		return "take " + pod + " out of service"
	case returns:
		return "put " + pod + " back into service"
	case prepare:
		return "prepare the deletion of " + pod
	case goesOn:
		return "continue with the next containers of " + pod
	}
	return "update " + pod + " in place"
}

// restarted returns the conditions that every container whose image changes has restarted.
// Readiness alone does not show it: until the node has seen the change, the old container is
// ready.
func restarted(p *cluster.Pod, c *cluster.PodChange) []Condition {
	t := podTarget(p.Namespace, p.Name)
	var out []Condition
	for _, name := range slices.Sorted(maps.Keys(c.Images)) {
		if k, ok := p.Container(name); ok {
			out = append(out, Condition{"its container " + name + " has restarted", waitFor(t, containerField(name, "restartCount"), strconv.Itoa(k.Restarts+1), usual)})
		}
	}
	return append(out, Condition{"its containers are ready", waitReady(t, "ContainersReady")})
}

// waitReady waits for a condition of a pod.
func waitReady(t Target, condition string) string {
	return "kubectl wait " + arguments(t) + " --for=condition=" + condition + " --timeout=" + usual
}
