package kube

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestServedAs: a workload is written in the newest version that the cluster serves.
func TestServedAs(t *testing.T) {
	old, now := schema.GroupVersion{Group: kruise.Group, Version: kruise.V1alpha1}, schema.GroupVersion{Group: kruise.Group, Version: kruise.V1beta1}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{old, now})
	mapper.Add(old.WithKind("CloneSet"), meta.RESTScopeNamespace)
	mapper.Add(now.WithKind("CloneSet"), meta.RESTScopeNamespace)
	mapper.Add(old.WithKind("SidecarSet"), meta.RESTScopeRoot)
	mapper.Add(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, meta.RESTScopeNamespace)
	for ref, want := range map[cluster.Ref]string{
		{Group: kruise.Group, Kind: "CloneSet", Namespace: "shop", Name: "web"}: "apps.kruise.io/v1beta1, Resource=clonesets",
		{Group: kruise.Group, Kind: "SidecarSet", Name: "mesh"}:                 "apps.kruise.io/v1alpha1, Resource=sidecarsets",
		{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}:     "apps/v1, Resource=deployments",
	} {
		got, err := servedAs(mapper, ref)
		if err != nil || got.Ref != ref || got.Resource.String() != want {
			t.Errorf("%s: %+v, %v; want %s", ref, got, err, want)
		}
	}
	if got, err := servedAs(mapper, cluster.Ref{Group: kruise.Group, Kind: "DaemonSet", Name: "web"}); !errors.Is(err, plan.ErrNotFound) {
		t.Errorf("%+v, %v", got, err)
	}
}
