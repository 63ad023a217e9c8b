package split_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/split"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// spreadOver is a WorkloadSpread and, from line 10 on, its target.
func spreadOver(kind, subsets, spec string) string {
	version, kind, _ := strings.Cut(kind, " ")
	return fmt.Sprintf(`---
apiVersion: apps.kruise.io/v1beta1
kind: WorkloadSpread
metadata: {name: ws, namespace: shop}
spec:
  targetRef: {apiVersion: %[1]s, kind: %[2]s, name: web}
  subsets: %[3]s

---
apiVersion: %[1]s
kind: %[2]s
metadata: {name: web, namespace: shop}
spec:
  %[4]s
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec: {containers: [{name: main, image: "example.com/x:1"}]}
`, version, kind, subsets, spec)
}

const (
	aDeployment  = "apps/v1 Deployment"
	aJob         = "batch/v1 Job"
	aStatefulSet = "apps/v1 StatefulSet"
)

func TestSpread_ReportsFaults(t *testing.T) {
	const two = "[{name: a, maxReplicas: 1}, {name: b}]"
	for _, tc := range []struct {
		name, input string
		field, text string
		line        int
	}{
		{"subset that no name can hold", spreadOver(aDeployment, "[{name: A_B, maxReplicas: 1}, {name: b}]", "replicas: 2"), "spec.subsets[0].name", "a workload web-A_B could not be created", 7},
		{"subset that no label can hold", spreadOver(aDeployment, "[{name: a, maxReplicas: 1}, {name: "+strings.Repeat("b", 64)+"}]", "replicas: 2"), "spec.subsets[1].name", "no more than 63", 7},
		{"Indexed Job", spreadOver(aJob, two, "completionMode: Indexed"), "spec.completionMode", "cannot be split", 14},
		{"patch is a text", spreadOver(aDeployment, "[{name: a, maxReplicas: 1, patch: x}, {name: b}]", "replicas: 2"), "spec.subsets[0].patch", "must be a mapping", 7},
		{"patch of the only subset", spreadOver(aDeployment, "[{name: a, patch: {spec: {containers: none}}}]", "replicas: 2"), "spec.subsets[0].patch", "makes no pod template", 7},
		{"patch removes a label that is selected", spreadOver(aDeployment, "[{name: a, maxReplicas: 1}, {name: b, patch: {metadata: {labels: {app: null}}}}]", "replicas: 2"), "spec.subsets[1].patch.metadata.labels", "does not take", 7},
		{"of the only subset", spreadOver(aDeployment, "[{name: a, patch: {metadata: {labels: {app: y}}}}]", "replicas: 2"), "spec.subsets[0].patch.metadata.labels", "app=y", 7},
		{"pods without the labels", strings.Replace(spreadOver(aDeployment, "[{name: a}]", "replicas: 2"), "metadata: {labels: {app: x}}", "metadata: {labels: {app: z}}", 1), "spec.template.metadata.labels", "app=z", 17},
		{"path to nowhere", spreadOver(aDeployment, two+"\n  targetFilter: {selector: {}, replicasPathList: [spec.size]}", "replicas: 2"), "spec.targetFilter.replicasPathList", "spec.size does not lead to a number", 8},
		{"absurd numbers of ordinals", spreadOver(aStatefulSet, two, "replicas: 2000000000"), "spec.replicas", "are not mapped", 14},
		{"called like an object of the input", spreadOver(aDeployment, two, "replicas: 2") + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web-a}\n", "", "have the name of another object", 10},
		{"a subset called as the rest", spreadOver(aDeployment, "[{name: rest, maxReplicas: 1}]", "replicas: 2"), "", "have the name of another object", 10},
		{"wrong type", spreadOver(aDeployment, "many", "replicas: 2"), "spec.subsets", "not allowed", 7},
	} {
		t.Run(tc.name, func(t *testing.T) { refused(t, tc.input, tc.field, tc.text, tc.line) })
	}
}

