package patches

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

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
	line, err := simulate.Rollout(w, *p, simulate.RolloutOptions{Promote: &promoted, Did: walk.addAction})
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

func (w *walk) addAction(s plan.Snapshot, a plan.Action) {
	w.did[a.Step] = append(w.did[a.Step], done{s, a})
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
		t := Target{APIVersion: "v1", Kind: "Pod", Namespace: a.Evict.Namespace, Name: a.Evict.Name}
		return []Step{{
			Name: t.Name + "-evict", Title: "evict " + t.Name + "; it is recreated from the new template", Commands: []string{t.Evict()},
			After: append([]Condition{{"it is gone", t.Gone(a.Evict.UID)}}, w.readyConditions(w.updated)...),
		}}
	}
	return nil
}

// readyConditions asks for so many pods with the new template, and that as many pods as
// readyConditions should be are ready.
func (w *walk) readyConditions(n int) []Condition {
	out := w.statusConditions(n)
	if len(out) == 0 {
		return []Condition{{podsOf(n, w.plan.Limits.Replicas, "has the new revision and is ready", "have the new revision and are ready"), w.ready(n, "10m")}}
	}
	all := Condition{Text: "all pods are ready"}
	if w.object.Kind == kruise.KindDaemonSet {
		all.Check = w.object.waitFor(".status.numberReady", w.object.fieldInShell(".status.desiredNumberScheduled"), "10m")
	} else {
		all.Check = w.object.waitFor(".status.readyReplicas", w.object.fieldInShell(".spec.replicas"), "10m")
	}
	return append(out, all)
}

