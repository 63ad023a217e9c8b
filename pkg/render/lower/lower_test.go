package lower_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lower"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// set is a CloneSet web; more is added to its spec.
func set(name, more string) string {
	return `apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: ` + name + `, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "example.com/c:1"}]}
` + more
}

const claims = "  volumeClaimTemplates: [{metadata: {name: data}}]\n"

func run(t *testing.T, driver stage.Driver, input string) (*stage.Context, []*resource.Resource, error) {
	t.Helper()
	in := golden.Parse(t, input)
	c := newContext(in, driver)
	out, err := lower.Run(c, in)
	return c, out, err
}

func names(list []*resource.Resource) []string {
	var out []string
	for _, r := range list {
		out = append(out, r.ID().String())
	}
	return out
}

func TestRun_KindDependsOnDriverAndClaims(t *testing.T) {
	for _, c := range []struct {
		driver stage.Driver
		more   string
		want   []string
	}{
		{stage.Native, "", []string{"Deployment shop/web"}},
		{stage.Native, claims, []string{"StatefulSet shop/web", "Service shop/web"}},
		{stage.Client, "", []string{"ReplicaSet shop/web"}},
		{stage.Client, claims, []string{"StatefulSet shop/web", "Service shop/web"}},
	} {
		ctx, out, err := run(t, c.driver, set("web", c.more))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, names(out)); diff != "" {
			t.Error(diff)
		}
		targets, followed := ctx.Lineage.Resolve(resource.ID{Group: kruise.Group, Kind: "CloneSet", Namespace: "shop", Name: "web"})
		kind, _, _ := strings.Cut(c.want[0], " ")
		if diff := cmp.Diff([]stage.Target{{APIVersion: "apps/v1", Kind: kind, Name: "web"}}, targets); !followed || diff != "" {
			t.Errorf("lineage %v:\n%s", followed, diff)
		}
	}
}

func TestRun_KeepsKindsThatAreNotExpanded(t *testing.T) {
	in := golden.Parse(t, set("web", "")+"---\napiVersion: apps.kruise.io/v1beta1\nkind: DaemonSet\nmetadata: {name: d}\n")
	c := newContext(in, stage.Native)
	c.Expand = func(string) bool { return false }
	out, err := lower.Run(c, in)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != 2 || out[0] != in[0] || out[1] != in[1] || in[0].Changed() {
		t.Error("an object that is not expanded was touched")
	}
	if list := c.Findings.Findings(); len(list) > 0 {
		t.Errorf("findings about kinds that are not to be expanded: %v", list)
	}
}

func TestCollisions(t *testing.T) {
	for name, c := range map[string]struct{ input, want string }{
		"the input has one": {
			set("web", "") + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n",
			"input.yaml:3: Deployment shop/web: metadata.name: a Kruise workload would become a second Deployment of this name",
		},
		"two services taken": {
			set("web", claims) + "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 1}]}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: web-headless}\nspec: {clusterIP: None}\n",
			"Services web and web-headless exist",
		},
		"two become one": {
			set("a.b", claims) + "---\n" + set("a-b", claims),
			"Service shop/a-b: metadata.name: a Kruise workload would become a second Service of this name",
		},
		"no name": {
			strings.Replace(set("web", ""), "name: web,", "generateName: web-,", 1),
			"metadata.name: a CloneSet to render needs a name",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, out, err := run(t, stage.Native, c.input)
			if err == nil {
				t.Fatalf("no error, got %v", names(out))
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
		})
	}
}

func TestRun_SameNameInOtherNamespaceIsAccepted(t *testing.T) {
	if _, _, err := run(t, stage.Native, set("web", "")+"---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: other}\n"); err != nil {
		t.Error(err)
	}
}

