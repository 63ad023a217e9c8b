package lint_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const container = `spec: {containers: [{name: c, image: "example.com/c:1", imagePullPolicy: Always}]}`

// clone is a CloneSet with more in its rollingUpdate.
func clone(more string) string {
	return `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {` + more + `}}
  template:
    metadata: {labels: {app: web}}
    ` + container + "\n"
}

func stateful(version, more string) string {
	return `
apiVersion: apps.kruise.io/` + version + `
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: db}}
` + more + `
  template:
    metadata: {labels: {app: db}}
    ` + container + "\n"
}

func daemon(more string) string {
	return `
apiVersion: apps.kruise.io/v1beta1
kind: DaemonSet
metadata: {name: agent, namespace: ops}
spec:
  selector: {matchLabels: {app: agent}}
  updateStrategy: {type: RollingUpdate, rollingUpdate: {` + more + `}}
  template:
    metadata: {labels: {app: agent}}
    ` + container + "\n"
}

func sidecars(spec string) string {
	return `
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: mesh}
spec:
` + spec + "\n"
}

func guard(spec string) string {
	return `
apiVersion: policy.kruise.io/v1beta1
kind: PodUnavailableBudget
metadata: {name: web, namespace: shop}
spec: {` + spec + "}\n"
}

func claim(name, size string) string {
	return "{metadata: {name: " + name + "}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: " + size + "}}}}"
}

const mesh = "  containers: [{name: mesh, image: \"example.com/mesh:1\"}]\n"