// statusConditions asks that the controller, too, sees so many pods at the new template; a
// ReplicaSet counts nothing of the kind.
func (w *walk) statusConditions(n int) []Condition {
	field := updatedFields[w.object.key()]
	if field == "" {
		return nil
	}
	return []Condition{{podsOf(n, w.plan.Limits.Replicas, "has the new template", "have the new template"), w.object.waitFor(field, strconv.Itoa(n), "10m")}}
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
	}{{"status", "-status", c.conditions()}, {"resize", "-resources", c.resources()}, {"", "", c.otherFields()}} {
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
		return []Condition{{"it has been out of service for " + w.plan.Grace.String(), fmt.Sprintf("sleep %d", int(time.Duration(w.plan.Grace).Seconds()))}}
	case what == returns:
		return []Condition{{"it is ready", target(c.pod).waitReady("Ready")}}
	case what == goesOn:
		return c.restarted()
	case what == updates:
		w.updated++
		return append(w.statusConditions(w.updated), c.restarted()...)
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

// podChange is one write of the driver client to a pod.
type podChange struct {
	pod    *cluster.Pod
	change cluster.PodChange
	// parent has the template that the pod comes to.
	parent *cluster.Workload
}

// stage is how far a pod is brought by a change.
type stage string

// The stages of a pod that is updated in place.
const (
	leaves  stage = "leave"
	updates stage = "update"
	returns stage = "return"
	goesOn  stage = "continue"
	prepare stage = "prepare-delete"
)

// kind distinguishes the stages by the state that the change writes.
func (c *podChange) kind() stage {
	state := c.change.Labels[kruise.LifecycleStateLabel]
	switch {
	case state != nil && *state == string(rules.StatePreparingUpdate):
		return leaves
	case state != nil && *state == string(rules.StatePreparingDelete):
		return prepare
	case state != nil && *state == string(rules.StateNormal) && len(c.change.Images) == 0:
		return returns
	case state == nil && len(c.change.Images) == 0 && c.change.Labels["controller-revision-hash"] == nil:
		return goesOn
	}
	return updates
}

func (s stage) title(pod string) string {
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
func (c *podChange) restarted() []Condition {
	t := target(c.pod)
	var out []Condition
	for _, name := range slices.Sorted(maps.Keys(c.change.Images)) {
		if k, ok := c.pod.Container(name); ok {
			field := fmt.Sprintf(`.status.containerStatuses[?(@.name=="%s")].restartCount`, name)
			out = append(out, Condition{"its container " + name + " has restarted", t.waitFor(field, strconv.Itoa(k.Restarts+1), "10m")})
		}
	}
	return append(out, Condition{"its containers are ready", t.waitReady("ContainersReady")})
}

// waitReady waits for a condition of the pod.
func (t Target) waitReady(condition string) string {
	return "kubectl wait " + t.at() + " --for=condition=" + condition + " --timeout=10m"
}

// pin has a patch fail on a successor of the same name.
func (c *podChange) pin(body map[string]any) {
	if c.pod.UID == "" {
		return
	}
	metadata, _ := body["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		body["metadata"] = metadata
	}
	metadata["uid"] = c.pod.UID
}

// conditions are those that change, for the status; a gate that closes makes the
// pod unready in the same write, as Kruise does.
func (c *podChange) conditions() map[string]any {
	set := slices.Clone(c.change.Conditions)
	closes := slices.ContainsFunc(set, func(k cluster.Condition) bool {
		return k.Status == corev1.ConditionFalse && slices.Contains(c.pod.ReadinessGates, k.Type)
	})
	if closes {
		set = append(set, cluster.SetTo(string(corev1.PodReady), corev1.ConditionFalse, "ReadinessGatesNotReady", ""))
	}
	var list []any
	for _, k := range set {
		list = append(list, map[string]any{"type": k.Type, "status": string(k.Status), "reason": k.Reason, "message": k.Message})
	}
	if len(list) == 0 {
		return nil
	}
	return map[string]any{"status": map[string]any{"conditions": list}}
}

// resources are those of the parent's template, for the containers whose resources
// change.
func (c *podChange) resources() map[string]any {
	spec, _ := c.parent.Template["spec"].(map[string]any)
	var list []any
	containers, _ := spec["containers"].([]any)
	for _, item := range containers {
		container, _ := item.(map[string]any)
		if name, _ := container["name"].(string); slices.Contains(c.change.Resources, name) {
			list = append(list, map[string]any{"name": name, "resources": container["resources"]})
		}
	}
	if len(list) == 0 {
		return nil
	}
	return map[string]any{"spec": map[string]any{"containers": list}}
}

// otherFields is everything but conditions and resources, nil for nothing.
func (c *podChange) otherFields() map[string]any {
	metadata, spec := map[string]any{}, map[string]any{}
	put(metadata, "labels", texts(c.change.Labels))
	put(metadata, "annotations", texts(c.change.Annotations))
	if list := c.change.AddFinalizers; len(list) > 0 {
		metadata["finalizers"] = items(list)
	}
	if list := c.change.RemoveFinalizers; len(list) > 0 {
		metadata["$deleteFromPrimitiveList/finalizers"] = items(list)
	}
	for field, list := range map[string][]cluster.Container{"containers": c.pod.Containers, "initContainers": c.pod.InitContainers} {
		if changed := images(list, c.change.Images); len(changed) > 0 {
			spec[field] = changed
		}
	}
	body := map[string]any{}
	put(body, "metadata", metadata)
	put(body, "spec", spec)
	if len(body) == 0 {
		return nil
	}
	return body
}

func put(into map[string]any, key string, v map[string]any) {
	if len(v) > 0 {
		into[key] = v
	}
}

func texts(m map[string]*string) map[string]any {
	out := make(map[string]any, len(m))
	for key, v := range m {
		out[key] = nil
		if v != nil {
			out[key] = *v
		}
	}
	return out
}

func items(list []string) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

func images(list []cluster.Container, change map[string]string) []any {
	var out []any
	for i := range list {
		if image, ok := change[list[i].Name]; ok {
			out = append(out, map[string]any{"name": list[i].Name, "image": image})
		}
	}
	return out
}
