package conformance

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// StateRules are the rules that the cases of the area state ask for.
type StateRules struct {
	// Takes reports whether Kruise's webhook lets an object through; old is what it
	// replaces, existing is what there is.
	Takes func(object, old map[string]any, existing []map[string]any) bool
	// Newest returns an object of Kruise in its kind's newest version.
	Newest func(object map[string]any) map[string]any
	// Generated is the PersistentPodState that a workload's annotations make, nil
	// for none.
	Generated func(workload map[string]any) map[string]any
	// Ordinals are those of the pods that a workload wants.
	Ordinals func(workload map[string]any) []int
	// Placed returns a pod as it is admitted.
	Placed func(pod, state map[string]any) map[string]any
	// Scheduled is the first of nodes that a pod may run on, nil for none.
	Scheduled func(pod map[string]any, nodes []map[string]any) map[string]any
	// Recorded is the status of a PersistentPodState after a look at its workload
	// (nil when that is gone) and the workload's pods.
	Recorded func(state, workload map[string]any, pods, nodes []map[string]any) map[string]any
}

// State runs a case of that area, all of its steps, against a model of a cluster:
// StatefulSets keep their pods, pods are ready at once, and a change of anything
// makes Kruise's controller look at every PersistentPodState.
func State(c Case, rules StateRules) error {
	r := &stateRun{rules: rules, cluster: cluster{}, nodes: stateNodes()}
	return eachStep(c, func(docs []map[string]any, want map[string]any) error {
		r.created = map[key]bool{}
		refused, err := r.applyAll(docs)
		if err != nil {
			return err
		}
		if err := Different("refusal", Diff(text(want, "refusal", "object"), refused)); err != nil {
			return err
		}
		return r.compare(want)
	})
}

// stateRun is a case while it runs.
type stateRun struct {
	rules   StateRules
	cluster cluster
	nodes   []map[string]any
	// created are the pods of the step in hand.
	created map[key]bool
}

// stateNodes are the nodes that the cases were recorded with.
func stateNodes() []map[string]any {
	var out []map[string]any
	for i, zone := range []string{"zone-a", "zone-b", "zone-c", "zone-a", "zone-b"} {
		name := fmt.Sprintf("fake-node-%d", i)
		out = append(out, map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{
			"name": name, "labels": map[string]any{
				"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "lab.test/fake": "true", "topology.kubernetes.io/zone": zone,
			},
		}})
	}
	return out
}

// applyAll does what the documents say, up to the first that is refused.
func (r *stateRun) applyAll(docs []map[string]any) (refused string, err error) {
	for _, d := range docs {
		if d["apiVersion"] == "conformance/v1" {
			if err := r.deed(d); err != nil {
				return "", err
			}
			continue
		}
		if !r.rules.Takes(d, r.cluster[keyOf(d)], r.cluster.all()) {
			return kindOf(d) + "/" + nameOf(d), nil
		}
		r.put(d)
	}
	return "", nil
}

// put stores an object; the status that it had stays.
func (r *stateRun) put(d map[string]any) {
	if kindOf(d) == kruise.KindPersistentPodState {
		status := r.cluster[keyOf(d)]["status"]
		d = with(r.rules.Newest(d), "status", status)
	}
	r.cluster.put(d)
	r.settle()
}

// deed is something a user does other than applying.
func (r *stateRun) deed(d map[string]any) error {
	kind := kindIn(text(d, "of"))
	switch at := r.find(kind, nameOf(d)); d["kind"] {
	case "Wait":
		return nil
	case "DeleteObject":
		r.remove(at)
	case "DeletePods":
		for _, at := range r.orders(d["orders"]) {
			r.remove(at)
		}
	case "MergePatch":
		r.cluster[at] = mapping(mergePatch(r.cluster[at], d["patch"]))
		if kind == "Pod" {
			return nil // a changed annotation wakes no controller
		}
	default:
		return fmt.Errorf("unknown document kind %v", d["kind"])
	}
	r.settle()
	return nil
}

// find returns the key of the one object of a kind and name: documents that are
// deeds name no namespace.
func (r *stateRun) find(kind, name string) key {
	for _, o := range r.cluster.kind(kind) {
		if nameOf(o) == name {
			return keyOf(o)
		}
	}
	return key{kind: kind, name: name}
}

// orders are pods by the order of their creation, from 1, or all.
func (r *stateRun) orders(orders any) []key {
	var out []key
	pods := r.cluster.kind("Pod")
	list, some := orders.([]any)
	for i, p := range pods {
		if !some || slices.ContainsFunc(list, func(o any) bool { return fmt.Sprint(o) == strconv.Itoa(i+1) }) {
			out = append(out, keyOf(p))
		}
	}
	return out
}

// remove deletes an object, with what the garbage collector deletes then.
func (r *stateRun) remove(at key) {
	delete(r.cluster, at)
	for _, o := range r.cluster.all() {
		if owners, _ := field(o, "metadata", "ownerReferences").([]any); len(owners) > 0 &&
			text(owners[0], "kind") == at.kind && text(owners[0], "name") == at.name && namespaceOf(o) == at.namespace {
			r.remove(keyOf(o))
		}
	}
}