// rolloutSituations are about how things are updated, and who is reached.
func rolloutSituations() map[string]situation {
	inPlace := func(image, more string) string {
		return strings.Replace(clone("podUpdatePolicy: InPlaceIfPossible"), container,
			`spec: {containers: [{name: c, image: "example.com/c:`+image+`", imagePullPolicy: Always`+more+`}]}`, 1)
	}
	return map[string]situation{
		"plain":                     {input: clone("")},
		"partition of all":          {input: clone("partition: 4"), want: []string{"workload/partition-updates-nothing spec.updateStrategy.rollingUpdate.partition"}},
		"partition 100%":            {input: clone("partition: 100%"), want: []string{"workload/partition-updates-nothing spec.updateStrategy.rollingUpdate.partition"}},
		"partition 99% updates one": {input: clone("partition: 99%")},
		"in the older version": {
			input: strings.NewReplacer("v1beta1", "v1alpha1", "rollingUpdate: {", "", "}}\n  template", "}\n  template").Replace(clone("partition: 9")),
			want:  []string{"workload/partition-updates-nothing spec.updateStrategy.partition"},
		},
		"StatefulSet's partition": {
			input: stateful("v1beta1", "  updateStrategy: {rollingUpdate: {partition: 3}}"),
			want:  []string{"workload/partition-updates-nothing spec.updateStrategy.rollingUpdate.partition"},
		},
		"DaemonSet's partition": {
			input: daemon("partition: 100%"),
			want:  []string{"workload/partition-updates-nothing spec.updateStrategy.rollingUpdate.partition"},
		},
		"paused":                 {input: clone("paused: true"), want: []string{"workload/paused spec.updateStrategy.rollingUpdate.paused"}},
		"surge makes up for it":  {input: clone("maxUnavailable: 10%, maxSurge: 1")},
		"a fraction counts as 0": {input: clone("maxUnavailable: 33.3%, maxSurge: 1"), want: []string{"workload/fractional-percentage spec.updateStrategy.rollingUpdate.maxUnavailable"}},
		"image in place":         {input: inPlace("2", ""), old: inPlace("1", "")},
		"env recreates": {
			input: inPlace("2", `, env: [{name: A, value: b}]`), old: inPlace("1", ""),
			want: []string{"workload/not-in-place spec.template.spec.containers[0].env"},
		},
		"env is not allowed": {
			input: strings.Replace(inPlace("2", `, env: [{name: A, value: b}]`), "InPlaceIfPossible", "InPlaceOnly", 1),
			old:   strings.Replace(inPlace("1", ""), "InPlaceIfPossible", "InPlaceOnly", 1),
			want:  []string{"workload/not-in-place spec.template.spec.containers[0].env"},
		},
		"in place with surge": {
			input: clone("podUpdatePolicy: InPlaceIfPossible, maxSurge: 20%"),
			want:  []string{"workload/in-place-with-surge spec.updateStrategy.rollingUpdate.maxSurge"},
		},
		"recreate with surge":           {input: clone("podUpdatePolicy: ReCreate, maxSurge: 1")},
		"in place with a surge of none": {input: clone("podUpdatePolicy: InPlaceIfPossible, maxSurge: 0")},
		"a new claim template": {
			input: stateful("v1beta1", "  volumeClaimTemplates: ["+claim("data", "1Gi")+", "+claim("wal", "1Gi")+"]"),
			old:   stateful("v1beta1", "  volumeClaimTemplates: ["+claim("data", "1Gi")+"]"),
			want:  []string{"statefulset/claim-templates spec.volumeClaimTemplates"},
		},
		"a larger claim template": {
			input: stateful("v1beta1", "  volumeClaimTemplates: ["+claim("data", "2Gi")+"]"),
			old:   stateful("v1beta1", "  volumeClaimTemplates: ["+claim("data", "1Gi")+"]"),
		},
		"a claim template of a StatefulSet of Kubernetes": {
			input: strings.Replace(stateful("v1beta1", "  serviceName: db\n  volumeClaimTemplates: ["+claim("data", "2Gi")+"]"), "apps.kruise.io/v1beta1", "apps/v1", 1),
			old:   strings.Replace(stateful("v1beta1", "  serviceName: db\n  volumeClaimTemplates: ["+claim("data", "1Gi")+"]"), "apps.kruise.io/v1beta1", "apps/v1", 1),
			want:  []string{"statefulset/claim-templates spec.volumeClaimTemplates"},
		},
		"restart in place": {
			input: strings.Replace(inPlace("1", ""), "metadata: {labels: {app: web}}", `metadata: {labels: {app: web}, annotations: {kubectl.kubernetes.io/restartedAt: now}}`, 1),
			old:   inPlace("1", ""),
			want:  []string{"workload/restart-in-place spec.template.metadata.annotations[kubectl.kubernetes.io/restartedAt]"},
		},
		"written through v1alpha1": {
			input: stateful("v1alpha1", ""), old: stateful("v1beta1", "  reserveOrdinals: [1]"),
			want: []string{"statefulset/lost-by-v1alpha1 apiVersion"},
		},
		"a set for nobody": {
			input: sidecars("  selector: {matchLabels: {app: wbe}}\n" + mesh), context: clone(""),
			want: []string{"sidecarset/matches-nothing spec.selector"},
		},
		"a set whose pods are known": {input: sidecars("  selector: {matchLabels: {app: web}}\n" + mesh), context: clone("")},
		"a set in two namespaces": {
			input:   sidecars("  selector: {matchExpressions: [{key: app, operator: Exists}]}\n" + mesh),
			context: clone("") + "---" + daemon(""),
			want:    []string{"sidecarset/matches-across-namespaces spec.selector"},
		},
		"a set in one namespace": {
			input: sidecars("  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}\n" +
				"  selector: {matchExpressions: [{key: app, operator: Exists}]}\n" + mesh),
			context: clone("") + "---" + daemon(""),
		},
		"hot upgrade": {
			input: sidecars("  selector: {matchLabels: {app: web}}\n" +
				"  containers: [{name: mesh, image: \"example.com/mesh:1\", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: \"example.com/empty:1\"}}]\n"),
			context: clone(""),
			want:    []string{"sidecarset/hot-upgrade-without-post-start spec.containers[0].lifecycle.postStart"},
		},
		"an image of a sidecar": {
			input: sidecars("  selector: {matchLabels: {app: web}}\n" + strings.Replace(mesh, "mesh:1", "mesh:2", 1)),
			old:   sidecars("  selector: {matchLabels: {app: web}}\n" + mesh), context: clone(""),
		},
		"more than the image of a sidecar": {
			input: sidecars("  selector: {matchLabels: {app: web}}\n  containers: [{name: mesh, image: \"example.com/mesh:1\", env: [{name: A, value: b}]}]\n"),
			old:   sidecars("  selector: {matchLabels: {app: web}}\n" + mesh), context: clone(""),
			want: []string{"sidecarset/not-upgradable spec.containers[0].env"},
		},
		"a budget of nothing":     {input: guard("selector: {matchLabels: {app: web}}, maxUnavailable: 0%"), context: clone(""), want: []string{"podunavailablebudget/never-allows spec.maxUnavailable"}},
		"a budget that wants all": {input: guard("selector: {matchLabels: {app: web}}, minAvailable: 90%"), context: clone(""), want: []string{"podunavailablebudget/never-allows spec.minAvailable"}},
		"a budget with room":      {input: guard("selector: {matchLabels: {app: web}}, minAvailable: 75%"), context: clone("")},
		"a budget of a given total": {
			input: guard("selector: {matchLabels: {app: web}}, minAvailable: 4, protectTotalReplicas: 9"), context: clone(""),
		},
		"a budget for nobody": {
			input: guard("selector: {matchLabels: {app: wbe}}, maxUnavailable: 1"), context: clone(""),
			want: []string{"podunavailablebudget/covers-nothing spec.selector"},
		},
		"a budget for a target": {
			input: guard("targetRef: {apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, name: web}, minAvailable: 4"), context: clone(""),
			want: []string{"podunavailablebudget/never-allows spec.minAvailable"},
		},
		"two budgets": {
			input:   guard("selector: {matchLabels: {app: web}}, maxUnavailable: 1"),
			context: clone("") + "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: pdb, namespace: shop}\nspec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}\n",
			want:    []string{"podunavailablebudget/two-budgets spec"},
		},
		"turned off": {input: strings.Replace(clone("partition: 4"), "namespace: shop", "namespace: shop, annotations: {kubectl-kruise.dev/lint-ignore: 'a/b, workload/partition-updates-nothing'}", 1)},
	}
}

