package standin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/standin"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/webhook"
)

// serve answers admission reviews until the context ends, and returns as soon as
// the API server asks.
func serve(ctx context.Context, c *cluster.Cluster, w standin.Webhooks) error {
	mux := http.NewServeMux()
	for path, verdict := range map[string]standin.Verdict{
		"/pod": w.Pod, "/object": w.Object, "/check": w.Check, "/budget": w.Budget, "/deletion": w.Deletion,
	} {
		mux.HandleFunc("POST "+path, webhook.Answer(func(ctx context.Context, review *admissionv1.AdmissionReview) {
			answer(review, func() ([]byte, error) { return verdict(ctx, review.Request) })
		}))
	}
	server, err := webhook.Serve(ctx, c, mux)
	if err != nil {
		return err
	}
	registration := c.Client().AdmissionregistrationV1()
	if _, err := registration.MutatingWebhookConfigurations().Create(ctx, mutating(server), metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := registration.ValidatingWebhookConfigurations().Create(ctx, validating(server), metav1.CreateOptions{}); err != nil {
		return err
	}
	return inForce(ctx, c)
}

// answer fills in the response: a patch to apply, or a refusal.
func answer(review *admissionv1.AdmissionReview, verdict func() ([]byte, error)) {
	out := &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	patch, err := verdict()
	if err != nil {
		out.Allowed = false
		out.Result = &metav1.Status{Message: err.Error(), Code: http.StatusBadRequest, Reason: metav1.StatusReasonBadRequest}
		if r, ok := errors.AsType[*standin.RefusedError](err); ok {
			out.Result.Code, out.Result.Reason = r.Code, r.Reason
		}
	} else if patch != nil {
		out.Patch, out.PatchType = patch, ptr.To(admissionv1.PatchTypeJSONPatch)
	}
	review.Request, review.Response = nil, out
}

// inForce returns as soon as a pod that is not stored comes back with what the
// webhook adds, and a bad object is refused.
func inForce(ctx context.Context, c *cluster.Cluster) error {
	limit, cancel := context.WithTimeout(ctx, cluster.Patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := errors.Join(probePod(limit, c), probeCheck(limit, c))
		if err == nil {
			return nil
		}
		select {
		case <-limit.Done():
			return fmt.Errorf("they do not answer: %w", err)
		case <-tick.C:
		}
	}
}