// TestSpread_DividesReplicas: replicas, ordinals and completions of each workload.
func TestSpread_DividesReplicas(t *testing.T) {
	for _, tc := range []struct{ name, kind, subsets, spec, want string }{
		{"numbers", aDeployment, "[{name: a, maxReplicas: 3}, {name: b, maxReplicas: 5}, {name: c}]", "replicas: 10", "web-a 3, web-b 5, web-c 2"},
		{"fewer", aDeployment, "[{name: a, maxReplicas: 3}, {name: b, maxReplicas: 5}, {name: c}]", "replicas: 6", "web-a 3, web-b 3, web-c 0"},
		{"percentages", aDeployment, "[{name: a, maxReplicas: 30%}, {name: b, maxReplicas: 70%}]", "replicas: 5", "web-a 2, web-b 3"},
		{"by default one", aDeployment, "[{name: a, maxReplicas: 3}, {name: b}]", "paused: false", "web-a 1, web-b 0"},
		{"no room", aDeployment, "[{name: a, maxReplicas: 1}]", "replicas: 3", "web-a 1, web-rest 2"},
		{"an open subset takes all", aDeployment, "[{name: a}, {name: b, maxReplicas: 2}]", "replicas: 3", "web-a 3, web-b 0"},
		{"job", aJob, "[{name: a, maxReplicas: 2}, {name: b}]", "parallelism: 5", "web-a 2, web-b 3"},
		{"job with fewer completions", aJob, "[{name: a, maxReplicas: 2}, {name: b}]", "parallelism: 5\n  completions: 2", "web-a 2 of 2"},
		{"completions", aJob, "[{name: a, maxReplicas: 1}, {name: b}]", "parallelism: 3\n  completions: 10", "web-a 1 of 3, web-b 2 of 7"},
		{"ordinals", aStatefulSet, "[{name: a, maxReplicas: 3}, {name: b, maxReplicas: 2}, {name: c}]", "replicas: 7", "web-a 3, web-b 2 from 3, web-c 2 from 5"},
		{"ordinals with a start", aStatefulSet, "[{name: a, maxReplicas: 3}, {name: c}]", "replicas: 2\n  ordinals: {start: 5}", "web-a 0 from 5, web-c 2 from 5"},
		{"ordinals without room", aStatefulSet, "[{name: a, maxReplicas: 1}]", "replicas: 3", "web-a 1, web-rest 2 from 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := golden.Parse(t, spreadOver(tc.kind, tc.subsets, tc.spec))
			out, err := split.Run(newContext(in, nil), in)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range out {
				text := fmt.Sprint(r.Name(), " ", tree.Str(tree.Get(r.Node(), "spec", "replicas"))+tree.Str(tree.Get(r.Node(), "spec", "parallelism")))
				if n := tree.Get(r.Node(), "spec", "completions"); n != nil {
					text += " of " + n.Value
				}
				if n := tree.Get(r.Node(), "spec", "ordinals", "start"); n != nil {
					text += " from " + n.Value
				}
				got = append(got, text)
			}
			if text := strings.Join(got, ", "); text != tc.want {
				t.Errorf("got %s, want %s", text, tc.want)
			}
		})
	}
}