// situation is an object beside others; want is RULE FIELD of each problem.
type situation struct {
	input, old, context string
	want                []string
	// known is the release; the zero value is Kruise's main branch, unless unknown is set.
	known   kruise.Release
	unknown bool
}

func (c situation) release() kruise.Release {
	if c.known.IsZero() && !c.unknown {
		return kruise.Next
	}
	return c.known
}

// TestAdvice: every rule has a situation that it speaks of.
func TestAdvice(t *testing.T) {
	met := map[string]bool{"input/kruise-schema": true, "input/kustomization": true} // of kustomizations, which stories run
	for _, c := range reachings() {
		met[c.rule] = true
	}
	for _, situations := range []map[string]situation{rolloutSituations(), valueSituations(), releaseSituations()} {
		for name, c := range situations {
			for _, want := range c.want {
				rule, _, _ := strings.Cut(want, " ")
				met[rule] = true
			}
			t.Run(name, c.run)
		}
	}
	for _, r := range lint.Rules() {
		if r.Severity != lint.Error && !met[r.ID] {
			t.Errorf("no situation for %s", r.ID)
		}
	}
}

func (c situation) run(t *testing.T) {
	got := lint.Run(t.Context(), lint.Request{Kruise: c.release(), Objects: parse(t, c.input), Old: parse(t, c.old), Context: parse(t, c.context), Namespace: "shop"})
	var found []string
	for _, p := range got {
		found = append(found, p.Rule+" "+p.Field)
		if p.Line == 0 || p.Err == nil {
			t.Errorf("%v has no line or no text", p)
		}
	}
	if diff := cmp.Diff(c.want, found); diff != "" {
		t.Errorf("%s\n%v", diff, got)
	}
}

