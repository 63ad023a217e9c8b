package kruise

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/webhook"
)

// hooks is the webhook server.
type hooks webhook.Server

// hooksName is the configuration's name.
const hooksName = "kruise-defaults"

// serve answers the API server's questions until the context ends.
func serve(ctx context.Context, c *cluster.Cluster) (*hooks, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /convert", webhook.Answer(convert))
	mux.HandleFunc("POST /default", webhook.Answer(admit))
	server, err := webhook.Serve(ctx, c, mux)
	return (*hooks)(server), err
}

// conversion sends objects through our conversion table.
func (h *hooks) conversion() *apiextensionsv1.CustomResourceConversion {
	return &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: new(h.URL + "/convert"), CABundle: h.CA},
			ConversionReviewVersions: []string{"v1"},
		},
	}
}

// defaulting sends what is created or changed through our defaults, asked in the
// stored version.
func (h *hooks) defaulting(definitions []*apiextensionsv1.CustomResourceDefinition) *admissionregistrationv1.MutatingWebhookConfiguration {
	var rules []admissionregistrationv1.RuleWithOperations
	for _, d := range definitions {
		stored := d.Spec.Versions[slices.IndexFunc(d.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })].Name
		rules = append(rules, admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{d.Spec.Group}, APIVersions: []string{stored}, Resources: []string{d.Spec.Names.Plural},
			},
		})
	}
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: hooksName},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name:                    "defaults.kubectl-kruise.test",
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: new(h.URL + "/default"), CABundle: h.CA},
			Rules:                   rules,
			MatchPolicy:             ptr.To(admissionregistrationv1.Equivalent),
			SideEffects:             ptr.To(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
}

// await returns when both webhooks are in force: an object sent in the older
// version comes back with a default, without being stored.
func (h *hooks) await(ctx context.Context, c *cluster.Cluster) error {
	const probe = `{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, metadata: {name: probe},
		spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: d}]}}}}`
	limit, cancel := context.WithTimeout(ctx, cluster.Patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		stored, err := c.DryRun(limit, "default", strings.NewReader(probe))
		if err == nil && len(stored) == 1 {
			spec, _ := stored[0].Object["spec"].(map[string]any)
			if spec["revisionHistoryLimit"] != nil {
				return nil
			}
			err = errors.New("no defaults yet")
		}
		select {
		case <-limit.Done():
			return fmt.Errorf("kruise's API is not ready: %w", err)
		case <-tick.C:
		}
	}
}
