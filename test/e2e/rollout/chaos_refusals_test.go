package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
)

// quota has the server take no more pods.
func quota(ctx context.Context, _ *testing.T, h *history) (func(), error) {
	quotas := h.Client().CoreV1().ResourceQuotas(h.namespace)
	full := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "full"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
	}
	_, err := quotas.Create(ctx, full, metav1.CreateOptions{})
	return func() { _ = quotas.Delete(ctx, "full", metav1.DeleteOptions{}) }, err
}

// webhook has the server call a web hook that never answers about the workload, pods and
// evictions.
func webhook(ctx context.Context, _ *testing.T, h *history) (func(), error) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	hooks := h.Client().AdmissionregistrationV1().ValidatingWebhookConfigurations()
	asked := func(group, version, resource string, what admissionregistrationv1.OperationType) admissionregistrationv1.RuleWithOperations {
		return admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{what},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource}},
		}
	}
	r := h.object.Resource
	_, err = hooks.Create(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: h.namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "silent.lab.test", AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: new(int32(1)),
			SideEffects: new(admissionregistrationv1.SideEffectClassNone), FailurePolicy: new(admissionregistrationv1.Fail),
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: h.namespace}},
			ClientConfig:      admissionregistrationv1.WebhookClientConfig{URL: new("https://" + silent.Addr().String() + "/")},
			Rules: []admissionregistrationv1.RuleWithOperations{
				asked(r.Group, r.Version, r.Resource, admissionregistrationv1.Update),
				asked("", "v1", "pods", admissionregistrationv1.Update),
				asked("", "v1", "pods/eviction", admissionregistrationv1.Create),
			},
		}},
	}, metav1.CreateOptions{})
	end := func() {
		_ = hooks.Delete(ctx, h.namespace, metav1.DeleteOptions{})
		_ = silent.Close()
	}
	return end, errors.Join(err, h.refuses(ctx, true))
}

// denied has a policy refuse every change of the workload.
func denied(ctx context.Context, _ *testing.T, h *history) (func(), error) {
	text := policy(h.namespace, h.object.Resource, "object.spec == oldObject.spec")
	_, err := h.ApplyAll(ctx, "", strings.NewReader(text))
	return func() {
		_ = h.Client().AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(ctx, h.namespace, metav1.DeleteOptions{})
		_ = h.Client().AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(ctx, h.namespace, metav1.DeleteOptions{})
		_ = h.refuses(ctx, false)
	}, errors.Join(err, h.refuses(ctx, true))
}

// refuses waits until the server refuses changes of the workload, or no longer does.
func (h *history) refuses(ctx context.Context, refuses bool) error {
	client, err := dynamic.NewForConfig(h.Config())
	if err != nil {
		return err
	}
	body := []byte(`{"spec": {"minReadySeconds": 7}}`)
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, testcluster.Patience, true, func(ctx context.Context) (bool, error) {
		_, err := client.Resource(h.object.Resource).Namespace(h.namespace).
			Patch(ctx, "web", types.MergePatchType, body, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		return (err != nil) == refuses, nil
	})
}

// asleep stops the controller of the workload, also between two writes.
func asleep(ctx context.Context, _ *testing.T, h *history) (func(), error) {
	err := h.annotate(ctx, standin.AsleepAnnotation, "true")
	return func() { _ = h.annotate(ctx, standin.AsleepAnnotation, nil) }, err
}

// unready has all pods of one node not ready.
func unready(ctx context.Context, _ *testing.T, h *history) (func(), error) {
	pods := h.Client().CoreV1().Pods(h.namespace)
	list, err := pods.List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil || len(list.Items) == 0 {
		return nil, err
	}
	var errs []error
	mark := func(v any) {
		body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{life.UnreadyAnnotation: v}}})
		errs = append(errs, err)
		for i := range list.Items {
			if p := &list.Items[i]; p.Spec.NodeName == list.Items[0].Spec.NodeName {
				_, err = pods.Patch(ctx, p.Name, types.MergePatchType, body, metav1.PatchOptions{})
				errs = append(errs, err)
			}
		}
	}
	mark("*")
	return func() { mark(nil) }, errors.Join(errs...)
}

// lost has one pod vanish with its node, which is not asked.
func lost(ctx context.Context, _ *testing.T, h *history) (func(), error) {
	pods := h.Client().CoreV1().Pods(h.namespace)
	list, err := pods.List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil || len(list.Items) == 0 {
		return nil, fmt.Errorf("no pod: %w", err)
	}
	return nil, pods.Delete(ctx, list.Items[0].Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
}
