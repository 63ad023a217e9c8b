package cli

import (
	"strings"
	"testing"
)

// TestDefectGenerator_KeepsItems: the older generator put its object in place of all that
// came in.
func TestDefectGenerator_KeepsItems(t *testing.T) {
	const list = `apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: there}}
- {apiVersion: v1, kind: Secret, metadata: {name: there-too}}
functionConfig:
  apiVersion: apps.kruise.io/v1alpha1
  kind: ResourceDistributionGenerator
  metadata: {name: made}
  resource: {resourceKind: ConfigMap, resourceName: settings, literals: [a=b]}
  targets: {includedNamespaces: [x]}
`
	for _, args := range [][]string{nil, {"fn"}} {
		code, out, said := call(t.Context(), t, list, args...)
		if code != 0 {
			t.Fatalf("%q: exit %d\n%s", args, code, said)
		}
		for _, name := range []string{"name: there}", "name: there-too}", "name: made"} {
			if !strings.Contains(out, name) {
				t.Errorf("%q: %s is gone\n%s", args, name, out)
			}
		}
	}
}