func TestSpread_RecordsPiecesOfItsTarget(t *testing.T) {
	in := golden.Parse(t, spreadOver(aDeployment, "[{name: a, maxReplicas: 1}, {name: b}]", "replicas: 2"))
	c := newContext(in, nil)
	if _, err := split.Run(c, in); err != nil {
		t.Fatal(err)
	}
	targets, followed := c.Lineage.Resolve(in[1].ID())
	want := []stage.Target{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web-a"}, {APIVersion: "apps/v1", Kind: "Deployment", Name: "web-b"}}
	if !followed || cmp.Diff(want, targets) != "" {
		t.Errorf("lineage %v, want %v", targets, want)
	}
	if gone, followed := c.Lineage.Resolve(in[0].ID()); !followed || len(gone) > 0 {
		t.Errorf("the WorkloadSpread became %v", gone)
	}
}

// TestSpread_FindsRenamedTarget: while kustomize runs, the target has a new name and
// the reference the old one.
func TestSpread_FindsRenamedTarget(t *testing.T) {
	text := spreadOver(aDeployment, "[{name: a, maxReplicas: 1}, {name: b}]", "replicas: 2")
	text = strings.Replace(text, "kind: Deployment\nmetadata: {name: web, namespace: shop}", `kind: Deployment
metadata:
  name: prod-web
  namespace: shop
  annotations: {internal.config.kubernetes.io/previousNames: web, internal.config.kubernetes.io/previousNamespaces: shop, internal.config.kubernetes.io/prefixes: prod-}`, 1)
	in := golden.Parse(t, text)
	out, err := split.Run(newContext(in, nil), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != 2 || out[0].Name() != "prod-web-a" {
		t.Fatalf("got %v", out)
	}
	for _, r := range out {
		if r.Annotation("internal.config.kubernetes.io/previousNames") != "" || r.Annotation("internal.config.kubernetes.io/prefixes") != "prod-" {
			t.Errorf("annotations of %s: %v", r.Name(), tree.Value(tree.Get(r.Node(), "metadata", "annotations")))
		}
	}
}

// FuzzSpread: any WorkloadSpread over any target is split or refused, and no pod
// of it is lost.
func FuzzSpread(f *testing.F) {
	texts := []string{
		spreadOver(aDeployment, "[{name: a, maxReplicas: 30%}, {name: b, patch: {spec: {hostNetwork: true}}}]", "replicas: 10"),
		spreadOver(aJob, "[{name: a, maxReplicas: 3}]", "parallelism: 7\n  completions: 9"),
		spreadOver(aStatefulSet, "[{name: a, maxReplicas: 3}, {name: b}]", "replicas: 5\n  ordinals: {start: 2}"),
		spreadOver("apps.kruise.io/v1alpha1 CloneSet", "[{name: a, maxReplicas: 3, tolerations: [1]}, {name: b}]", "updateStrategy: {partition: 50%}"),
	}
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		var in []*resource.Resource
		d := yaml.NewDecoder(strings.NewReader(text))
		for {
			var n yaml.Node
			if d.Decode(&n) != nil {
				break
			}
			if _, err := tree.Expand(&n, 0, tree.Limits{Nodes: 2000, Depth: 50}); err != nil {
				return
			}
			if root := tree.Root(&n); tree.IsMap(root) {
				in = append(in, resource.Parsed(root, nil, resource.Origin{}))
			}
		}
		c := newContext(in, nil)
		if len(text)%2 == 0 {
			c.SpreadAs = stage.SpreadConstraints
		}
		out, err := split.Run(c, in)
		if err == nil && replicasOf(in) != replicasOf(out) && !strings.Contains(text, "Job") {
			t.Errorf("%d replicas became %d", replicasOf(in), replicasOf(out))
		}
	})
}

// replicasOf is the sum of the replicas of all workloads that could be a target.
func replicasOf(list []*resource.Resource) (sum int64) {
	for _, r := range list {
		if !tree.IsMap(tree.Get(r.Node(), "spec", "template")) || r.Is("apps.kruise.io", "UnitedDeployment") {
			continue
		}
		n, ok := tree.Int(tree.Get(r.Node(), "spec", "replicas"))
		if !ok {
			n = 1
		}
		sum += min(max(n, 0), 1<<31-1)
	}
	return sum
}

func TestCounted_AgreesWithTheNumber(t *testing.T) {
	for name, tc := range map[string]struct{ subsets, spec, id, want string }{
		"1 pod":  {"[{name: a, maxReplicas: 1}]", "replicas: 2", "workloadspread/rest", "1 pod finds no room"},
		"2 pods": {"[{name: a, maxReplicas: 1}]", "replicas: 3", "workloadspread/rest", "2 pods find no room"},
	} {
		t.Run(name, func(t *testing.T) {
			in := golden.Parse(t, spreadOver(aDeployment, tc.subsets, tc.spec))
			c := newContext(in, nil)
			if _, err := split.Run(c, in); err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(c.Findings.Findings(), func(f finding.Finding) bool { return f.ID == tc.id && strings.Contains(f.Message, tc.want) }) {
				t.Errorf("no finding %q: %v", tc.want, c.Findings.Findings())
			}
		})
	}
}
