package argocd_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/argocd"
)

// FuzzEnvironment: whatever Argo CD hands over of an application's settings is read or
// refused.
func FuzzEnvironment(f *testing.F) {
	const end = "\x1e"
	texts := []string{
		`[{"name": "options", "map": {"target": "kruise"}}, {"name": "expand", "array": ["SidecarSet"]}]` + end + "a/b/../../.." + end + "v1,apps/v1,,",
		`[{"name": "options", "string": "x"}, null, {"map": null}]` + end + "/" + end + ",",
		`{}`,
	}
	distort.Fuzz(f, texts, func(_ *testing.T, text string) {
		part := append(strings.Split(text, end), "", "")
		_, _ = argocd.ReadEnvironment(func(name string) string {
			return map[string]string{
				"ARGOCD_APP_NAME": "web", "ARGOCD_APP_PARAMETERS": part[0], "ARGOCD_APP_SOURCE_PATH": part[1],
				"KUBE_API_VERSIONS": part[2], "KUBE_VERSION": part[2], "ARGOCD_ENV_TARGET": part[1],
			}[name]
		})
	})
}
