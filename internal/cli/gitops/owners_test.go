package gitops

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func object(t *testing.T, metadata string) *resource.Resource {
	t.Helper()
	list, err := load.Parse("in.yaml", []byte("apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata: {name: web, namespace: shop"+metadata+"}\nspec: {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

func TestOwners(t *testing.T) {
	for name, c := range map[string]struct {
		metadata string
		want     []string
	}{
		"none":                {"", nil},
		"a chart's label":     {", labels: {app.kubernetes.io/instance: web}", nil},
		"kubectl":             {", managedFields: [{manager: kubectl-client-side-apply}]", nil},
		"Argo by annotation":  {", annotations: {argocd.argoproj.io/tracking-id: 'shop:apps.kruise.io/CloneSet:shop/web'}", []string{"Argo CD Application shop"}},
		"Argo, any namespace": {", annotations: {argocd.argoproj.io/tracking-id: 'team_shop:apps.kruise.io/CloneSet:shop/web'}", []string{"Argo CD Application team/shop"}},
		"Argo by label":       {", labels: {argocd.argoproj.io/instance: shop}", []string{"Argo CD Application shop"}},
		"Argo by its manager": {", labels: {app.kubernetes.io/instance: shop}, managedFields: [{manager: argocd-controller}]", []string{"Argo CD Application shop"}},
		"Flux": {
			", labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}",
			[]string{"Flux (kustomize-controller) Kustomization flux-system/apps"},
		},
		"Flux by its manager": {", managedFields: [{manager: kustomize-controller}, {manager: kruise-manager}]", []string{"Flux (kustomize-controller)"}},
		"Flux, signed twice": {
			", labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}, managedFields: [{manager: kustomize-controller, operation: Apply}]",
			[]string{"Flux (kustomize-controller) Kustomization flux-system/apps"},
		},
		"Flux, no namespace":     {", labels: {kustomize.toolkit.fluxcd.io/name: apps}", []string{"Flux (kustomize-controller) Kustomization apps"}},
		"a namespace alone":      {", labels: {kustomize.toolkit.fluxcd.io/namespace: flux-system}", nil},
		"what Flux is told":      {", annotations: {kustomize.toolkit.fluxcd.io/ssa: Merge}", nil},
		"Helm by its manager":    {", labels: {app.kubernetes.io/managed-by: Helm}, managedFields: [{manager: helm-controller}]", []string{"Flux (helm-controller)"}},
		"Helm without a release": {", labels: {app.kubernetes.io/managed-by: Helm}, managedFields: [{manager: helm}]", nil},
		"Flux with Argo": {
			", labels: {helm.toolkit.fluxcd.io/name: web, helm.toolkit.fluxcd.io/namespace: shop, argocd.argoproj.io/instance: shop}",
			[]string{"Argo CD Application shop", "Flux (helm-controller) HelmRelease shop/web"},
		},
		"Helm by Flux": {", labels: {helm.toolkit.fluxcd.io/name: web, helm.toolkit.fluxcd.io/namespace: shop}", []string{"Flux (helm-controller) HelmRelease shop/web"}},
	} {
		var got []string
		for _, o := range Owners(object(t, c.metadata)) {
			got = append(got, o.String())
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestAdvice(t *testing.T) {
	pointers := []string{"/spec/updateStrategy/rollingUpdate/partition"}
	for name, c := range map[string]struct {
		tool     Tool
		metadata string
		want     []string
		never    string
	}{
		"Argo": {tool: Argo, want: []string{
			`- {group: "apps.kruise.io", kind: CloneSet, name: web, jsonPointers: [/spec/updateStrategy/rollingUpdate/partition]}`, "RespectIgnoreDifferences=true", "--write-back",
		}},
		"Flux": {tool: Kustomize, want: []string{
			"{annotations: {kustomize.toolkit.fluxcd.io/ssa: Merge}}", "must not set /spec/updateStrategy", "flux suspend kustomization apps -n flux-system",
		}},
		"Flux that merges": {tool: Kustomize, metadata: ", annotations: {kustomize.toolkit.fluxcd.io/ssa: Merge}", want: []string{"must not set /spec/updateStrategy"}, never: "needs"},
		"Helm":             {tool: Helm, want: []string{"ignore: [{paths: [/spec/updateStrategy/rollingUpdate/partition], target: {kind: CloneSet, name: web}}]"}},
	} {
		got := Advice(Owner{c.tool, "flux-system", "apps", "a sign"}, object(t, c.metadata), pointers)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", name, want, got)
			}
		}
		if c.never != "" && strings.Contains(got, c.never) {
			t.Errorf("%s: %q in\n%s", name, c.never, got)
		}
	}
	if got := Advice(Owner{Tool: Argo, Sign: "x"}, object(t, ""), nil); strings.Contains(got, "ignoreDifferences") {
		t.Errorf("there is nothing to ignore:\n%s", got)
	}
}
