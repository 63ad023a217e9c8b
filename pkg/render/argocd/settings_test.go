package argocd_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/argocd"
)

func TestStray_NamesUnknownParameters(t *testing.T) {
	got := argocd.Stray([]string{
		"ARGOCD_ENV_KRUISE_TARGET=auto", "ARGOCD_ENV_KRUISE_HELM_VALUES=x", "ARGOCD_ENV_KRUISE_TEMPLATE_PATHS=", // options
		"ARGOCD_ENV_OTHER=1", "KRUISE_TARGT=1", "KRUISE_WEBHOOK_SERVICE_PORT=443", "PATH=/bin", "ARGOCD_ENV_KRUISE", "", // of others
		"ARGOCD_ENV_KRUISE_TARGT=hunter2", "ARGOCD_ENV_KRUISE_KUBERNETESVERSION=1.35", "ARGOCD_ENV_kruise_strict=true",
	})
	want := []string{
		"KRUISE_KUBERNETESVERSION is not an option: did you mean KRUISE_KUBERNETES_VERSION?",
		"KRUISE_TARGT is not an option: did you mean KRUISE_TARGET?",
		"kruise_strict is not an option: did you mean KRUISE_STRICT?",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := argocd.Stray([]string{"ARGOCD_ENV_KRUISE_NOTHING_LIKE_IT=1"}); len(got) != 1 || !strings.Contains(got[0], "one of KRUISE_ACCEPT_ANNOTATIONS, KRUISE_ALLOW_EMPTY, KRUISE_ALLOW_PREVIEW_APIS, ") {
		t.Errorf("got %q", got)
	}
}
