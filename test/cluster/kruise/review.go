package kruise

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	product "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// convert answers a ConversionReview.
func convert(_ context.Context, review *apiextensionsv1.ConversionReview) {
	request := review.Request
	answer := &apiextensionsv1.ConversionResponse{UID: request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, o := range request.Objects {
		raw, err := converted(o.Raw, request.DesiredAPIVersion)
		if err != nil {
			answer.Result = metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}
			break
		}
		answer.ConvertedObjects = append(answer.ConvertedObjects, runtime.RawExtension{Raw: raw})
	}
	review.Request, review.Response = nil, answer
}

// converted is one object in the version asked for.
func converted(raw []byte, to string) ([]byte, error) {
	_, version, _ := strings.Cut(to, "/")
	var object any
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	out, _, err := product.FromHub(tree.FromValue(object), version)
	if err != nil {
		return nil, err
	}
	return json.Marshal(tree.Value(out))
}

// admit answers an AdmissionReview with the defaults as a patch.
func admit(_ context.Context, review *admissionv1.AdmissionReview) {
	request := review.Request
	answer := &admissionv1.AdmissionResponse{UID: request.UID, Allowed: true}
	patch, err := defaults(request.Kind.Kind, request.Object.Raw)
	if err != nil {
		answer.Allowed = false
		answer.Result = &metav1.Status{Message: err.Error()}
	} else if patch != nil {
		answer.Patch, answer.PatchType = patch, ptr.To(admissionv1.PatchTypeJSONPatch)
	}
	review.Request, review.Response = nil, answer
}

// defaults is what our defaulting adds, as a JSON patch of whole top-level
// fields. What the types do not know stays, because it is merged into the object
// as it came.
func defaults(name string, raw []byte) ([]byte, error) {
	k := kindNamed(name)
	if k.object == nil {
		return nil, fmt.Errorf("%s is not a kind of Kruise", name)
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	hub, _, err := product.ToHub(tree.FromValue(object))
	if err != nil {
		return nil, err
	}
	before, after := k.new(), k.new()
	for _, into := range []any{before, after} {
		if _, err := tree.Decode(hub, into); err != nil {
			return nil, err
		}
	}
	product.Default(after)
	from, err := generic(before, object)
	if err != nil {
		return nil, err
	}
	to, err := generic(after, object)
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

// generic is the value as JSON has it, in the version of an object.
func generic(v any, of map[string]any) (map[string]any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if text, err = converted(text, fmt.Sprint(of["apiVersion"])); err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(text, &out)
}
