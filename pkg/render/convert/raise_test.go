package convert

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// specs are the specs of the kinds that are raised, by the name that the
// catalogue has for them.
var specs = map[string]reflect.Type{
	"Deployment": reflect.TypeFor[appsv1.DeploymentSpec](), "NativeStatefulSet": reflect.TypeFor[appsv1.StatefulSetSpec](),
	"NativeDaemonSet": reflect.TypeFor[appsv1.DaemonSetSpec](), "CronJob": reflect.TypeFor[batchv1.CronJobSpec](),
	"PodDisruptionBudget": reflect.TypeFor[policyv1.PodDisruptionBudgetSpec](),
}

// TestRaise_EveryFieldHasARule: a field that Kubernetes adds must be thought about.
func TestRaise_EveryFieldHasARule(t *testing.T) {
	for kind, spec := range specs {
		var answered []string
		for _, r := range finding.Rules() {
			if r.Kind == kind {
				answered = append(answered, r.Fields...)
			}
		}
		for f := range spec.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !slices.ContainsFunc(answered, func(a string) bool { return a == "spec."+name || strings.HasPrefix(a, "spec."+name+".") }) {
				t.Errorf("no rule in the catalogue answers for spec.%s of %s", name, kind)
			}
		}
	}
}

// TestRaise_KeepsThePaceOfTheUpdate: at every number of replicas, the CloneSet moves as many pods at a
// time as the Deployment did.
func TestRaise_KeepsThePaceOfTheUpdate(t *testing.T) {
	for _, surge := range []string{"", "0", "1", "3", "0%", "10%", "100%"} {
		for _, unavailable := range []string{"", "0", "1", "4", "0%", "1%", "20%", "34%", "100%"} {
			for replicas := range 12 {
				if replicas > 0 {
					pace(t, surge, unavailable, replicas)
				}
			}
		}
	}
}

func pace(t *testing.T, surge, unavailable string, replicas int) {
	t.Helper()
	rolling := tree.Map()
	for key, v := range map[string]string{"maxSurge": surge, "maxUnavailable": unavailable} {
		if v != "" && strings.HasSuffix(v, "%") {
			tree.Set(rolling, key, tree.String(v))
		} else if v != "" {
			tree.Set(rolling, key, tree.Int64(int64(v[0]-'0')))
		}
	}
	n := tree.Map("apiVersion", "apps/v1", "kind", "Deployment", "metadata", tree.Map("name", "web"), "spec", tree.Map(
		"replicas", replicas, "selector", tree.Map(), "strategy", tree.Map("rollingUpdate", rolling), "template", tree.Map()))
	var before appsv1.Deployment
	var after kruise.CloneSet
	decode(t, n, &before)
	decode(t, raised(t, resource.Parsed(n, nil, resource.Origin{})).Node(), &after)
	want, have := rules.LimitsOfDeployment(&before.Spec), rules.LimitsOfCloneSet(&after.Spec)
	if have.MaxSurge != want.MaxSurge || min(have.MaxUnavailable, replicas) != want.MaxUnavailable {
		t.Errorf("surge %q, unavailable %q of %d: %d and %d, a Deployment has %d and %d",
			surge, unavailable, replicas, have.MaxSurge, have.MaxUnavailable, want.MaxSurge, want.MaxUnavailable)
	}
}

func decode(t *testing.T, n *tree.Node, into any) {
	t.Helper()
	if _, err := tree.Decode(n, into); err != nil {
		t.Fatal(err)
	}
}

func raised(t *testing.T, r *resource.Resource) *resource.Resource {
	t.Helper()
	in := []*resource.Resource{r}
	c := stage.New(resource.NewFacts(in, nil, ""), stage.Options{})
	out, err := raise(c, in, func(*resource.Resource) bool { return true }, RaiseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// TestRaise_CalculatesNothingFromAutoscaledReplicas: where an autoscaler owns the replicas, nothing is calculated
// from them.
func TestRaise_CalculatesNothingFromAutoscaledReplicas(t *testing.T) {
	in := golden.Parse(t, `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 7, selector: {}, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 20%}}, template: {}}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: web}
spec: {scaleTargetRef: {name: web}}
`)
	c := stage.New(resource.NewFacts(in, nil, ""), stage.Options{})
	out, err := raise(c, in, func(r *resource.Resource) bool { return r.Kind() == "Deployment" }, RaiseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := tree.StrAt(out[0].Node(), "spec", "updateStrategy", "rollingUpdate", "maxUnavailable"); got != "20%" {
		t.Errorf("maxUnavailable %s", got)
	}
}

// TestRaise_ReportsAPolicyWithoutEffect: with OnDelete no pod is updated in place, whatever the policy is.
func TestRaise_ReportsAPolicyWithoutEffect(t *testing.T) {
	for kind, id := range map[string]string{kruise.KindStatefulSet: "nativestatefulset", kruise.KindDaemonSet: "nativedaemonset"} {
		for strategy, want := range map[string]bool{"OnDelete": true, "RollingUpdate": false} {
			list := golden.Parse(t, "apiVersion: apps/v1\nkind: "+kind+"\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  updateStrategy: {type: "+strategy+"}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: main, image: \"web:1\"}]}\n")
			c := stage.New(resource.NewFacts(list, nil, ""), stage.Options{})
			all := func(*resource.Resource) bool { return true }
			if _, err := raise(c, list, all, RaiseOptions{PodUpdatePolicy: kruise.InPlaceIfPossiblePodUpdateStrategyType}); err != nil {
				t.Fatal(err)
			}
			found := slices.ContainsFunc(c.Findings.Findings(), func(f finding.Finding) bool { return f.ID == id+"/in-place-on-delete" })
			if found != want {
				t.Errorf("%s with %s: reported %v", kind, strategy, found)
			}
		}
	}
}
