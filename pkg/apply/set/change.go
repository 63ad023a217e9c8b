package set

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// rolloutFields are the fields that a rollout writes step by step. Those of every kind in
// every version are here: a kind that does not have one is not changed by it.
var rolloutFields = [][]string{
	{"spec", "template"},
	{"spec", "paused"},
	{"spec", "updateStrategy", "partition"},
	{"spec", "updateStrategy", "paused"},
	{"spec", "updateStrategy", "rollingUpdate", "partition"},
	{"spec", "updateStrategy", "rollingUpdate", "paused"},
}

func rolloutFieldsOf(kind string) [][]string {
	switch kind {
	case united:
		return [][]string{{"spec", "template"}, {"spec", "updateStrategy"}}
	case kruise.KindSidecarSet:
		out := slices.Clone(rolloutFields[1:])
		for _, field := range rules.SidecarSetFields() {
			out = append(out, []string{"spec", field})
		}
		return out
	}
	return rolloutFields
}

const united = kruise.KindUnitedDeployment

// Rolls are the fields of a workload that differ and that a rollout writes, with dots between their
// parts. None means that nothing holds pods back: the manifest is applied outright.
func Rolls(live, final *unstructured.Unstructured) (rolls []string) {
	for _, path := range rolloutFieldsOf(final.GetKind()) {
		now, there, _ := unstructured.NestedFieldNoCopy(live.Object, path...)
		then, wanted, _ := unstructured.NestedFieldNoCopy(final.Object, path...)
		if there != wanted || !reflect.DeepEqual(now, then) {
			rolls = append(rolls, strings.Join(path, "."))
		}
	}
	return rolls
}

// WithSpecOf returns the final state of a workload with the spec that it has now: what may be
// written before its rollout, whose first write has the whole spec.
func WithSpecOf(live, final *unstructured.Unstructured) *unstructured.Unstructured {
	out := final.DeepCopy()
	out.Object["spec"] = runtime.DeepCopyJSONValue(live.Object["spec"])
	return out
}

// Begun stands among the fields of [Rolls] for a rollout in progress that has nothing left to write.
const Begun = "metadata.annotations"

// Releases reports whether fields that a rollout changes are those alone that hold
// pods back: the template stays.
func Releases(rolls []string) bool {
	return !slices.ContainsFunc(rolls, func(field string) bool {
		return field != Begun && !strings.HasSuffix(field, "partition") && !strings.HasSuffix(field, "paused") && !strings.HasSuffix(field, "updateStrategy")
	})
}

// mark is the label that rollouts of the driver client leave in the template of a
// ReplicaSet, by which its pods are distinguished.
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

// KeepHeld copies the partitions with which a rollout ended below 100 % into an object that is to be
// applied: without them, the pods that its last step left would be updated at once. A UnitedDeployment
// keeps its update strategy while the annotation says that not all of its subsets have ended.
func KeepHeld(now, object *unstructured.Unstructured) {
	keep := func(path ...string) {
		v, there, _ := unstructured.NestedFieldCopy(now.Object, path...)
		own, _, _ := unstructured.NestedFieldNoCopy(object.Object, path...)
		if !there || fmt.Sprint(v) == "0" || reflect.DeepEqual(v, own) {
			return
		}
		// The error says that a parent is no map, which the server says better.
		_ = unstructured.SetNestedField(object.Object, v, path...)
	}
	if object.GetKind() == united {
		if now.GetAnnotations()[kruise.BeforeRolloutAnnotation] != "" {
			keep("metadata", "annotations", kruise.BeforeRolloutAnnotation)
			keep("spec", "updateStrategy")
		}
		return
	}
	for _, path := range rolloutFields {
		if path[len(path)-1] == "partition" {
			keep(path...)
		}
	}
}

// ForgetDeleted takes the names of pods to delete out of an object that is to be applied after its
// rollout: the pods are gone, their controller has forgotten them, and the server refuses names of
// pods that are not there.
func ForgetDeleted(object *unstructured.Unstructured) {
	unstructured.RemoveNestedField(object.Object, "spec", "scaleStrategy", "podsToDelete")
	if rest, there, _ := unstructured.NestedMap(object.Object, "spec", "scaleStrategy"); there && len(rest) == 0 {
		unstructured.RemoveNestedField(object.Object, "spec", "scaleStrategy") // an apply would make null of a mapping whose only field goes
	}
}

// Same reports whether two states of an object say the same, but for what the
// server keeps about every write.
func Same(a, b *unstructured.Unstructured) bool {
	return reflect.DeepEqual(withoutServerFields(a), withoutServerFields(b))
}

// withoutServerFields is an object without what the server alone writes.
func withoutServerFields(u *unstructured.Unstructured) map[string]any {
	out := runtime.DeepCopyJSON(u.Object)
	delete(out, "status")
	for _, field := range []string{"managedFields", "resourceVersion", "generation"} {
		unstructured.RemoveNestedField(out, "metadata", field)
	}
	return out
}

// Overlay is about what becomes of an object that is there when another is applied
// over it, without asking the server: maps are merged, lists whose items have names
// item by item, and nothing is removed.
func Overlay(live, object *unstructured.Unstructured) *unstructured.Unstructured {
	out := runtime.DeepCopyJSON(live.Object)
	overlay(out, runtime.DeepCopyJSON(object.Object))
	return &unstructured.Unstructured{Object: out}
}

func overlay(into, from map[string]any) {
	for key, v := range from {
		into[key] = overlayValue(into[key], v)
	}
}

func overlayValue(old, now any) any {
	switch now := now.(type) {
	case map[string]any:
		if o, ok := old.(map[string]any); ok {
			overlay(o, now)
			return o
		}
	case []any:
		if o, ok := old.([]any); ok {
			return overlayList(o, now)
		}
	}
	return now
}

// overlayList keeps the items of the new list, each over the old one of its name.
func overlayList(old, now []any) []any {
	named := map[string]any{}
	for _, item := range old {
		if name := nameOf(item); name != "" {
			named[name] = item
		}
	}
	out := make([]any, len(now))
	for i, item := range now {
		out[i] = overlayValue(named[nameOf(item)], item)
	}
	return out
}

func nameOf(item any) string {
	m, _ := item.(map[string]any)
	name, _ := m["name"].(string)
	return name
}

// Patch returns the merge patch that brings an object from one state to another,
// and that only the object takes whose state it was; nil where there is nothing to
// change.
func Patch(from, to *unstructured.Unstructured) ([]byte, error) {
	patch, err := Change(from, to)
	if err != nil || patch == nil {
		return nil, err
	}
	return json.Marshal(patch)
}

// Change is the content of [Patch].
func Change(from, to *unstructured.Unstructured) (map[string]any, error) {
	if Same(from, to) {
		return nil, nil //nolint:nilnil // that there is nothing to change is no error
	}
	before, err := json.Marshal(withoutServerFields(from))
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(withoutServerFields(to))
	if err != nil {
		return nil, err
	}
	text, err := jsonpatch.CreateMergePatch(before, after)
	if err != nil {
		return nil, err
	}
	var patch map[string]any
	if err := json.Unmarshal(text, &patch); err != nil {
		return nil, err
	}
	for field, v := range map[string]string{"uid": string(from.GetUID()), "resourceVersion": from.GetResourceVersion()} {
		if err := unstructured.SetNestedField(patch, v, "metadata", field); err != nil {
			return nil, err
		}
	}
	return patch, nil
}
