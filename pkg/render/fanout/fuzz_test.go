package fanout_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/fanout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// FuzzFanout: no input panics; the same input gives the same output; copies
// are whole, and go nowhere they may not.
func FuzzFanout(f *testing.F) {
	const end = "\x1e"
	namespaces := "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, labels: {t: w}}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system}\n"
	texts := []string{
		distribution("x", configMap, "{allNamespaces: true}") + end + namespaces,
		distribution("x", "{apiVersion: v1, kind: Secret, metadata: {name: s, labels: null}, data: null, stringData: {a: b}}", "{namespaceSelector: {matchLabels: {t: w}}, includedNamespaces: {list: [{name: b}]}}") + end + namespaces,
		distribution("x", configMap, "{includedNamespaces: {list: [{name: a}]}}") + distribution("y", configMap, "{includedNamespaces: {list: [{name: a}]}}"),
		"apiVersion: apps.kruise.io/v1alpha1\nkind: ResourceDistribution\n",
	}
	distort.Fuzz(f, texts, func(t *testing.T, both string) {
		t.Helper()
		stream, context, _ := strings.Cut(both, end)
		first, ok := fanned(t, stream, context)
		if !ok {
			return
		}
		again, _ := fanned(t, stream, context)
		if golden.Text(t, first) != golden.Text(t, again) {
			t.Error("two runs differ")
		}
		seen := map[resource.ID]bool{}
		for _, r := range first {
			if r.Annotation("kruise.io/resourcedistribution.resource.hashcode") == "" || r.Raw() != nil {
				continue
			}
			if seen[r.ID()] {
				t.Errorf("%s twice", r.ID())
			}
			seen[r.ID()] = true
			if ns := r.Namespace(); ns == "" || slices.Contains([]string{"kube-system", "kube-public"}, ns) {
				t.Errorf("a copy in namespace %q", ns)
			}
			if k := r.Kind(); k != "Secret" && k != "ConfigMap" || tree.Has(r.Node(), "stringData") {
				t.Errorf("odd copy %s", r.ID())
			}
		}
	})
}

func fanned(t *testing.T, stream, context string) ([]*resource.Resource, bool) {
	t.Helper()
	in, err := load.Parse("in.yaml", []byte(stream))
	if err != nil {
		return nil, false
	}
	around, err := load.Parse("with.yaml", []byte(context))
	if err != nil {
		return nil, false
	}
	c := newContext(in, around)
	_, unchecked := fanout.Run(newContext(in, around), in) // must not panic either
	if _, err := check.Run(c, in); err != nil || unchecked != nil {
		return nil, false
	}
	out, err := fanout.Run(c, in)
	return out, err == nil
}
