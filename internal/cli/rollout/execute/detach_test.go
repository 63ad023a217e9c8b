package execute

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestSecretIn_MasksWhatOtherOutputMasks: a manifest shows nothing that other output masks.
func TestSecretIn_MasksWhatOtherOutputMasks(t *testing.T) {
	env := func(name string) map[string]any {
		return map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "a", "env": []any{map[string]any{"name": name, "value": "x"}}}},
		}}}}
	}
	for name, c := range map[string]struct {
		step plan.Step
		want string
	}{
		"a partition":     {plan.Step{Name: "s", Patches: []plan.Patch{{Body: map[string]any{"spec": map[string]any{"updateStrategy": map[string]any{"partition": 3}}}}}}, ""},
		"a plain value":   {plan.Step{Name: "s", Patches: []plan.Patch{{Body: env("LEVEL")}}}, ""},
		"a secret value":  {plan.Step{Name: "s", Patches: []plan.Patch{{Body: env("DB_PASSWORD")}}}, "s"},
		"an address":      {plan.Step{Name: "s", Verify: &plan.Verify{URL: "https://web/healthz"}}, ""},
		"with a password": {plan.Step{Name: "s", Verify: &plan.Verify{URL: "https://bob:hunter2@web/healthz"}}, "s"},
		"a Job's value":   {plan.Step{Name: "s", Verify: &plan.Verify{Job: env("API_TOKEN")}}, "s"},
	} {
		if got := secretIn(&plan.Plan{Steps: []plan.Step{c.step}}); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
