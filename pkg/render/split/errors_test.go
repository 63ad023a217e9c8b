package split_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/split"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// small is a UnitedDeployment of one Deployment per subset.
func small(name, spec, subsets string) string {
	return fmt.Sprintf(`---
apiVersion: apps.kruise.io/v1beta1
kind: UnitedDeployment
metadata: {name: %s, namespace: shop}
spec:
  %s
  selector: {matchLabels: {app: x}}
  template:
    deploymentTemplate:
      metadata: {labels: {app: x}}
      spec:
        template:
          metadata: {labels: {app: x}}
          spec: {containers: [{name: main, image: "example.com/x:1"}]}
  topology:
    subsets:
%s
`, name, spec, subsets)
}

const deploymentTemplate = "deploymentTemplate:"

func TestUnitedDeployment_ReportsFaults(t *testing.T) {
	tests := []struct {
		name, input string
		// field and text are part of the one fault.
		field, text string
		line        int
	}{
		{
			"sum", small("web", "replicas: 5", "    - {name: a, replicas: 50%}\n    - {name: b, replicas: 50%}"),
			"spec.topology.subsets", "ask for 6 replicas (a 50% = 3, b 50% = 3), but spec.replicas is 5", 17,
		},
		{
			"patch is a text", small("web", "replicas: 1", "    - name: a\n      patch: spec"),
			"spec.topology.subsets[0].patch", "must be a mapping", 18,
		},
		{
			"patch does not fit", small("web", "replicas: 1", "    - name: a\n      patch:\n        spec: {containers: none}"),
			"spec.topology.subsets[0].patch", "makes no pod template: spec.containers", 19,
		},
		{
			"patch removes a label that is selected", small("web", "replicas: 1", "    - name: a\n      patch:\n        metadata:\n          labels: {app: null}"),
			"spec.topology.subsets[0].patch.metadata.labels", "the pods of subset a", 20,
		},
		{
			"patch moves the pods to another subset", small("web", "replicas: 1", "    - name: a\n      patch:\n        metadata:\n          labels: {apps.kruise.io/subset-name: b}"),
			"spec.topology.subsets[0].patch.metadata.labels", "which its selector", 20,
		},
		{
			"pods without the labels", strings.Replace(small("web", "replicas: 1", "    - name: a"), "metadata: {labels: {app: x}}\n          spec", "metadata: {labels: {app: z}}\n          spec", 1),
			"spec.template.deploymentTemplate.spec.template.metadata.labels", "app=z", 13,
		},
		{
			"two workloads of one name", small("web", "replicas: 1", "    - {name: a-b}") + small("web-a", "replicas: 1", "    - {name: b}"),
			"", "have the name of another object (input.yaml:2)", 19,
		},
		{
			"workload called like an object of the input", small("web", "replicas: 1", "    - {name: a}") + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web-a}\n",
			"", "have the name of another object (input.yaml:19)", 2,
		},
		{
			"annotations beyond the limit", small("web", "replicas: 1", "    - {name: a, patch: {metadata: {annotations: {x: "+strings.Repeat("y", 280_000)+"}}}}"),
			"spec", "more than the 262144", 6,
		},
		{
			"no template", strings.Replace(small("web", "replicas: 1", "    - {name: a}"), deploymentTemplate, "otherTemplate:", 1),
			"spec.template", "no workload template", 9,
		},
		{
			"no name", strings.Replace(small("web", "replicas: 1", "    - {name: a}"), "name: web", "generateName: web-", 1),
			"metadata.name", "needs a name", 4,
		},
		{
			"on delete", strings.NewReplacer(deploymentTemplate, "cloneSetTemplate:", "      spec:\n", "      spec:\n        updateStrategy: {type: OnDelete}\n").Replace(small("web", "replicas: 1", "    - {name: a}")),
			"spec.template.cloneSetTemplate.spec.updateStrategy.type", "Kruise would create no workload", 12,
		},
		{
			"selector", strings.Replace(small("web", "replicas: 1", "    - {name: a}"), "{matchLabels: {app: x}}", "{matchExpressions: [{key: a, operator: Like}]}", 1),
			"spec.selector", "Like", 7,
		},
		{
			"wrong type", small("web", "replicas: many", "    - {name: a}"),
			"spec.replicas", "not allowed", 6,
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { refused(t, tc.input, tc.field, tc.text, tc.line) })
	}
}