func TestRun_ReusesServiceOfTheCluster(t *testing.T) {
	service := func(source string) string {
		return "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop, labels: {" + kruise.SourceLabel + ": " + source + "}}\nspec: {clusterIP: None, selector: {app: web}}\n"
	}
	for _, c := range []struct {
		what, context string
		want          []string
	}{
		{"ours from an earlier render: rendered again", service("cloneset.web"), []string{"StatefulSet shop/web", "Service shop/web"}},
		{"the Service of another owner that fits: used", service("other.web"), []string{"StatefulSet shop/web"}},
		{"the Service of another owner for other pods", strings.Replace(service("other.web"), "app: web}", "app: other}", 1), []string{"StatefulSet shop/web", "Service shop/web-headless"}},
	} {
		in := golden.Parse(t, set("web", claims))
		ctx := newContext(in, stage.Native)
		ctx.Facts = resource.NewFacts(in, golden.Parse(t, c.context), "")
		out, err := lower.Run(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, names(out)); diff != "" {
			t.Errorf("%s:\n%s", c.what, diff)
		}
	}
}

func TestStrategyAnnotation_HoldsTheStrategy(t *testing.T) {
	_, out, err := run(t, stage.Client, `apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web}
spec:
  updateStrategy: {type: InPlaceIfPossible, partition: 10%}
  replicas: 3
  selector: {matchLabels: {app: "<web>"}}
  template:
    metadata: {labels: {app: "<web>"}}
    spec: {containers: [{name: c, image: "example.com/c:1"}]}
`)
	if err != nil {
		t.Fatal(err)
	}
	text := out[0].Annotation(kruise.StrategyAnnotation)
	var got any
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	if strings.ContainsAny(text, " \n") || strings.Contains(text, `\u003c`) {
		t.Errorf("not compact: %s", text)
	}
	want := map[string]any{
		"replicas":      3.0,
		"scaleStrategy": map[string]any{"enablePVCReuse": true}, // v1alpha1's default
		"selector":      map[string]any{"matchLabels": map[string]any{"app": "<web>"}},
		"updateStrategy": map[string]any{
			"type":          "RollingUpdate",
			"rollingUpdate": map[string]any{"podUpdatePolicy": "InPlaceIfPossible", "partition": "10%"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAutoscaler_OfSplitTarget(t *testing.T) {
	given := golden.Parse(t, `apiVersion: apps.kruise.io/v1beta1
kind: UnitedDeployment
metadata: {name: fleet, namespace: shop}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: fleet, namespace: shop}
spec: {scaleTargetRef: {apiVersion: apps.kruise.io/v1beta1, kind: UnitedDeployment, name: fleet}}
`)
	part := golden.Parse(t, set("fleet-a", ""))[0]
	c := newContext(given, stage.Native)
	c.Lineage.Became(given[0].ID(), part)
	if _, err := lower.Run(c, []*resource.Resource{part, given[1]}); err != nil {
		t.Fatal(err)
	}
	if !found(c, "cloneset/max-unavailable-percent") {
		t.Error("the replicas of a part were taken as fixed although an autoscaler owns them")
	}
}

func TestAutoscaler_NamesTheTargetByItsFormerName(t *testing.T) {
	scaler := `---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: %s}
spec: {scaleTargetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}}
`
	named := strings.Replace(set("dev-web", ""), "namespace: shop}", `namespace: shop, annotations: {internal.config.kubernetes.io/previousNames: "web,old", internal.config.kubernetes.io/previousNamespaces: "base,base"}}`, 1)
	for namespace, want := range map[string]bool{"shop": true, "base": true, "far": false} {
		c, _, err := run(t, stage.Native, named+fmt.Sprintf(scaler, namespace))
		if err != nil {
			t.Fatal(err)
		}
		if found(c, "cloneset/max-unavailable-percent") != want {
			t.Errorf("autoscaler in %s: autoscaled is not %v", namespace, want)
		}
	}
}

func found(c *stage.Context, id string) bool {
	return slices.ContainsFunc(c.Findings.Findings(), func(f finding.Finding) bool { return f.ID == id })
}

// What the check stage refuses must not panic here either.
func TestRun_NeverPanicsOnInvalidInput(t *testing.T) {
	head := "apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata: {name: web}\n"
	for _, spec := range []string{
		"", "spec:\n", "spec: []\n", "spec: text\n", "spec: {template: null}\n", "spec: {template: []}\n",
		"spec: {template: {spec: null}}\n", "spec: {template: {spec: {containers: [null, {}, []]}}}\n",
		"spec: {template: {spec: {containers: {}}}}\n", "spec: {template: {spec: {readinessGates: [null]}}}\n",
		"spec: {updateStrategy: null}\n", "spec: {updateStrategy: {rollingUpdate: null}}\n",
		"spec: {replicas: null, progressDeadlineSeconds: null, selector: null}\n",
		"spec: {volumeClaimTemplates: [null]}\n", "spec: {volumeClaimTemplates: {}}\n",
		"spec: {replicas: -5, updateStrategy: {rollingUpdate: {partition: 50%, maxUnavailable: 50%}}}\n",
		"spec: {replicas: 2147483647, updateStrategy: {rollingUpdate: {partition: 99%, maxUnavailable: 2000000000%}}}\n",
	} {
		for _, driver := range []stage.Driver{stage.Native, stage.Client} {
			if _, out, err := run(t, driver, head+spec); err == nil && golden.Text(t, out) == "" {
				t.Errorf("%q became nothing", spec)
			}
		}
	}
}

// TestStrategyAnnotation_Omitted: everything else stays as it is.
func TestStrategyAnnotation_Omitted(t *testing.T) {
	for _, dir := range golden.Cases(t, "testdata/*/input.yaml") {
		if strings.HasPrefix(filepath.Base(dir), "client-") {
			continue
		}
		render := func(omit bool) string {
			in := golden.Read(t, dir, "input.yaml")
			c := newContext(in, stage.Native)
			c.OmitStrategy = omit
			out, err := lower.Run(c, in)
			if err != nil {
				return err.Error()
			}
			var b strings.Builder
			for _, r := range out {
				if omit && r.Annotation(kruise.StrategyAnnotation) != "" && filepath.Base(dir) != "from-split" {
					t.Errorf("%s: %s has the annotation", dir, r.ID())
				}
				v, _ := tree.Value(r.Node()).(map[string]any)
				if meta, ok := v["metadata"].(map[string]any); ok {
					if a, ok := meta["annotations"].(map[string]any); ok {
						if delete(a, kruise.StrategyAnnotation); len(a) == 0 {
							delete(meta, "annotations")
						}
					}
				}
				text, _ := json.Marshal(v)
				b.Write(text)
			}
			return b.String()
		}
		if diff := cmp.Diff(render(false), render(true)); diff != "" {
			t.Errorf("%s (-with +without):\n%s", dir, diff)
		}
	}
}

// TestStrategyAnnotation_OnlyWhereItIsRead: what is rendered from jobs, image pulls and
// parts of a UnitedDeployment has no long annotation that no verb reads back.
func TestStrategyAnnotation_OnlyWhereItIsRead(t *testing.T) {
	read := map[string]bool{"cloneset": true, "statefulset": true, "daemonset": true, "podunavailablebudget": true}
	with := map[string]bool{}
	for _, dir := range golden.Cases(t, "testdata/*/expected.yaml") {
		for _, r := range golden.Read(t, dir, "expected.yaml") {
			source, _, _ := strings.Cut(r.Labels()[kruise.SourceLabel], ".")
			if r.Annotation(kruise.StrategyAnnotation) == "" || filepath.Base(dir) == "from-split" { // there it comes from the input
				continue
			}
			with[source] = true
			if !read[source] {
				t.Errorf("%s: %s, from a %s, has the annotation", dir, r.ID(), source)
			}
		}
	}
	if diff := cmp.Diff(read, with); diff != "" {
		t.Errorf("kinds with the annotation (-want +got):\n%s", diff)
	}
}
