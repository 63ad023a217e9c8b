package fanout_test

import (
	"slices"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/fanout"
)

// TestRun_SystemNamespacesDependOnTheRelease: releases copy to kube-system and kube-public, too.
func TestRun_SystemNamespacesDependOnTheRelease(t *testing.T) {
	const object = `{apiVersion: apps.kruise.io/v1alpha1, kind: ResourceDistribution, metadata: {name: m},
  spec: {resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {a: b}}, targets: {allNamespaces: true, excludedNamespaces: {list: [{name: quiet}]}}}}`
	const namespaces = `{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: quiet}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
`
	for release, want := range map[kruise.Release][]string{
		{}: {"kube-system", "shop"}, kruise.Minor(5): {"kube-system", "shop"}, kruise.Minor(9): {"kube-system", "shop"}, kruise.Next: {"shop"},
	} {
		in := golden.Parse(t, object)
		c := newContext(in, golden.Parse(t, namespaces))
		c.Kruise = release
		out, err := fanout.Run(c, in)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range out {
			got = append(got, r.Namespace())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", release, got, want)
		}
	}
}
