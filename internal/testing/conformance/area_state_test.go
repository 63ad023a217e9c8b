package conformance

import (
	"encoding/json"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/placement"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestConformanceState asks the rules by which PersistentPodStates are rendered
// what Kruise recorded of pods, and what it put into them.
func TestConformanceState(t *testing.T) {
	Area(t, "state", func(_ *testing.T, c Case) error {
		return State(c, StateRules{
			Takes: takesState, Newest: newestState, Generated: generatedState, Ordinals: wantedOrdinals,
			Placed: placedPod, Scheduled: scheduledNode, Recorded: recordedStatus,
		})
	})
}

func takesState(object, old map[string]any, existing []map[string]any) bool {
	q := check.Request{Object: parsed([]map[string]any{object})[0], Known: true}
	if old != nil {
		q.Old = parsed([]map[string]any{old})[0]
	}
	c := stage.New(resource.NewFacts(nil, parsed(existing), ""), stage.Options{Kruise: kruise.Next})
	return len(check.Object(c, q)) == 0
}

func newestState(object map[string]any) map[string]any {
	hub, _, err := kruise.ToHub(tree.FromValue(object))
	if err != nil {
		return object
	}
	return tree.Value(hub).(map[string]any)
}

func generatedState(workload map[string]any) map[string]any {
	state, ok := placement.Generated(tree.FromValue(workload))
	if !ok {
		return nil
	}
	out := plain(state)
	delete(out, "status")
	return out
}

// plain is a value as a document holds it.
func plain(v any) map[string]any {
	return tree.Value(tree.FromValue(v)).(map[string]any)
}

// convert puts plain values into a type with JSON names.
func convert(v, into any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		panic(err) // the types fit
	}
}

// wantedOrdinals reads both kinds of StatefulSets.
func wantedOrdinals(workload map[string]any) []int {
	var w struct{ Spec kruise.StatefulSetSpec }
	convert(map[string]any{"spec": workload["spec"]}, &w)
	start, replicas := 0, 1
	if w.Spec.Ordinals != nil {
		start = int(w.Spec.Ordinals.Start)
	}
	if w.Spec.Replicas != nil {
		replicas = int(*w.Spec.Replicas)
	}
	return rules.Ordinals(start, replicas, w.Spec.ReserveOrdinals)
}

func stateOf(object map[string]any) (state kruise.PersistentPodState) {
	convert(object, &state)
	return state
}

func placedPod(pod, object map[string]any) map[string]any {
	state := stateOf(object)
	name := pod["metadata"].(map[string]any)["name"].(string)
	p, ok := placement.Placed(&state.Spec, state.Status.PodStates[name])
	if !ok {
		return pod
	}
	return tree.Value(p.Put(tree.FromValue(pod), state.Name)).(map[string]any)
}

func scheduledNode(object map[string]any, nodes []map[string]any) map[string]any {
	var pod corev1.Pod
	convert(object, &pod)
	for _, n := range nodes {
		var node corev1.Node
		convert(n, &node)
		if fits, err := nodeaffinity.GetRequiredNodeAffinity(&pod).Match(&node); err == nil && fits {
			return n
		}
	}
	return nil
}

func recordedStatus(object, workload map[string]any, pods, nodes []map[string]any) map[string]any {
	state := stateOf(object)
	labels := map[string]map[string]string{}
	for _, n := range nodes {
		node := tree.FromValue(n)
		labels[tree.StrAt(node, "metadata", "name")] = tree.Strings(tree.Get(node, "metadata", "labels"))
	}
	w := placement.Workload{Gone: workload == nil}
	if workload != nil {
		w.Known, w.Ordinals = true, slices.Sorted(slices.Values(wantedOrdinals(workload)))
	}
	var list []placement.Pod
	for _, p := range pods {
		pod := tree.FromValue(p)
		list = append(list, placement.ReadPod(pod, labels[tree.StrAt(pod, "spec", "nodeName")]))
	}
	states := placement.Pass(&state.Spec, state.Status.PodStates, w, list)
	if len(states) == 0 {
		return nil
	}
	return map[string]any{"podStates": plain(states)}
}
