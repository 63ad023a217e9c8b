// Package customizations runs what Argo CD is told of Kruise's kinds, as Argo CD does:
// in a Lua machine with few libraries, over statuses that the real Kruise wrote and over
// such as it would.
package customizations

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	lua "github.com/yuin/gopher-lua"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/conformance"
)

// page is the generated patch of Argo CD's ConfigMap.
var page = sync.OnceValue(func() map[string]string {
	var cm struct {
		Data map[string]string `json:"data"`
	}
	b, err := os.ReadFile("../../plugins/argocd/install/argocd-cm.yaml")
	if err == nil {
		err = yaml.Unmarshal(b, &cm)
	}
	if err != nil {
		panic(err)
	}
	return cm.Data
})

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// evaluate runs a script over an object and returns what it returns.
func evaluate(t *testing.T, script string, obj map[string]any) any {
	t.Helper()
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	// The loader goes first: the others enter themselves into what it has loaded.
	for _, lib := range []struct {
		name string
		open lua.LGFunction
	}{
		{lua.LoadLibName, lua.OpenPackage},
		{lua.BaseLibName, lua.OpenBase},
		{lua.TabLibName, lua.OpenTable},
		{lua.StringLibName, lua.OpenString},
		{lua.MathLibName, lua.OpenMath},
		{lua.OsLibName, lua.OpenOs},
	} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(lib.open), Protect: true}, lua.LString(lib.name)); err != nil {
			t.Fatal(err)
		}
	}
	l.SetGlobal("obj", value(l, obj))
	if err := l.DoString(script); err != nil {
		t.Fatalf("%v", err)
	}
	return back(l.Get(-1))
}

func value(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case string:
		return lua.LString(v)
	case bool:
		return lua.LBool(v)
	case float64:
		return lua.LNumber(v)
	case int64:
		return lua.LNumber(v)
	case []any:
		out := l.NewTable()
		for _, item := range v {
			out.Append(value(l, item))
		}
		return out
	case map[string]any:
		out := l.NewTable()
		for key, item := range v {
			out.RawSetString(key, value(l, item))
		}
		return out
	}
	return lua.LNil
}

func back(v lua.LValue) any {
	t, ok := v.(*lua.LTable)
	switch {
	case v.Type() == lua.LTNumber:
		return float64(v.(lua.LNumber))
	case v.Type() == lua.LTBool:
		return lua.LVAsBool(v)
	case !ok:
		return lua.LVAsString(v)
	case t.Len() > 0:
		var list []any
		t.ForEach(func(_, item lua.LValue) { list = append(list, back(item)) })
		return list
	}
	m := map[string]any{}
	t.ForEach(func(key, item lua.LValue) { m[lua.LVAsString(key)] = back(item) })
	return m
}

func health(t *testing.T, o map[string]any) (status, message string) {
	t.Helper()
	group, _, _ := strings.Cut(o["apiVersion"].(string), "/")
	script, ok := page()["resource.customizations.health."+group+"_"+o["kind"].(string)]
	if !ok {
		t.Fatalf("no script for %v", o["kind"])
	}
	answer, _ := evaluate(t, script, o).(map[string]any)
	status, _ = answer["status"].(string)
	message, _ = answer["message"].(string)
	if !slices.Contains([]string{"Healthy", "Progressing", "Suspended", "Degraded"}, status) || message == "" {
		t.Fatalf("status %q, message %q", status, message)
	}
	return status, message
}

// TestRecorded: over what the real Kruise wrote, at the start and at the end of each
// step of each recorded rollout.
func TestRecorded(t *testing.T) {
	seen := map[string]int{}
	for _, c := range conformance.List(t, "rollout") {
		steps, err := conformance.RolloutSteps(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			for _, o := range []map[string]any{s.Before.Workload, s.After.Workload} {
				if o == nil {
					continue
				}
				status, message := health(t, o)
				seen[status]++
				if whole := finished(o); whole != (status == "Healthy") {
					t.Errorf("%s: %s (%s), finished: %v\n%v", c.Name, status, message, whole, o["status"])
				}
			}
		}
	}
	for _, status := range []string{"Healthy", "Progressing", "Suspended"} {
		if seen[status] == 0 {
			t.Errorf("no recording is %s: %v", status, seen)
		}
	}
}

// finished reports whether a status says that every pod is new and available, apart from
// what scripts make of it.
func finished(o map[string]any) bool {
	number := func(in, field string) float64 {
		m, _ := o[in].(map[string]any)
		n, _ := m[field].(float64)
		return n
	}
	if number("status", "observedGeneration") < number("metadata", "generation") {
		return false
	}
	switch o["kind"] {
	case "DaemonSet":
		n := number("status", "desiredNumberScheduled")
		return number("status", "updatedNumberScheduled") == n && number("status", "numberAvailable") == n
	case "SidecarSet":
		strategy, _ := o["spec"].(map[string]any)["updateStrategy"].(map[string]any)
		n := number("status", "matchedPods")
		if strategy["type"] == "NotUpdate" && number("status", "updatedPods") < n {
			return true // as far as it goes by itself
		}
		return number("status", "updatedPods") == n && number("status", "readyPods") == n
	}
	n := number("spec", "replicas")
	return number("status", "updatedReplicas") == n && number("status", "availableReplicas") == n && number("status", "replicas") == n
}
