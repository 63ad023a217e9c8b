package compare_test

import (
	"strings"
	"testing"
)

const clone = `apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 10
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: main, image: "web:1", env: [{name: A, value: a}, {name: B, value: b}]}
`

// TestRun_IgnoresWhatMeansTheSame: what means the same is no difference, however it is written.
func TestRun_IgnoresWhatMeansTheSame(t *testing.T) {
	for name, c := range map[string]struct{ old, now string }{
		"comments and order of keys": {clone, "# a comment\n" + strings.Replace(clone, "  replicas: 10\n", "", 1) + "  replicas: 10\n"},
		"a default written out":      {clone, strings.Replace(clone, "podUpdatePolicy: InPlaceIfPossible", "podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 20%, partition: 0", 1)},
		"a default of the pods":      {clone, clone + "      terminationGracePeriodSeconds: 30\n"},
		"the older API": {clone, `apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 10
  selector: {matchLabels: {app: web}}
  scaleStrategy: {disablePVCReuse: true}
  updateStrategy: {type: InPlaceIfPossible}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: main, image: "web:1", env: [{name: A, value: a}, {name: B, value: b}]}
`},
		"what a cluster writes": {clone, strings.Replace(clone, "namespace: shop", "namespace: shop, uid: u1, resourceVersion: '5', generation: 3, creationTimestamp: '2026-01-01T00:00:00Z', annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}'}", 1) + "status: {replicas: 10}\n"},
		"objects in another order": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n" + clone,
			clone + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		},
		"the namespace spelt out": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '1'}\n",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndata: {x: '1'}\n",
		},
		"ports of a Service in another order": {
			"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{name: x, port: 80}, {name: y, port: 81, targetPort: 81}]}\n",
			"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {type: ClusterIP, ports: [{name: y, port: 81, protocol: TCP}, {name: x, port: 80}]}\n",
		},
		"verbs of a Role in another order": {
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a}\nrules: [{apiGroups: [''], resources: [pods], verbs: [get, list]}, {apiGroups: [apps], resources: [x], verbs: [get]}]\n",
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a}\nrules: [{apiGroups: [apps], resources: [x], verbs: [get]}, {apiGroups: [''], resources: [pods], verbs: [list, get]}]\n",
		},
		"an amount in another unit": {
			"apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: a}\nspec: {hard: {limits.memory: 1Gi, pods: 4}}\n",
			"apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: a}\nspec: {hard: {limits.memory: 1024Mi, pods: '4'}}\n",
		},
		"a Secret as text and encoded": {
			"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {x: hello}\n",
			"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: Opaque\ndata: {x: aGVsbG8=}\n",
		},
		"an empty map of annotations": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {}}\ndata: {}\n",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		},
		"a null": {
			"apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {x: null, list: [], y: 1.0}\n",
			"apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {y: 1}\n",
		},
		"another version of somebody's kind": {
			"apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {maxReplicas: 3}\n",
			"apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {maxReplicas: 3, minReplicas: 1}\n",
		},
		"requirements of a selector in another order": {
			budget("{matchExpressions: [{key: a, operator: In, values: [x, y]}, {key: b, operator: Exists}]}"),
			budget("{matchExpressions: [{key: b, operator: Exists}, {key: a, operator: In, values: [y, x]}]}"),
		},
		"a hash of what is in it": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {kruise.io/resourcedistribution.resource.hashcode: aa}}\n",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {kruise.io/resourcedistribution.resource.hashcode: bb}}\n",
		},
		"nothing at all": {"", ""},
	} {
		if got := run(t, c.old, c.now, ""); got.Differs() {
			t.Errorf("%s:\n%s", name, outline(got))
		}
		if got := run(t, c.now, c.old, ""); got.Differs() {
			t.Errorf("%s, the other way:\n%s", name, outline(got))
		}
	}
}

func budget(selector string) string {
	return "apiVersion: policy.kruise.io/v1beta1\nkind: PodUnavailableBudget\nmetadata: {name: a}\nspec: {maxUnavailable: 1, selector: " + selector + "}\n"
}
