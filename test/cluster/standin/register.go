package standin

import (
	"context"
	"errors"
	"slices"

	registration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/webhook"
)

// hooksName is that of both configurations. It is sorted behind the one that fills
// in defaults, which is asked first.
const hooksName = "kruise-stand-ins"

func mutating(s *webhook.Server) *registration.MutatingWebhookConfiguration {
	one := func(name, path string, rules ...registration.RuleWithOperations) registration.MutatingWebhook {
		return registration.MutatingWebhook{
			Name: name + ".kubectl-kruise.test", ClientConfig: s.Client(path), Rules: rules,
			MatchPolicy: ptr.To(registration.Equivalent), SideEffects: ptr.To(registration.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
		}
	}
	return &registration.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: hooksName},
		Webhooks: []registration.MutatingWebhook{
			one("pods", "/pod", on("", []string{"v1"}, []string{"pods"}, registration.Create)),
			one("objects", "/object", on(kruise.Group, []string{kruise.V1beta1}, []string{"sidecarsets", "containerrecreaterequests"}, registration.Create, registration.Update)),
		},
	}
}

func validating(s *webhook.Server) *registration.ValidatingWebhookConfiguration {
	one := func(name, path string, rules ...registration.RuleWithOperations) registration.ValidatingWebhook {
		return registration.ValidatingWebhook{
			Name: name + ".kubectl-kruise.test", ClientConfig: s.Client(path), Rules: rules,
			MatchPolicy: ptr.To(registration.Exact), SideEffects: ptr.To(registration.SideEffectClassNoneOnDryRun),
			AdmissionReviewVersions: []string{"v1"},
		}
	}
	pods := one("pods", "/budget", on("", []string{"v1"}, []string{"pods"}, registration.Update, registration.Delete))
	pods.MatchConditions = []registration.MatchCondition{{
		Name:       "has-a-budget",
		Expression: "has(oldObject.metadata.annotations) && '" + kruise.RelatedBudgetAnnotation + "' in oldObject.metadata.annotations",
	}}
	evictions := one("evictions", "/budget", on("", []string{"v1"}, []string{"pods/eviction"}, registration.Create))
	evictions.MatchPolicy = ptr.To(registration.Equivalent)
	protection := one("deletions", "/deletion", protectedKinds()...)
	protection.ObjectSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: kruise.DeleteProtectionLabel, Operator: metav1.LabelSelectorOpExists},
	}}
	return &registration.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: hooksName},
		Webhooks: []registration.ValidatingWebhook{
			one("objects", "/check", checkedKinds()...), pods, evictions, protection,
		},
	}
}

func on(group string, versions, resources []string, operations ...registration.OperationType) registration.RuleWithOperations {
	return registration.RuleWithOperations{
		Operations: operations,
		Rule:       registration.Rule{APIGroups: []string{group}, APIVersions: versions, Resources: resources},
	}
}

// checkedKinds are all of Kruise's, in whatever version they are written: some
// rules hold in one version only.
func checkedKinds() []registration.RuleWithOperations {
	every := []string{"*"}
	return []registration.RuleWithOperations{
		on(kruise.Group, every, every, registration.Create, registration.Update),
		on(kruise.PolicyGroup, every, every, registration.Create, registration.Update),
	}
}

// protectedKinds are those that deletion protection knows
// (docs/kruise/protection.md#deletion-protection).
func protectedKinds() []registration.RuleWithOperations {
	del := registration.Delete
	return []registration.RuleWithOperations{
		on("apps", []string{"v1"}, []string{"deployments", "replicasets", "statefulsets"}, del),
		on(kruise.Group, []string{"*"}, []string{"clonesets", "statefulsets", "uniteddeployments"}, del),
		on("", []string{"v1"}, []string{"namespaces", "services"}, del),
		on("networking.k8s.io", []string{"v1"}, []string{"ingresses"}, del),
		on("apiextensions.k8s.io", []string{"v1"}, []string{"customresourcedefinitions"}, del),
	}
}

// probePod asks for a pod that is not stored.
func probePod(ctx context.Context, c *cluster.Cluster) error {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "probe"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: "probe"}}},
	}
	p, err := c.Client().CoreV1().Pods(kruise.DefaultNamespace).Create(ctx, p, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err == nil && !slices.Contains(p.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: kruise.KruisePodReady}) {
		err = errors.New("a new pod has no readiness gate")
	}
	return err
}

// probeCheck sends an object that the schema takes and the webhook does not.
func probeCheck(ctx context.Context, c *cluster.Cluster) error {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": kruise.PolicyGroup + "/" + kruise.V1beta1, "kind": "PodUnavailableBudget",
		"metadata": map[string]any{"name": "probe"}, "spec": map[string]any{},
	}}
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	budgets := schema.GroupVersionResource{Group: kruise.PolicyGroup, Version: kruise.V1beta1, Resource: "podunavailablebudgets"}
	_, err = client.Resource(budgets).Namespace(kruise.DefaultNamespace).
		Create(ctx, o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err == nil {
		return errors.New("an empty budget is accepted")
	}
	return nil
}
