package set

import (
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// driven are the fields that a rollout writes step by step. Those of every kind in
// every version are here: a kind that does not have one is not changed by it.
var driven = [][]string{
	{"spec", "template"},
	{"spec", "paused"},
	{"spec", "updateStrategy", "partition"},
	{"spec", "updateStrategy", "paused"},
	{"spec", "updateStrategy", "rollingUpdate", "partition"},
	{"spec", "updateStrategy", "rollingUpdate", "paused"},
}

func drivenOf(kind string) [][]string {
	switch kind {
	case united:
		return [][]string{{"spec", "template"}, {"spec", "updateStrategy"}}
	case kruise.KindSidecarSet:
		out := slices.Clone(driven[1:])
		for _, field := range rules.SidecarSetFields() {
			out = append(out, []string{"spec", field})
		}
		return out
	}
	return driven
}

const united = kruise.KindUnitedDeployment

// Held returns the final state of a workload with all that a rollout drives as it
// is now: what may be written before the rollout begins. rolls are the fields that
// differ, with dots between their parts: none of them means that there is nothing
// to roll out.
func Held(live, final *unstructured.Unstructured) (held *unstructured.Unstructured, rolls []string) {
	held = final.DeepCopy()
	for _, path := range drivenOf(final.GetKind()) {
		now, there, _ := unstructured.NestedFieldCopy(live.Object, path...)
		then, wanted, _ := unstructured.NestedFieldNoCopy(final.Object, path...)
		if there == wanted && reflect.DeepEqual(now, then) {
			continue
		}
		rolls = append(rolls, strings.Join(path, "."))
		if !there {
			unstructured.RemoveNestedField(held.Object, path...)
			continue
		}
		// The error says that a parent is no map, which the field in live rules out for
		// all but a strategy that turned into another type.
		_ = unstructured.SetNestedField(held.Object, now, path...)
	}
	if held.GetKind() == united {
		dropPartitions(held.Object)
	}
	return held, rolls
}

// dropPartitions leaves out partitions of subsets that there are no more: a webhook
// refuses them.
func dropPartitions(u map[string]any) {
	at := []string{"spec", "updateStrategy", "manualUpdate", "partitions"}
	partitions, found, _ := unstructured.NestedMap(u, at...)
	if !found {
		return
	}
	subsets, _, _ := unstructured.NestedSlice(u, "spec", "topology", "subsets")
	names := map[string]bool{}
	for _, s := range subsets {
		names[nameOf(s)] = true
	}
	for name := range partitions {
		if !names[name] {
			unstructured.RemoveNestedField(u, slices.Concat(at, []string{name})...)
		}
	}
}

// Releases reports whether fields that a rollout drives are those alone that hold
// pods back: the template stays.
func Releases(rolls []string) bool {
	return !slices.ContainsFunc(rolls, func(field string) bool {
		return !strings.HasSuffix(field, "partition") && !strings.HasSuffix(field, "paused") && !strings.HasSuffix(field, "updateStrategy")
	})
}

// mark is the label that rollouts of the driver client leave in the template of a
// ReplicaSet, by which its pods are told apart.
const mark = appsv1.ControllerRevisionHashLabelKey

// KeepMark puts the mark of the present template into one that is to be applied:
// without it, pods made from then on would seem to be old.
func KeepMark(live, object *unstructured.Unstructured) {
	at := []string{"spec", "template", "metadata", "labels", mark}
	if live == nil || object.GetKind() != kruise.KindReplicaSet {
		return
	}
	if _, given, _ := unstructured.NestedString(object.Object, at...); given {
		return
	}
	if value, marked, _ := unstructured.NestedString(live.Object, at...); marked {
		// The error says that a parent is no map, which the server says better.
		_ = unstructured.SetNestedField(object.Object, value, at...)
	}
}

// Same reports whether two states of an object say the same, but for what the
// server keeps about every write.
func Same(a, b *unstructured.Unstructured) bool { return reflect.DeepEqual(stated(a), stated(b)) }

// stated is an object without what the server alone writes.
func stated(u *unstructured.Unstructured) map[string]any {
	out := runtime.DeepCopyJSON(u.Object)
	delete(out, "status")
	for _, field := range []string{"managedFields", "resourceVersion", "generation"} {
		unstructured.RemoveNestedField(out, "metadata", field)
	}
	return out
}
