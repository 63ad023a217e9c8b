// Package pausing writes the field by which a workload's controller stops updating
// pods, or goes on.
package pausing

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// Write sets the field at a path to true, or takes it away; of the object with this
// UID, never its successor.
func Write(ctx context.Context, c dynamic.ResourceInterface, name, uid string, path []string, on bool, o metav1.PatchOptions) (*unstructured.Unstructured, error) {
	body, err := Patch(uid, path, on)
	if err != nil {
		return nil, err
	}
	u, err := c.Patch(ctx, name, types.MergePatchType, body, o)
	if err != nil {
		return nil, fmt.Errorf("failed to patch: %w", err)
	}
	return u, nil
}

// Patch is the merge patch that does it.
func Patch(uid string, path []string, on bool) ([]byte, error) {
	var value any
	if on {
		value = true
	}
	for _, field := range slices.Backward(path) {
		value = map[string]any{field: value}
	}
	body, _ := value.(map[string]any)
	if body == nil {
		body = map[string]any{}
	}
	body["metadata"] = map[string]any{"uid": uid}
	return json.Marshal(body)
}
