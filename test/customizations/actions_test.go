package customizations

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// actions are those of a kind as Argo CD reads them.
type actions struct {
	Merge       bool   `json:"mergeBuiltinActions"`
	Discovery   string `json:"discovery.lua"`
	Definitions []struct {
		Name   string `json:"name"`
		Action string `json:"action.lua"`
	} `json:"definitions"`
}

func actionsOf(t *testing.T, key string) actions {
	t.Helper()
	var a actions
	if err := yaml.UnmarshalStrict([]byte(page()["resource.customizations.actions."+key]), &a); err != nil {
		t.Fatal(err)
	}
	if len(a.Definitions) == 0 || !a.Merge {
		t.Fatalf("%s has no actions", key)
	}
	return a
}

func (a actions) run(t *testing.T, name string, o map[string]any) map[string]any {
	t.Helper()
	for _, d := range a.Definitions {
		if d.Name == name {
			return evaluate(t, d.Action, o).(map[string]any)
		}
	}
	t.Fatalf("no action %s", name)
	return nil
}

func at(v any, path ...string) any {
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

const template = `{spec: {containers: [{name: a, env: [{name: RESTARTED_AT, value: old}, {name: X, value: "1"}]}, {name: b}]}}`

// TestActions: each does what it is called, in the fields of the object's version.
func TestActions(t *testing.T) {
	for name, c := range map[string]struct {
		key, object string
		paths       []string // of paused and partition, below spec
	}{
		"CloneSet v1alpha1": {"apps.kruise.io_CloneSet", "apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\nspec: {template: " + template + "}", []string{"updateStrategy"}},
		"CloneSet v1beta1":  {"apps.kruise.io_CloneSet", "apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nspec: {updateStrategy: {rollingUpdate: {partition: 3}}, template: " + template + "}", []string{"updateStrategy", "rollingUpdate"}},
		"StatefulSet":       {"apps.kruise.io_StatefulSet", "apiVersion: apps.kruise.io/v1beta1\nkind: StatefulSet\nspec: {template: " + template + "}", []string{"updateStrategy", "rollingUpdate"}},
		"DaemonSet":         {"apps.kruise.io_DaemonSet", "apiVersion: apps.kruise.io/v1alpha1\nkind: DaemonSet\nspec: {template: " + template + "}", []string{"updateStrategy", "rollingUpdate"}},
		"SidecarSet":        {"apps.kruise.io_SidecarSet", "apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nspec: {updateStrategy: {partition: 1}}", []string{"updateStrategy"}},
		"BroadcastJob":      {"apps.kruise.io_BroadcastJob", "apiVersion: apps.kruise.io/v1beta1\nkind: BroadcastJob\nspec: {}", nil},
		"AdvancedCronJob":   {"apps.kruise.io_AdvancedCronJob", "apiVersion: apps.kruise.io/v1beta1\nkind: AdvancedCronJob\nspec: {schedule: '* * * * *'}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := actionsOf(t, c.key)
			spec := func(o map[string]any, field string) any {
				return at(o, slices.Concat([]string{"spec"}, c.paths, []string{field})...)
			}
			offered := func(o map[string]any, name string) bool {
				return at(evaluate(t, a.Discovery, o), name, "disabled") == false
			}
			paused := a.run(t, "pause", object(t, c.object))
			if spec(paused, "paused") != true || !offered(paused, "resume") || offered(paused, "pause") {
				t.Errorf("paused: %v", paused)
			}
			resumed := a.run(t, "resume", paused)
			if spec(resumed, "paused") != false || offered(resumed, "resume") || !offered(resumed, "pause") {
				t.Errorf("resumed: %v", resumed)
			}
			if c.paths != nil && spec(a.run(t, "promote", object(t, c.object)), "partition") != 0.0 {
				t.Error("promote leaves the partition")
			}
			if strings.Contains(c.object, "containers") {
				restarted(t, at(a.run(t, "restart", object(t, c.object)), "spec", "template"))
			}
		})
	}
}

func TestUnitedDeployment(t *testing.T) {
	a := actionsOf(t, "apps.kruise.io_UnitedDeployment")
	o := object(t, "apiVersion: apps.kruise.io/v1alpha1\nkind: UnitedDeployment\nspec: {updateStrategy: {manualUpdate: {partitions: {a: 1, b: 2}}}, template: {cloneSetTemplate: {spec: {template: "+template+"}}}}")
	promoted := a.run(t, "promote", o)
	for _, subset := range []string{"a", "b"} {
		if at(promoted, "spec", "updateStrategy", "manualUpdate", "partitions", subset) != 0.0 {
			t.Errorf("promoted: %v", promoted)
		}
	}
	restarted(t, at(a.run(t, "restart", o), "spec", "template", "cloneSetTemplate", "spec", "template"))
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
