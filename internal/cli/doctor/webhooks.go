package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// webhook is what is looked at in a webhook of either sort.
type webhook struct {
	name   string
	client admissionv1.WebhookClientConfig
	policy *admissionv1.FailurePolicyType
}

// webhooks checks whether Kruise's webhooks have endpoints: without any, the API
// server refuses all that they are asked about, Pods among it.
func (p *inspection) webhooks(ctx context.Context) []verdictLine {
	all, err := p.hooks(ctx)
	if err != nil {
		return []verdictLine{warned("webhooks", "", "cannot be read: %v", err)}
	}
	if len(all) == 0 {
		return []verdictLine{warned("webhooks", "without them objects get no defaults, and pods no sidecars", "none in namespace %s", kruise.DefaultNamespace)}
	}
	var lines []verdictLine
	empty := slices.ContainsFunc(all, func(h webhook) bool { return len(h.client.CABundle) == 0 })
	if empty {
		lines = append(lines, failedVerdict("webhooks", "Kruise's controllers write it when they start: look at their logs", "a webhook has no certificate authority"))
	}
	for _, service := range hookServices(all) {
		lines = append(lines, p.answers(ctx, service, all))
	}
	return lines
}

// hooks are the webhooks that Kruise's services serve.
func (p *inspection) hooks(ctx context.Context) ([]webhook, error) {
	var all []webhook
	mutating, err := p.core.AdmissionregistrationV1().MutatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, c := range mutating.Items {
		for _, w := range c.Webhooks {
			all = append(all, webhook{w.Name, w.ClientConfig, w.FailurePolicy})
		}
	}
	validating, err := p.core.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, c := range validating.Items {
		for _, w := range c.Webhooks {
			all = append(all, webhook{w.Name, w.ClientConfig, w.FailurePolicy})
		}
	}
	return slices.DeleteFunc(all, func(h webhook) bool {
		return h.client.Service == nil || h.client.Service.Namespace != kruise.DefaultNamespace
	}), nil
}

func hookServices(all []webhook) []string {
	var out []string
	for _, h := range all {
		if !slices.Contains(out, h.client.Service.Name) {
			out = append(out, h.client.Service.Name)
		}
	}
	slices.Sort(out)
	return out
}

// answers reports whether a service has a ready endpoint.
func (p *inspection) answers(ctx context.Context, service string, all []webhook) verdictLine {
	list, err := p.core.DiscoveryV1().EndpointSlices(kruise.DefaultNamespace).List(ctx, metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=" + service})
	if err != nil {
		return warned("webhooks", "", "the endpoints of %s cannot be read: %v", service, err)
	}
	ready := 0
	for _, slice := range list.Items {
		for _, e := range slice.Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready {
				ready += len(e.Addresses)
			}
		}
	}
	if ready > 0 {
		return passed("webhooks", "%d, answered by %d addresses of %s", len(all), ready, service)
	}
	return failedVerdict("webhooks", "see to Kruise's controllers; until then the API server refuses what these are asked about", "no endpoint for %s: %s", service, refusingHooks(all))
}

// refusingHooks names the webhooks without whose answer a request fails.
func refusingHooks(all []webhook) string {
	var names []string
	for _, h := range all {
		if h.policy == nil || *h.policy == admissionv1.Fail {
			names = append(names, h.name)
		}
	}
	const some = 3
	if len(names) > some {
		return strings.Join(names[:some], ", ") + fmt.Sprintf(" and %d more", len(names)-some)
	}
	return strings.Join(names, ", ")
}
