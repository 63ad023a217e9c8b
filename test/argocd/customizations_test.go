package argocd

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/argoproj/argo-cd/v3/util/settings"
	"github.com/argoproj/gitops-engine/pkg/health"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/yaml"
)

// overrides are the generated patch of argocd-cm, as Argo CD itself reads it.
var overrides = sync.OnceValues(func() (lua.ResourceHealthOverrides, error) {
	b, err := os.ReadFile("../../plugins/argocd/install/argocd-cm.yaml")
	if err != nil {
		return nil, err
	}
	var cm corev1.ConfigMap
	if err := yaml.Unmarshal(b, &cm); err != nil {
		return nil, err
	}
	cm.Namespace, cm.Labels = "argocd", map[string]string{"app.kubernetes.io/part-of": "argocd"}
	secret := &corev1.Secret{}
	secret.Name, secret.Namespace, secret.Labels = "argocd-secret", "argocd", cm.Labels
	manager := settings.NewSettingsManager(context.Background(), fake.NewClientset(&cm, secret), "argocd")
	return manager.GetResourceOverrides()
})

// ours is the health that the generated scripts give; nothing else may.
func ours(t *testing.T, o *unstructured.Unstructured) *health.HealthStatus {
	t.Helper()
	all := customizations(t)
	if all[lua.GetConfigMapKey(o.GroupVersionKind())].HealthLua == "" {
		t.Fatalf("no script for %s", o.GetKind())
	}
	h, err := all.GetResourceHealth(o)
	if err != nil {
		t.Fatalf("%s: %v", o.GetKind(), err)
	}
	if h.Message == "" {
		t.Fatalf("%s: %s without a message", o.GetKind(), h.Status)
	}
	switch h.Status {
	case health.HealthStatusHealthy, health.HealthStatusProgressing, health.HealthStatusSuspended, health.HealthStatusDegraded:
	default:
		t.Fatalf("%s: %s (%s)", o.GetKind(), h.Status, h.Message)
	}
	return h
}

func customizations(t *testing.T) lua.ResourceHealthOverrides {
	t.Helper()
	all, err := overrides()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// machine is Argo CD's Lua machine for actions.
func machine(t *testing.T) lua.VM {
	t.Helper()
	return lua.VM{ResourceOverrides: map[string]v1alpha1.ResourceOverride(customizations(t))}
}

// TestScripts_NeedNoOpenLibraries: scripts work in every Argo CD as it is installed.
func TestScripts_NeedNoOpenLibraries(t *testing.T) {
	all := customizations(t)
	if len(all) < 17 {
		t.Fatalf("%d kinds", len(all))
	}
	for key, o := range all {
		if o.UseOpenLibs {
			t.Errorf("%s opens libraries", key)
		}
	}
}

// object parses an object with whole numbers as Kubernetes has them.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := o.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}
	return o
}