// refused wants the one fault of an input.
func refused(t *testing.T, input, field, text string, line int) {
	t.Helper()
	in := golden.Parse(t, input)
	_, err := split.Run(newContext(in, nil), in)
	var fault *resource.Error
	if !errors.As(err, &fault) {
		t.Fatalf("error %v, want a *resource.Error", err)
	}
	if fault.Field != field || !strings.Contains(fault.Error(), text) || fault.Line != line {
		t.Errorf("fault %q in line %d, want %q at %s in line %d", fault, fault.Line, text, field, line)
	}
}

// TestUnitedDeployment_ReportsFaultsOfAllSubsets: one run names the faults of all subsets.
func TestUnitedDeployment_ReportsFaultsOfAllSubsets(t *testing.T) {
	in := golden.Parse(t, small("web", "replicas: 2", "    - {name: a, patch: x}\n    - {name: b, patch: y}"))
	_, err := split.Run(newContext(in, nil), in)
	if err == nil || !strings.Contains(err.Error(), "subsets[0]") || !strings.Contains(err.Error(), "subsets[1]") {
		t.Errorf("error %v, want both subsets", err)
	}
}

func TestRun_KeepsKindsThatAreNotExpanded(t *testing.T) {
	in := golden.Parse(t, small("web", "replicas: 2", "    - {name: a}"))
	c := newContext(in, nil)
	c.Expand = func(string) bool { return false }
	out, err := split.Run(c, in)
	if err != nil || len(out) != 1 || out[0] != in[0] || out[0].Changed() {
		t.Errorf("got %v, %v, want the input as it was", out, err)
	}
	if list := c.Findings.Findings(); len(list) > 0 {
		t.Errorf("findings %v", list)
	}
}

func TestUnitedDeployment_RecordsItsPieces(t *testing.T) {
	in := golden.Parse(t, small("web", "replicas: 2", "    - {name: b}\n    - {name: a}"))
	c := newContext(in, nil)
	out, err := split.Run(c, in)
	if err != nil {
		t.Fatal(err)
	}
	targets, followed := c.Lineage.Resolve(in[0].ID())
	want := []stage.Target{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web-b"}, {APIVersion: "apps/v1", Kind: "Deployment", Name: "web-a"}}
	if !followed || cmp.Diff(want, targets) != "" {
		t.Errorf("lineage %v, want %v", targets, want)
	}
	for _, r := range out {
		if r.Origin != in[0].Origin || !r.Changed() {
			t.Errorf("%s: origin %+v, changed %v", r.ID(), r.Origin, r.Changed())
		}
	}
}

// TestRun_IsDeterministic gives the same output whatever the number of goroutines.
func TestRun_IsDeterministic(t *testing.T) {
	var input strings.Builder
	for i := range 40 {
		input.WriteString(small(fmt.Sprintf("web-%d", i), "replicas: 7", "    - {name: b, patch: {metadata: {labels: {tier: gold}}}}\n    - {name: a}"))
	}
	var first string
	for _, workers := range []int{1, 8} {
		in := golden.Parse(t, input.String())
		c := newContext(in, nil)
		c.Workers = workers
		out, err := split.Run(c, in)
		if err != nil {
			t.Fatal(err)
		}
		got := golden.Text(t, out) + golden.Findings(c.Findings.Findings())
		if first == "" {
			first = got
		}
		if diff := cmp.Diff(first, got); diff != "" {
			t.Errorf("%d workers (-1 +this):\n%s", workers, diff)
		}
	}
}
