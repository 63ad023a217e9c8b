package check_test

import "testing"

// TestPodsToDelete: only v1alpha1 looks at the pods, and only at new names.
func TestPodsToDelete(t *testing.T) {
	const around = `
apiVersion: v1
kind: Pod
metadata: {name: web-a, ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web, uid: u, controller: true}]}
---
apiVersion: v1
kind: Pod
metadata: {name: api-a, ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: api, uid: u, controller: true}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-b, deletionTimestamp: "2026-01-01T00:00:00Z", ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web, uid: u, controller: true}]}
`
	names := func(version, list string) []string {
		return []string{beta, version, spec, "spec:\n  scaleStrategy: {podsToDelete: [" + list + "]}\n"}
	}
	const refusal = "cloneset/pods-to-delete-invalid spec.scaleStrategy.podsToDelete"
	rulingsAround(t, good, []ruling{
		{name: "own", edit: names(alpha, "web-a")},
		{name: "v1beta1", edit: names(beta, "web-x")},
		{name: "named before", edit: names(alpha, "web-x, web-a"), old: names(alpha, "web-x")},
		{name: "may be there", edit: names(alpha, "web-x"), unsure: true},
		{name: "twice", edit: names(beta, "a, a"), want: refusal + "[1]"},
		{name: "missing", edit: names(alpha, "web-a, web-x"), want: refusal + "[1]"},
		{name: "another's", edit: names(alpha, "api-a"), want: refusal + "[0]"},
		{name: "going", edit: names(alpha, "web-b"), want: refusal + "[0]"},
	}, around)
}
