package fanout_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/fanout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func distribution(name, resource, targets string) string {
	return fmt.Sprintf("---\napiVersion: apps.kruise.io/v1beta1\nkind: ResourceDistribution\nmetadata: {name: %s}\nspec:\n  resource: %s\n  targets: %s\n", name, resource, targets)
}

const configMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {k: v}}"

func run(t *testing.T, stream, context string) ([]*resource.Resource, error) {
	t.Helper()
	in := golden.Parse(t, stream)
	return fanout.Run(newContext(in, golden.Parse(t, context)), in)
}

func TestRun_RefusesInvalidDistributions(t *testing.T) {
	// 1,100 namespaces, and as many distributions into all of them
	many := func(distributions int, data string) (stream, context string) {
		var in, around strings.Builder
		for i := range 1100 {
			fmt.Fprintf(&around, "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: n%d}\n", i)
		}
		for i := range distributions {
			object := fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d}, data: {k: %s}}", i, data)
			in.WriteString(distribution(fmt.Sprintf("d%d", i), object, "{allNamespaces: true}"))
		}
		return in.String(), around.String()
	}
	manyStream, manyContext := many(91, "v")
	bigStream, bigContext := many(1, strings.Repeat("x", 1<<20))
	for _, c := range []struct{ name, stream, context, field, want, hint string }{
		{"all of nothing known", distribution("x", configMap, "{allNamespaces: true}"), "", "spec.targets.allNamespaces", "no namespace is known", "kubectl get namespaces"},
		{"selected of nothing known", distribution("x", configMap, "{namespaceSelector: {matchLabels: {a: b}}}"), "", "spec.targets.namespaceSelector", "no namespace is known", "--live"},
		{"older spelling", strings.NewReplacer("v1beta1", "v1alpha1").Replace(distribution("x", configMap, "{namespaceLabelSelector: {matchLabels: {a: b}}}")), "", "spec.targets.namespaceLabelSelector", "no namespace is known", "--live"},
		{"a selector that is none", distribution("x", configMap, "{namespaceSelector: {matchExpressions: [{key: a, operator: Near}]}}"), "", "spec.targets.namespaceSelector", "not a valid label selector operator", ""},
		{"nothing to distribute", distribution("x", "7", "{}"), "", "spec.resource", "", ""},
		{"too many copies", manyStream, manyContext, "spec.targets", "more than 100000 copies", "narrow"},
		{"too many bytes", bigStream, bigContext, "spec.targets", "256 MiB", "narrow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := run(t, c.stream, c.context)
			var re *resource.Error
			if !errors.As(err, &re) {
				t.Fatalf("got %v, want a *resource.Error", err)
			}
			if re.Field != c.field || !strings.Contains(re.Err.Error(), c.want) || !strings.Contains(re.Hint, c.hint) || re.Line == 0 {
				t.Errorf("got line %d, %s: %v (%s)", re.Line, re.Field, re.Err, re.Hint)
			}
		})
	}
}

// An inventory without namespaces of that label is an answer, not ignorance.
func TestRun_EmptySelectionIsNoError(t *testing.T) {
	out, err := run(t, distribution("x", configMap, "{namespaceSelector: {matchLabels: {a: b}}}"),
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: dying, deletionTimestamp: x, labels: {a: b}}\n")
	if err != nil || len(out) != 0 {
		t.Errorf("got %d objects, %v", len(out), err)
	}
}

func TestRun_KeepsKindsThatAreNotExpanded(t *testing.T) {
	in := golden.Parse(t, distribution("x", configMap, "{allNamespaces: true}"))
	c := newContext(in, nil)
	c.Expand = func(string) bool { return false }
	out, err := fanout.Run(c, in)
	if err != nil || len(out) != 1 || out[0] != in[0] {
		t.Errorf("got %v, %v", out, err)
	}
}

// Copies share their body: only metadata costs memory for each.
func TestRun_CopiesShareTheirBody(t *testing.T) {
	out, err := run(t, distribution("x", configMap, "{includedNamespaces: {list: [{name: a}, {name: b}]}}"), "")
	if err != nil || len(out) != 2 {
		t.Fatal(out, err)
	}
	a, b := out[0].Node().Content, out[1].Node().Content
	for i := range a {
		isMetadata := i > 0 && a[i-1].Value == "metadata"
		if shared := a[i] == b[i]; shared == isMetadata {
			t.Errorf("node %d (%s): shared is %v", i, a[i].Value, shared)
		}
	}
}
