package lint_test

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// releaseSituations are about what differs between releases of Kruise.
func releaseSituations() map[string]situation {
	const template = "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: 'example.com/web:1'}]}}"
	united := "apiVersion: apps.kruise.io/v1alpha1\nkind: UnitedDeployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 4, selector: {matchLabels: {app: web}}, topology: {subsets: [{name: a, replicas: 2}, {name: b}]}, template: {cloneSetTemplate: {metadata: {labels: {app: web}}, spec: {updateStrategy: {type: InPlaceIfPossible, maxUnavailable: 1}, selector: {matchLabels: {app: web}}, " + template + "}}}}\n"
	const expression = "  selector: {matchLabels: {app: web}}\n  containers: [{name: mesh, image: \"example.com/mesh:1\", resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {limits: {cpu: cpu*0.5}}}}]\n"
	older := strings.Replace(sidecars(expression), "v1beta1", "v1alpha1", 1)
	annotated := "apiVersion: policy.kruise.io/v1alpha1\nkind: PodUnavailableBudget\nmetadata: {name: web, namespace: shop, annotations: {kruise.io/pub-protect-operations: DELETE}}\nspec: {selector: {matchLabels: {app: web}}, maxUnavailable: 1}\n"
	return map[string]situation{
		"a form of releases":               {input: united, unknown: true, want: []string{"uniteddeployment/form-by-release spec.template.cloneSetTemplate.spec"}},
		"a form of a release that is said": {input: united, known: kruise.Minor(8)},
		"dropped by the release":           {input: older, context: clone(""), known: kruise.Minor(8), want: []string{"object/field-dropped-by-release spec.containers[0].resourcesPolicy"}},
		"not dropped":                      {input: older, context: clone(""), known: kruise.Minor(9)},
		"a spelling that is the only one":  {input: annotated, context: clone(""), unknown: true},
		"a version that nothing serves": {
			input: strings.Replace(guard("selector: {matchLabels: {app: web}}, maxUnavailable: 0%"), "v1alpha1", "v1beta1", 1), context: clone(""), unknown: true,
			want: []string{"object/version-not-served apiVersion", "podunavailablebudget/never-allows spec.maxUnavailable"},
		},
	}
}
