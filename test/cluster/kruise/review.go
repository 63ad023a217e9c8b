package kruise

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/standin"
)

// convert answers a ConversionReview.
func convert(_ context.Context, review *apiextensionsv1.ConversionReview) {
	request := review.Request
	answer := &apiextensionsv1.ConversionResponse{UID: request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, o := range request.Objects {
		raw, err := standin.Converted(o.Raw, request.DesiredAPIVersion)
		if err != nil {
			answer.Result = metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}
			break
		}
		answer.ConvertedObjects = append(answer.ConvertedObjects, runtime.RawExtension{Raw: raw})
	}
	review.Request, review.Response = nil, answer
}

// admit answers an AdmissionReview with the defaults as a patch.
func admit(_ context.Context, review *admissionv1.AdmissionReview) {
	request := review.Request
	answer := &admissionv1.AdmissionResponse{UID: request.UID, Allowed: true}
	patch, err := standin.Defaults(request.Kind, request.Object.Raw)
	if err != nil {
		answer.Allowed = false
		answer.Result = &metav1.Status{Message: err.Error()}
	} else if patch != nil {
		answer.Patch, answer.PatchType = patch, ptr.To(admissionv1.PatchTypeJSONPatch)
	}
	review.Request, review.Response = nil, answer
}
