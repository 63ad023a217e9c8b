package render_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
)

// TestAutoscalers_OfSplitWorkloadsKeepTheLimitsOfSubsets: the last subset takes what the
// others leave of the limits of the whole.
func TestAutoscalers_OfSplitWorkloadsKeepTheLimitsOfSubsets(t *testing.T) {
	const target = `
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: shop, namespace: demo}
spec:
  replicas: 5
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {containers: [{name: app, image: shop:1}]}
---
apiVersion: apps.kruise.io/v1alpha1
kind: WorkloadSpread
metadata: {name: shop, namespace: demo}
spec:
  targetRef: {apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, name: shop}
  subsets: SUBSETS
---
`
	const united = `
apiVersion: apps.kruise.io/v1alpha1
kind: UnitedDeployment
metadata: {name: shop, namespace: demo}
spec:
  replicas: 5
  selector: {matchLabels: {app: shop}}
  template:
    deploymentTemplate:
      metadata: {labels: {app: shop}}
      spec:
        selector: {matchLabels: {app: shop}}
        template:
          metadata: {labels: {app: shop}}
          spec: {containers: [{name: app, image: shop:1}]}
  topology:
    subsets: SUBSETS
---
`
	const ref = "{apiVersion: apps.kruise.io/v1alpha1, kind: KIND, name: shop}"
	const hpa = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: shop, namespace: demo}
spec: {minReplicas: 4, maxReplicas: 20, scaleTargetRef: ` + ref + `}
`
	const keda = `
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: shop, namespace: demo}
spec:
  scaleTargetRef: ` + ref + `
  minReplicaCount: 1
  maxReplicaCount: 10
  fallback: {failureThreshold: 3, replicas: 6}
  advanced: {horizontalPodAutoscalerConfig: {name: shop}}
  triggers: [{type: cpu, metadata: {value: "50"}}]
`
	for _, c := range []struct {
		name, object, subsets, scaler string
		want                          []string // NAME MIN-MAX
	}{
		{"limited, then open", target, "[{name: a, maxReplicas: 2}, {name: b}]", hpa, []string{"shop-a 2-2", "shop-b 2-18"}},
		{"scales to nothing", target, "[{name: a, maxReplicas: 2}, {name: b}]", strings.Replace(hpa, "minReplicas: 4", "minReplicas: 0", 1), []string{"shop-a 0-2", "shop-b 0-18"}},
		{"a share", target, "[{name: a, maxReplicas: 30%}, {name: b}]", hpa, []string{"shop-a 2-6", "shop-b 2-14"}},
		{"all limited", target, "[{name: a, maxReplicas: 2}, {name: b, maxReplicas: 4}]", hpa, []string{"shop-a 2-2", "shop-b 2-4"}},
		{"the first takes all", target, "[{name: a}, {name: b, maxReplicas: 4}]", hpa, []string{"shop-a 4-20"}},
		{"KEDA", target, "[{name: a, maxReplicas: 2}, {name: b}]", keda, []string{"shop-a 1-2 fallback 2", "shop-b 0-8 fallback 4"}},
		{"UnitedDeployment, bounded", united, "[{name: a, minReplicas: 1, maxReplicas: 3}, {name: b}]", hpa, []string{"shop-a 3-3", "shop-b 1-17"}},
		{"UnitedDeployment, a fixed subset", united, "[{name: a, replicas: 2}, {name: b}]", hpa, []string{"shop-a 2-2", "shop-b 2-18"}},
		{"UnitedDeployment, alike", united, "[{name: a}, {name: b}]", hpa, []string{"shop-a 2-10", "shop-b 2-10"}},
		{"UnitedDeployment, KEDA", united, "[{name: a, replicas: 20%}, {name: b}]", keda, []string{"shop-a 0-2 fallback 1", "shop-b 1-8 fallback 5"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			kind := "CloneSet"
			if c.object == united {
				kind = "UnitedDeployment"
			}
			input := strings.NewReplacer("SUBSETS", c.subsets, "KIND", kind).Replace(c.object + c.scaler)
			var got []string
			out, err := render.Render(t.Context(), golden.Parse(t, input), render.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range out.Resources {
				spec := tree.Get(r.Node(), "spec")
				var line string
				switch r.Kind() {
				case "HorizontalPodAutoscaler":
					line = tree.StrAt(spec, "minReplicas") + "-" + tree.StrAt(spec, "maxReplicas")
				case "ScaledObject":
					line = tree.StrAt(spec, "minReplicaCount") + "-" + tree.StrAt(spec, "maxReplicaCount") + " fallback " + tree.StrAt(spec, "fallback", "replicas")
					if tree.Get(spec, "advanced", "horizontalPodAutoscalerConfig", "name") != nil {
						t.Error("two ScaledObjects have one name for their autoscalers")
					}
				default:
					continue
				}
				if target := tree.StrAt(spec, "scaleTargetRef", "name"); target != r.Name() {
					t.Errorf("%s scales %s", r.Name(), target)
				}
				got = append(got, r.Name()+" "+line)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error("-want +got\n", diff)
			}
		})
	}
}
