package controller

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func TestRefuseDeletion(t *testing.T) {
	four, none := int32(4), int32(0)
	for _, c := range []struct {
		group, kind, mode string
		content           Content
		want              string
	}{
		{kruise.Group, "CloneSet", "Always", Content{}, "forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection=Always"},
		{kruise.Group, "CloneSet", "Cascading", Content{Replicas: &four}, "=Cascading and replicas 4>0"},
		{kruise.Group, "CloneSet", "Cascading", Content{Replicas: &none}, ""},
		{kruise.Group, "CloneSet", "Cascading", Content{}, ""},
		{kruise.Group, "CloneSet", "Sometimes", Content{Replicas: &four}, ""},
		{kruise.Group, "CloneSet", "", Content{Replicas: &four}, ""},
		{kruise.Group, "DaemonSet", "Always", Content{}, ""},
		{"apps", "Deployment", "Cascading", Content{Replicas: &four}, "replicas 4>0"},
		{"", "Namespace", "Cascading", Content{Pods: 2, Claims: 1}, "active pods 2>0"},
		{"", "Namespace", "Cascading", Content{Claims: 1}, `"Bound" status pvc 1>0`},
		{"", "Namespace", "Always", Content{}, "=Always"},
		{"apiextensions.k8s.io", "CustomResourceDefinition", "Cascading", Content{}, "feature-gate DeletionProtectionForCRDCascadingGate is not enabled"},
		{"apiextensions.k8s.io", "CustomResourceDefinition", "Cascading", Content{CountsObjects: true}, ""},
		{"apiextensions.k8s.io", "CustomResourceDefinition", "Cascading", Content{CountsObjects: true, Objects: 3}, "=Cascading and active CRs 3>0"},
		{"apiextensions.k8s.io", "CustomResourceDefinition", "Always", Content{}, "=Always"},
		{"", "Service", "Cascading", Content{Pods: 1}, ""},
		{"", "Service", "Always", Content{}, "=Always"},
		{"networking.k8s.io", "Ingress", "Always", Content{}, "=Always"},
	} {
		got := RefuseDeletion(cluster.Ref{Group: c.group, Kind: c.kind}, map[string]string{kruise.DeleteProtectionLabel: c.mode}, c.content)
		if (got == "") != (c.want == "") || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s %s: %q, want %q", c.kind, c.mode, got, c.want)
		}
	}
}
