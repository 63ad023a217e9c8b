package argocd

import (
	"slices"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v3/util/lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// offered are the actions that Argo CD lets people start.
func offered(t *testing.T, o *unstructured.Unstructured) []string {
	t.Helper()
	scripts, err := machine(t).GetResourceActionDiscovery(o)
	if err != nil {
		t.Fatal(err)
	}
	actions, err := machine(t).ExecuteResourceActionDiscovery(o, scripts)
	if err != nil {
		t.Fatalf("%s: %v", o.GetKind(), err)
	}
	var out []string
	for _, a := range actions {
		if !a.Disabled {
			out = append(out, a.Name)
		}
	}
	slices.Sort(out)
	return out
}

// run starts an action; it changes the object alone.
func run(t *testing.T, name string, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	action, err := machine(t).GetResourceAction(o, name)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := machine(t).ExecuteResourceAction(o, action.ActionLua, nil)
	if err != nil {
		t.Fatalf("%s %s: %v", name, o.GetKind(), err)
	}
	if len(changed) != 1 || changed[0].K8SOperation != lua.PatchOperation {
		t.Fatalf("%s %s changes %v", name, o.GetKind(), changed)
	}
	return changed[0].UnstructuredObj
}

// TestActions_WorkOnRecordedObjects: every action that is offered for a recorded object works, and
// what it has done is no longer offered.
func TestActions_WorkOnRecordedObjects(t *testing.T) {
	ran := map[string]int{}
	for _, r := range recorded(t) {
		if customizations(t)[lua.GetConfigMapKey(r.GroupVersionKind())].Actions == "" || r.Object["spec"] == nil {
			continue
		}
		for _, name := range offered(t, r.Unstructured) {
			o := run(t, name, r.Unstructured)
			ran[name]++
			if o.GetName() != r.GetName() || o.GetKind() != r.GetKind() {
				t.Errorf("%s: %s changes another object", r.file, name)
			}
			if (name == "pause" || name == "resume") && slices.Contains(offered(t, o), name) {
				t.Errorf("%s: %s has no effect", r.file, name)
			}
		}
	}
	for _, name := range []string{"pause", "resume", "promote", "restart"} {
		if ran[name] == 0 {
			t.Errorf("%s never ran: %v", name, ran)
		}
	}
}

func at(v any, path ...string) any {
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

const template = `{spec: {containers: [{name: a, env: [{name: RESTARTED_AT, value: old}, {name: X, value: "1"}]}, {name: b}]}}`

// TestActions_ChangeTheFieldsOfTheVersion: each does what it is called, in the fields of the object's version.
func TestActions_ChangeTheFieldsOfTheVersion(t *testing.T) {
	for name, c := range map[string]struct {
		object string
		paths  []string // of paused and partition, below spec
	}{
		"CloneSet v1alpha1": {"apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\nspec: {template: " + template + "}", []string{"updateStrategy"}},
		"CloneSet v1beta1":  {"apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nspec: {updateStrategy: {rollingUpdate: {partition: 3}}, template: " + template + "}", []string{"updateStrategy", "rollingUpdate"}},
		"StatefulSet":       {"apiVersion: apps.kruise.io/v1beta1\nkind: StatefulSet\nspec: {template: " + template + "}", []string{"updateStrategy", "rollingUpdate"}},
		"DaemonSet":         {"apiVersion: apps.kruise.io/v1alpha1\nkind: DaemonSet\nspec: {template: " + template + "}", []string{"updateStrategy", "rollingUpdate"}},
		"SidecarSet":        {"apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nspec: {updateStrategy: {partition: 1}}", []string{"updateStrategy"}},
		"BroadcastJob":      {"apiVersion: apps.kruise.io/v1beta1\nkind: BroadcastJob\nspec: {}", nil},
		"AdvancedCronJob":   {"apiVersion: apps.kruise.io/v1beta1\nkind: AdvancedCronJob\nspec: {schedule: '* * * * *'}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			spec := func(o *unstructured.Unstructured, field string) any {
				return at(o.Object, slices.Concat([]string{"spec"}, c.paths, []string{field})...)
			}
			offers := func(o *unstructured.Unstructured, name string) bool {
				return slices.Contains(offered(t, o), name)
			}
			paused := run(t, "pause", object(t, c.object))
			if spec(paused, "paused") != true || !offers(paused, "resume") || offers(paused, "pause") {
				t.Errorf("paused: %v", paused)
			}
			resumed := run(t, "resume", paused)
			if spec(resumed, "paused") != false || offers(resumed, "resume") || !offers(resumed, "pause") {
				t.Errorf("resumed: %v", resumed)
			}
			if c.paths != nil && spec(run(t, "promote", object(t, c.object)), "partition") != int64(0) {
				t.Error("promote leaves the partition")
			}
			if strings.Contains(c.object, "containers") {
				restarted(t, at(run(t, "restart", object(t, c.object)).Object, "spec", "template"))
			}
		})
	}
}

// TestActions_OnDeleteOffersRestartOnly: where nothing is updated by itself, only a restart is offered.
func TestActions_OnDeleteOffersRestartOnly(t *testing.T) {
	for _, kind := range []string{"CloneSet", "StatefulSet", "DaemonSet"} {
		o := object(t, "apiVersion: apps.kruise.io/v1beta1\nkind: "+kind+"\nspec: {updateStrategy: {type: OnDelete}, template: "+template+"}")
		if now := offered(t, o); !slices.Equal(now, []string{"restart"}) {
			t.Errorf("%s: %v", kind, now)
		}
	}
}

func TestActions_OfAUnitedDeployment(t *testing.T) {
	o := object(t, "apiVersion: apps.kruise.io/v1alpha1\nkind: UnitedDeployment\nspec: {updateStrategy: {manualUpdate: {partitions: {a: 1, b: 2}}}, template: {cloneSetTemplate: {spec: {template: "+template+"}}}}")
	promoted := run(t, "promote", o)
	for _, subset := range []string{"a", "b"} {
		if at(promoted.Object, "spec", "updateStrategy", "manualUpdate", "partitions", subset) != int64(0) {
			t.Errorf("promoted: %v", promoted)
		}
	}
	restarted(t, at(run(t, "restart", o).Object, "spec", "template", "cloneSetTemplate", "spec", "template"))
}

// restarted checks that each container has the variable once, and kept its others.
func restarted(t *testing.T, template any) {
	t.Helper()
	containers, _ := at(template, "spec", "containers").([]any)
	if len(containers) != 2 {
		t.Fatalf("containers: %v", template)
	}
	for i, want := range []int{2, 1} {
		env, _ := at(containers[i], "env").([]any)
		stamp, _ := at(env[0], "value").(string)
		if len(env) != want || at(env[0], "name") != "RESTARTED_AT" || !strings.HasSuffix(stamp, "Z") {
			t.Errorf("container %d: %v", i, env)
		}
	}
}
