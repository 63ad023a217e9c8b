package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPrune: nothing that changes by itself, nothing that is nobody's business.
func TestPrune(t *testing.T) {
	for name, c := range map[string]struct {
		kind          *kind
		object, wants string
	}{
		"namespace": {
			namespaces,
			`{apiVersion: v1, kind: Namespace, metadata: {name: a, uid: u, resourceVersion: "7", creationTimestamp: "2026-01-01T00:00:00Z",
			  labels: {x: z}, annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}, managedFields: [{}]}, status: {phase: Active}}`,
			`{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {x: z}}}`,
		},
		"node": {
			nodes,
			`{apiVersion: v1, kind: Node, metadata: {name: one}, spec: {podCIDR: 10.0.0.0/24, unschedulable: true, taints: [{key: k, value: v, effect: NoSchedule, timeAdded: "2026-01-01T00:00:00Z"}]},
			  status: {addresses: [{type: InternalIP, address: 10.0.0.1}], allocatable: {cpu: "2"}, capacity: {cpu: "2"}}}`,
			`{apiVersion: v1, kind: Node, metadata: {name: one}, spec: {unschedulable: true, taints: [{key: k, value: v, effect: NoSchedule}]}, status: {allocatable: {cpu: "2"}}}`,
		},
		"workload": {
			cloneSets,
			`{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, metadata: {name: w, namespace: a, ownerReferences: [{apiVersion: v1, kind: K, name: o, uid: u, controller: true, blockOwnerDeletion: true}]},
			  spec: {replicas: 2, template: {spec: {containers: [{name: c, env: [{name: P, value: secret}]}]}}}, status: {readyReplicas: 1, conditions: [{type: T, lastTransitionTime: x}]}}`,
			`{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, metadata: {name: w, namespace: a, ownerReferences: [{apiVersion: v1, kind: K, name: o, controller: true}]}, spec: {replicas: 2}, status: {readyReplicas: 1}}`,
		},
		"distribution": {
			resourceDistributions,
			`{apiVersion: apps.kruise.io/v1beta1, kind: ResourceDistribution, metadata: {name: d}, spec: {resource: {apiVersion: v1, kind: Secret, metadata: {name: s}, data: {p: c2VjcmV0}}, targets: {allNamespaces: true}}}`,
			`{apiVersion: apps.kruise.io/v1beta1, kind: ResourceDistribution, metadata: {name: d}, spec: {resource: {apiVersion: v1, kind: Secret, metadata: {name: s}}, targets: {allNamespaces: true}}}`,
		},
		"service with an address": {
			services, `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {clusterIP: 10.1.2.3, selector: {a: b}}}`,
			`{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {selector: {a: b}}}`,
		},
		"headless service": {
			services, `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {clusterIP: None, clusterIPs: [None]}}`,
			`{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {clusterIP: None}}`,
		},
		"claims but no template": {
			unitedDeployments,
			`{apiVersion: apps.kruise.io/v1beta1, kind: UnitedDeployment, metadata: {name: u}, spec: {template: {statefulSetTemplate: {spec: {serviceName: s, template: {spec: {}}}}, cloneSetTemplate: {spec: {}}},
			  topology: {subsets: [{name: a, replicas: 2, patch: {x: z}}]}}, status: {subsetStatuses: [{name: a, conditions: [{type: Schedulable, status: "True", lastTransitionTime: x}]}]}}`,
			`{apiVersion: apps.kruise.io/v1beta1, kind: UnitedDeployment, metadata: {name: u}, spec: {template: {statefulSetTemplate: {spec: {serviceName: s}}},
			  topology: {subsets: [{name: a}]}}, status: {subsetStatuses: [{name: a, conditions: [{type: Schedulable, status: "True"}]}]}}`,
		},
		"odd shapes": {
			nodes, `{apiVersion: v1, kind: Node, metadata: {name: one, labels: }, spec: {taints: none, unschedulable: }, status: [allocatable]}`,
			`{apiVersion: v1, kind: Node, metadata: {name: one}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(object(t, c.wants), c.kind.prune(object(t, c.object))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFrozenCopies: the content of a ConfigMap is kept where it decides whether
// a copy can be replaced, and of nobody else's.
func TestFrozenCopies(t *testing.T) {
	const owned = `, ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: ResourceDistribution, name: d, controller: true}]`
	for text, want := range map[string]*kind{
		`{metadata: {name: a` + owned + `}, immutable: true}`:  frozenCopies,
		`{metadata: {name: a` + owned + `}, immutable: false}`: copies,
		`{metadata: {name: a}, immutable: true}`:               copies,
	} {
		if got := copies.of(object(t, text)); got != want {
			t.Errorf("%s: keeps %v", text, got.keep)
		}
	}
}