func parse(t *testing.T, text string) []*resource.Resource {
	t.Helper()
	if text == "" {
		return nil
	}
	list, err := load.Text("input.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestRun_RefusalsSilenceAdvice come first and silence advice about the same object.
func TestRun_RefusalsSilenceAdvice(t *testing.T) {
	bad := strings.Replace(clone("partition: 4"), "selector: {matchLabels: {app: web}}", "selector: {matchLabels: {app: other}}", 1)
	got := lint.Run(t.Context(), lint.Request{Kruise: kruise.Next, Objects: golden.Parse(t, bad)})
	if len(got) == 0 || got[0].Severity != lint.Error {
		t.Fatalf("got %v", got)
	}
	for _, p := range got {
		if p.Severity != lint.Error {
			t.Errorf("advice about an object that is refused: %v", p)
		}
	}
	if off := lint.Run(t.Context(), lint.Request{Kruise: kruise.Next, Objects: golden.Parse(t, bad), Disabled: []string{got[0].Rule}}); len(off) >= len(got) {
		t.Errorf("rule %s is off, and reports %v", got[0].Rule, off)
	}
}

// TestRun_ReportsProtectedDeletion asks whether objects may be deleted.
func TestRun_ReportsProtectedDeletion(t *testing.T) {
	protected := strings.Replace(clone(""), "namespace: shop", "namespace: shop, labels: {policy.kruise.io/delete-protection: Always}", 1)
	got := lint.Run(t.Context(), lint.Request{Objects: golden.Parse(t, protected), Operation: check.Delete})
	if len(got) != 1 || got[0].Rule != "delete/protected" {
		t.Errorf("got %v", got)
	}
}

// TestCatalogue_EveryRuleIsExplained: every rule has its own ID and explanation.
func TestCatalogue_EveryRuleIsExplained(t *testing.T) {
	rules := lint.Rules()
	var ids []string
	for _, r := range rules {
		ids = append(ids, r.ID)
		if r.Doc == "" || r.Severity.Rank() == 0 || !strings.Contains(r.ID, "/") {
			t.Errorf("%+v is not complete", r)
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != len(rules) {
		t.Error("two rules have one ID")
	}
}

// TestStop: nothing is looked at once the answer is not wanted any more.
func TestStop(t *testing.T) {
	const bad = "apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\nmetadata: {name: web}\n"
	q := lint.Request{Kruise: kruise.Next, Objects: golden.Parse(t, bad)}
	if len(lint.Run(t.Context(), q)) == 0 {
		t.Fatal("nothing is wrong")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if got := lint.Run(ctx, q); len(got) > 0 {
		t.Errorf("still found %d problems", len(got))
	}
}

// releaseSituations are about what differs between releases of Kruise.
func releaseSituations() map[string]situation {
	const template = "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: 'example.com/web:1'}]}}"
	united := "apiVersion: apps.kruise.io/v1alpha1\nkind: UnitedDeployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 4, selector: {matchLabels: {app: web}}, topology: {subsets: [{name: a, replicas: 2}, {name: b}]}, template: {cloneSetTemplate: {metadata: {labels: {app: web}}, spec: {updateStrategy: {type: InPlaceIfPossible, maxUnavailable: 1}, selector: {matchLabels: {app: web}}, " + template + "}}}}\n"
	const expression = "  selector: {matchLabels: {app: web}}\n  containers: [{name: mesh, image: \"example.com/mesh:1\", resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {limits: {cpu: cpu*0.5}}}}]\n"
	older := strings.Replace(sidecars(expression), "v1beta1", "v1alpha1", 1)
	annotated := "apiVersion: policy.kruise.io/v1alpha1\nkind: PodUnavailableBudget\nmetadata: {name: web, namespace: shop, annotations: {kruise.io/pub-protect-operations: DELETE}}\nspec: {selector: {matchLabels: {app: web}}, maxUnavailable: 1}\n"
	return map[string]situation{
		"a form of releases":               {input: united, unknown: true, want: []string{"uniteddeployment/form-by-release spec.template.cloneSetTemplate.spec"}},
		"a form of a release that is said": {input: united, known: kruise.Minor(8)},
		"dropped by the release":           {input: older, context: clone(""), known: kruise.Minor(8), want: []string{"object/field-dropped-by-release spec.containers[0].resourcesPolicy"}},
		"not dropped":                      {input: older, context: clone(""), known: kruise.Minor(9)},
		"a spelling that is the only one":  {input: annotated, context: clone(""), unknown: true},
		"a version that nothing serves": {
			input: strings.Replace(guard("selector: {matchLabels: {app: web}}, maxUnavailable: 0%"), "v1alpha1", "v1beta1", 1), context: clone(""), unknown: true,
			want: []string{"object/version-not-served apiVersion", "podunavailablebudget/never-allows spec.maxUnavailable"},
		},
	}
}
