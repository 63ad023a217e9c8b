package finding_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func cloneSet(t *testing.T, name string, seq int) *resource.Resource {
	t.Helper()
	var n yaml.Node
	text := "kind: CloneSet\nmetadata:\n  name: " + name + "\nspec:\n  replicas: 1\n  lifecycle: {}\n"
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return resource.Parsed(tree.Root(&n), nil, resource.Origin{File: "web.yaml", Line: 1, Seq: seq})
}

func TestFindings_AreOrderedAndDistinct(t *testing.T) {
	first, second := cloneSet(t, "b", 0), cloneSet(t, "a", 1)
	var p finding.Reporter
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { p.Add("cloneset/lifecycle", second, "spec.lifecycle", "") })
		wg.Go(func() { p.Add("cloneset/replicas", second, "spec.replicas", "three") })
		wg.Go(func() { p.Add("cloneset/lifecycle", first, "spec.lifecycle.preDelete", "") })
	}
	wg.Wait()
	type brief struct {
		ID, Object, Field, Message string
		Line                       int
	}
	lifecycle := finding.Lookup("cloneset/lifecycle")
	want := []brief{
		{"cloneset/lifecycle", "CloneSet b", "spec.lifecycle.preDelete", lifecycle.Becomes, 6},
		{"cloneset/lifecycle", "CloneSet a", "spec.lifecycle", lifecycle.Becomes, 6},
		{"cloneset/replicas", "CloneSet a", "spec.replicas", "three", 5},
	}
	var got []brief
	for _, f := range p.Findings() {
		got = append(got, brief{f.ID, f.Object.String(), f.Field, f.Message, f.Line})
		if f.File != "web.yaml" || f.Action != finding.Lookup(f.ID).Action || f.Severity != finding.Lookup(f.ID).Severity {
			t.Errorf("finding lost its place or its rule: %+v", f)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWorst(t *testing.T) {
	of := func(s ...finding.Severity) (list []finding.Finding) {
		for _, x := range s {
			list = append(list, finding.Finding{Severity: x})
		}
		return list
	}
	for _, c := range []struct {
		list []finding.Finding
		want finding.Severity
	}{
		{nil, finding.Exact},
		{of(finding.Exact, finding.Approximate), finding.Approximate},
		{of(finding.Lost, finding.Exact), finding.Lost},
		{of(finding.Lost, finding.Error, finding.Approximate), finding.Error},
	} {
		if got := finding.Worst(c.list); got != c.want {
			t.Errorf("Worst(%v) = %s, want %s", c.list, got, c.want)
		}
	}
}
