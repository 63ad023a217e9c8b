package standin

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Verdict answers an admission request: with a JSON patch, or why it is refused. A [RefusedError] has a code of its own.
type Verdict func(context.Context, *admissionv1.AdmissionRequest) (patch []byte, err error)

// Webhooks are what an API server has to ask: Pod for new pods, Object for what fills in SidecarSets and
// ContainerRecreateRequests, Check for all of Kruise's objects that are created or changed, Budget for pods that
// are changed, deleted or evicted, Deletion for all that is deleted.
type Webhooks struct{ Pod, Object, Check, Budget, Deletion Verdict }

// Admit asks those that a request concerns, as Kruise's configurations of webhooks have an API server ask them, after
// the defaults were filled in.
func (w Webhooks) Admit(ctx context.Context, r *admissionv1.AdmissionRequest) ([]byte, error) {
	created, updated := r.Operation == admissionv1.Create, r.Operation == admissionv1.Update
	pod := r.Kind.Group == "" && r.Kind.Kind == "Pod"
	switch {
	case pod && r.SubResource == "eviction":
		return w.Budget(ctx, r)
	case r.SubResource != "":
		return nil, nil
	case r.Operation == admissionv1.Delete:
		before := &unstructured.Unstructured{}
		if err := json.Unmarshal(r.OldObject.Raw, &before.Object); err != nil {
			return nil, err
		}
		if before.GetLabels()[kruise.DeleteProtectionLabel] != "" {
			if _, err := w.Deletion(ctx, r); err != nil {
				return nil, err
			}
		}
		if pod && before.GetAnnotations()[kruise.RelatedBudgetAnnotation] != "" {
			return w.Budget(ctx, r)
		}
		return nil, nil
	case pod && created:
		return w.Pod(ctx, r)
	case pod && updated:
		before := &unstructured.Unstructured{}
		if err := json.Unmarshal(r.OldObject.Raw, &before.Object); err != nil || before.GetAnnotations()[kruise.RelatedBudgetAnnotation] == "" {
			return nil, err
		}
		return w.Budget(ctx, r)
	case r.Kind.Group != kruise.Group && r.Kind.Group != kruise.PolicyGroup:
		return nil, nil
	}
	mutating := []Verdict{func(_ context.Context, r *admissionv1.AdmissionRequest) ([]byte, error) {
		return Defaults(r.Kind, r.Object.Raw)
	}}
	if r.Kind.Kind == kruise.KindSidecarSet || r.Kind.Kind == kruise.KindContainerRecreateRequest {
		mutating = append(mutating, w.Object)
	}
	first := r.Object.Raw
	for _, verdict := range mutating {
		patch, err := verdict(ctx, r)
		if err != nil || patch == nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		decoded, err := jsonpatch.DecodePatch(patch)
		if err != nil {
			return nil, err
		}
		if r.Object.Raw, err = decoded.Apply(r.Object.Raw); err != nil {
			return nil, err
		}
	}
	if _, err := w.Check(ctx, r); err != nil || bytes.Equal(first, r.Object.Raw) {
		return nil, err
	}
	var after map[string]any
	if err := json.Unmarshal(r.Object.Raw, &after); err != nil {
		return nil, err
	}
	return json.Marshal([]map[string]any{{"op": "replace", "path": "", "value": after}})
}

// RefusedError is what a webhook says no with.
type RefusedError struct {
	Code   int32
	Reason metav1.StatusReason
	text   string
}

func (r *RefusedError) Error() string { return r.text }

// Status is how an API server answers it.
func (r *RefusedError) Status() metav1.Status {
	return metav1.Status{Status: metav1.StatusFailure, Code: r.Code, Reason: r.Reason, Message: "admission webhook denied the request: " + r.text}
}

// forbid is the RefusedError of those webhooks that guard what exists.
func forbid(format string, args ...any) error {
	return &RefusedError{http.StatusForbidden, metav1.StatusReasonForbidden, fmt.Sprintf(format, args...)}
}
