package standin

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Converted is one object in the version asked for.
func Converted(raw []byte, to string) ([]byte, error) {
	_, version, _ := strings.Cut(to, "/")
	var object any
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	out, _, err := kruise.FromHub(tree.FromValue(object), version)
	if err != nil {
		return nil, err
	}
	return json.Marshal(tree.Value(out))
}

// Defaults is what our defaulting adds, as a JSON patch of whole top-level
// fields. What the types do not know stays, because it is merged into the object
// as it came.
func Defaults(kind metav1.GroupVersionKind, raw []byte) ([]byte, error) {
	k, ok := kruise.Lookup(kind.Group, kind.Kind)
	if !ok {
		return nil, fmt.Errorf("%s is not a kind of Kruise", kind.Kind)
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	hub, _, err := kruise.ToHub(tree.FromValue(object))
	if err != nil {
		return nil, err
	}
	before, after := reflect.New(k.Type).Interface(), reflect.New(k.Type).Interface()
	for _, into := range []any{before, after} {
		if _, err := tree.Decode(hub, into); err != nil {
			return nil, err
		}
	}
	kruise.Default(after)
	from, err := typedGeneric(before, object)
	if err != nil {
		return nil, err
	}
	to, err := typedGeneric(after, object)
	if err != nil {
		return nil, err
	}
	var patch []map[string]any
	if changed, ok := overlay(object["spec"], from["spec"], to["spec"]); ok {
		patch = append(patch, map[string]any{"op": "add", "path": "/spec", "value": changed})
	}
	if labels, ok := overlay(object["metadata"], from["metadata"], to["metadata"]); ok {
		patch = append(patch, map[string]any{"op": "add", "path": "/metadata", "value": labels})
	}
	if patch == nil {
		return nil, nil
	}
	return json.Marshal(patch)
}

// typedGeneric is the value as JSON has it, in the version of an object.
func typedGeneric(v any, of map[string]any) (map[string]any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if text, err = Converted(text, fmt.Sprint(of["apiVersion"])); err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(text, &out)
}
