package commands

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// rolloutsKind is Kruise Rollout's kind, as much of it as reading needs.
const rolloutsKind = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rollouts.rollouts.kruise.io}
spec:
  group: rollouts.kruise.io
  scope: Namespaced
  names: {kind: Rollout, plural: rollouts, singular: rollout}
  versions:
  - name: v1beta1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - name: v1alpha1
    served: true
    storage: false
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

const rolloutsV1 = "rollouts.kruise.io/v1beta1"

// withRollouts is a bed whose cluster serves Rollouts.
func withRollouts(t *testing.T) *bed {
	t.Helper()
	b := newBed(t)
	b.Apply(t, b.namespace, rolloutsKind)
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(rolloutsV1)
	u.SetKind("Rollout")
	deadline := time.Now().Add(patience)
	for { // the API server begins to serve the kind a moment later
		client, err := b.Resource(u, b.namespace)
		if err == nil {
			_, err = client.List(t.Context(), metav1.ListOptions{})
		}
		if err == nil {
			return b
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// stand writes the status of an object, as its controller would.
func (b *bed) stand(t *testing.T, apiVersion, kind, name string, status map[string]any) {
	t.Helper()
	u := b.get(t, apiVersion, kind, name)
	u.Object["status"] = status
	client, err := b.Resource(u, b.namespace)
	must(t, err)
	_, err = client.UpdateStatus(t.Context(), u, metav1.UpdateOptions{})
	must(t, err)
}
