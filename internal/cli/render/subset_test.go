package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const (
	deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-a, namespace: shop}
`
	labelled = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-b, namespace: shop, labels: {apps.kruise.io/subset-name: b, kubectl-kruise.dev/subset: spot}}
`
)

func TestOf(t *testing.T) {
	tests := []struct {
		name, object, want string
	}{
		{"an object of no subset", `
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: shop}
`, ""},
		{"the label of a workload that another render wrote", `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-c, namespace: shop, labels: {kubectl-kruise.dev/subset: c}}
`, "c"},
		{"the subset of the UnitedDeployment goes before the one of the WorkloadSpread", labelled, "b"},
		{"an autoscaler of its workload", `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web-a}}
`, "a"},
		{"an autoscaler of another namespace", `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: other}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web-a}}
`, ""},
		{"a target of another group", `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {scaleTargetRef: {apiVersion: apps.kruise.io/v1alpha1, kind: Deployment, name: web-a}}
`, ""},
		{"a vertical autoscaler", `
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: web-b}}
`, "b"},
		{"a Service of one subset's pods", `
apiVersion: v1
kind: Service
metadata: {name: web-a, namespace: shop}
spec: {selector: {app: web, apps.kruise.io/subset-name: a}}
`, "a"},
		{"a Service of the pods of all subsets", `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}}
`, ""},
		{"a budget of one subset's pods", `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web-a, namespace: shop}
spec: {selector: {matchLabels: {apps.kruise.io/subset-name: a}}}
`, "a"},
		{"a network policy of one subset's pods", `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web-a, namespace: shop}
spec: {podSelector: {matchLabels: {apps.kruise.io/subset-name: a}}}
`, "a"},
		{"a selector of a subset that nothing was made for", `
apiVersion: v1
kind: Service
metadata: {name: old, namespace: shop}
spec: {selector: {apps.kruise.io/subset-name: gone}}
`, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			a := parse(t, deployment)
			a.SetSubset("a")
			// The target comes after what names it, as input may have it.
			got := subsetsOf([]*resource.Resource{parse(t, tc.object), a, parse(t, labelled)})
			if diff := cmp.Diff([]string{tc.want, "a", "b"}, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestOf_DerivedObjectsBelongToTheSubset: what a stage makes of an object of a subset belongs to that subset, too.
func TestOf_DerivedObjectsBelongToTheSubset(t *testing.T) {
	a := parse(t, deployment)
	a.SetSubset("a")
	from := resource.Derived(parse(t, deployment).Node(), a)
	if got := subsetsOf([]*resource.Resource{from}); got[0] != "a" {
		t.Errorf("%q", got)
	}
}

// TestOf_WithoutWorkloadAllIsShared: without a workload of a subset all is shared, whatever it selects.
func TestOf_WithoutWorkloadAllIsShared(t *testing.T) {
	got := subsetsOf([]*resource.Resource{parse(t, deployment), parse(t, `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {apps.kruise.io/subset-name: a}}
`)})
	if diff := cmp.Diff([]string{"", ""}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func parse(t *testing.T, text string) *resource.Resource {
	t.Helper()
	var v map[string]any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return resource.Parsed(tree.FromValue(v), nil, resource.Origin{})
}
