package argocd_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/argocd"
)

// FuzzEnvironment: whatever Argo CD hands over of an application's settings is read or
// refused.
func FuzzEnvironment(f *testing.F) {
	f.Add(`[{"name": "options", "map": {"target": "kruise"}}, {"name": "expand", "array": ["SidecarSet"]}]`, "a/b/../../..", "v1,apps/v1,,")
	f.Add(`[{"name": "options", "string": "x"}, null, {"map": null}]`, "/", ",")
	f.Add(`{}`, "", "")
	f.Fuzz(func(_ *testing.T, parameters, path, versions string) {
		_, _ = argocd.ReadEnvironment(func(name string) string {
			return map[string]string{
				"ARGOCD_APP_NAME": "web", "ARGOCD_APP_PARAMETERS": parameters, "ARGOCD_APP_SOURCE_PATH": path,
				"KUBE_API_VERSIONS": versions, "KUBE_VERSION": versions, "ARGOCD_ENV_TARGET": path,
			}[name]
		})
	})
}
