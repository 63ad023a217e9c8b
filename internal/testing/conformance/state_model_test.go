package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// settle lets the controllers look until nothing changes any more.
func (r *stateRun) settle() {
	r.generate()
	r.record()
	for _, w := range r.cluster.kind(kruise.KindStatefulSet) {
		r.scale(w)
	}
	r.record()
}

// generate makes, changes and deletes what annotations ask for.
func (r *stateRun) generate() {
	for _, w := range r.cluster.kind(kruise.KindStatefulSet) {
		at := key{kruise.KindPersistentPodState, namespaceOf(w), nameOf(w)}
		state := r.rules.Generated(w)
		switch live := r.cluster[at]; {
		case state != nil:
			ref := mapping(field(state, "spec", "targetRef"))
			state["metadata"] = with(state["metadata"], "ownerReferences", []any{with(ref, "controller", true)})
			state["status"] = live["status"]
			r.cluster[at] = state
		case live != nil && field(live, "metadata", "ownerReferences") != nil:
			delete(r.cluster, at)
		}
	}
}

// scale gives a workload the pods that it wants.
func (r *stateRun) scale(w map[string]any) {
	wanted := map[key]bool{}
	for _, n := range r.rules.Ordinals(w) {
		at := key{"Pod", namespaceOf(w), fmt.Sprintf("%s-%d", nameOf(w), n)}
		wanted[at] = true
		if r.cluster[at] == nil {
			r.cluster[at] = r.create(w, at.name)
			r.created[at] = true
		}
	}
	for _, p := range r.podsOf(w) {
		if !wanted[keyOf(p)] {
			delete(r.cluster, keyOf(p))
		}
	}
}

// create returns a new pod that is ready.
func (r *stateRun) create(w map[string]any, name string) map[string]any {
	template := mapping(field(w, "spec", "template"))
	owner := map[string]any{"apiVersion": w["apiVersion"], "kind": kindOf(w), "name": nameOf(w), "controller": true}
	meta := with(with(with(template["metadata"], "name", name), "namespace", namespaceOf(w)), "ownerReferences", []any{owner})
	pod := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": template["spec"]}
	for _, state := range r.cluster.kind(kruise.KindPersistentPodState) {
		if t := r.target(state); t != nil && keyOf(t) == keyOf(w) {
			pod = r.rules.Placed(pod, state)
		}
	}
	if node := r.rules.Scheduled(pod, r.nodes); node != nil {
		pod["spec"] = with(pod["spec"], "nodeName", nameOf(node))
		pod["status"] = map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}
	}
	return pod
}

// target is the workload of a PersistentPodState, nil when it is gone.
func (r *stateRun) target(state map[string]any) map[string]any {
	ref := mapping(field(state, "spec", "targetRef"))
	w := r.cluster[key{kindOf(ref), namespaceOf(state), text(ref, "name")}]
	if groupOf(ref) != groupOf(w) {
		return nil
	}
	return w
}

// groupOf is the API group of an object or a reference.
func groupOf(o map[string]any) string {
	group, _, _ := strings.Cut(text(o, "apiVersion"), "/")
	return group
}

func (r *stateRun) podsOf(w map[string]any) []map[string]any {
	return slices.DeleteFunc(r.cluster.kind("Pod"), func(p map[string]any) bool {
		owners, _ := field(p, "metadata", "ownerReferences").([]any)
		return namespaceOf(p) != namespaceOf(w) || len(owners) == 0 || text(owners[0], "name") != nameOf(w)
	})
}

// record lets the controller look at every PersistentPodState.
func (r *stateRun) record() {
	for _, state := range r.cluster.kind(kruise.KindPersistentPodState) {
		w := r.target(state)
		r.cluster.put(with(state, "status", r.rules.Recorded(state, w, r.podsOf(w), r.nodes)))
	}
}

// compare holds the model against what was recorded.
func (r *stateRun) compare(want map[string]any) error {
	varies := texts(want["varies"])
	var pods, states []any
	for _, p := range r.cluster.kind("Pod") {
		pods = append(pods, statePod(p, r.created[keyOf(p)]))
	}
	for _, s := range r.cluster.kind(kruise.KindPersistentPodState) {
		states = append(states, withoutUIDs(s))
	}
	for what, pair := range map[string][2]any{"pods": {recordedPods(want["pods"]), pods}, "persistentPodStates": {recordedStates(want["persistentPodStates"]), states}} {
		if want[what] == nil || slices.Contains(varies, what) {
			continue
		}
		if err := Different(what, Diff(pair[0], pair[1])); err != nil {
			return err
		}
	}
	return nil
}

func recordedPods(list any) (out []any) {
	items, _ := list.([]any)
	for _, p := range items {
		out = append(out, statePod(mapping(field(p, "object")), field(p, "createdInThisStep") == true))
	}
	return out
}

func recordedStates(list any) (out []any) {
	items, _ := list.([]any)
	for _, s := range items {
		out = append(out, withoutUIDs(mapping(s)))
	}
	return out
}

// statePod is what the area says of a pod: where it runs and what it was given to
// get there. How Kruise's workloads keep their books in annotations is left out.
func statePod(p map[string]any, created bool) map[string]any {
	annotations := maps.Clone(mapping(field(p, "metadata", "annotations")))
	maps.DeleteFunc(annotations, func(k string, _ any) bool { return strings.Contains(k, "apps.kruise.io/") })
	out := map[string]any{
		"name": nameOf(p), "created": created, "node": text(p, "spec", "nodeName"), "selector": field(p, "spec", "nodeSelector"),
		"affinity": field(p, "spec", "affinity"),
	}
	if len(annotations) > 0 {
		out["annotations"] = annotations
	}
	return out
}

// withoutUIDs leaves out the values that the API server makes up, and a status
// that says nothing.
func withoutUIDs(state map[string]any) map[string]any {
	out := maps.Clone(state)
	if len(mapping(out["status"])) == 0 {
		delete(out, "status")
	}
	owners, _ := field(state, "metadata", "ownerReferences").([]any)
	for i, o := range owners {
		owners = slices.Clone(owners)
		owners[i] = without(without(o, "uid"), "blockOwnerDeletion")
		out["metadata"] = with(out["metadata"], "ownerReferences", owners)
	}
	return out
}
