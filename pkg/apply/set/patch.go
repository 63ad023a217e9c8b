package set

import (
	"encoding/json"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
	before, err := json.Marshal(stated(from))
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(stated(to))
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
