package change

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestProtect: docs/kruise/protection.md#deletion-protection.
func TestProtect(t *testing.T) {
	for _, c := range []struct{ apiVersion, kind, always, cascading string }{
		{"apps/v1", "Deployment", "", ""},
		{"apps.kruise.io/v1alpha1", "UnitedDeployment", "", ""},
		{"apps.kruise.io/v1beta1", "StatefulSet", "", ""},
		{"v1", "Namespace", "", ""},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "", ""},
		{"v1", "Service", "", "Cascading protects no Service"},
		{"networking.k8s.io/v1", "Ingress", "", "Cascading protects no Ingress"},
		{"apps/v1", "DaemonSet", "Always protects no DaemonSet", "Cascading protects no DaemonSet"},
		{"apps.kruise.io/v1beta1", "SidecarSet", "Always protects no SidecarSet", "Cascading protects no SidecarSet"},
	} {
		for mode, want := range map[string]string{"Always": c.always, "Cascading": c.cascading} {
			u := &unstructured.Unstructured{}
			u.SetAPIVersion(c.apiVersion)
			u.SetKind(c.kind)
			err := protect(u, mode)
			got := u.GetLabels()["policy.kruise.io/delete-protection"]
			switch {
			case want == "" && (err != nil || got != mode):
				t.Errorf("%s, %s: label %q, %v", c.kind, mode, got, err)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want) || got != ""):
				t.Errorf("%s, %s: label %q, %v", c.kind, mode, got, err)
			}
		}
	}
}
