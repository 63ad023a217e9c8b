package session

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

func TestPartitionIn(t *testing.T) {
	path := []string{"spec", "updateStrategy", "rollingUpdate", "partition"}
	in := func(v any) map[string]any {
		return map[string]any{"spec": map[string]any{"updateStrategy": map[string]any{"rollingUpdate": map[string]any{"partition": v}}}}
	}
	more := in(1)
	more["spec"].(map[string]any)["template"] = map[string]any{}
	for name, c := range map[string]struct {
		body any
		want int32
		err  string
	}{
		"made here":       {in(3), 3, ""},
		"read from JSON":  {in(3.0), 3, ""},
		"a percentage":    {in("50%"), 0, "a number of pods, not 50%"},
		"a template, too": {more, 0, "nothing but its partition"},
		"another field":   {map[string]any{"metadata": map[string]any{}}, 0, "nothing but its partition"},
		"a JSON patch":    {[]any{}, 0, "nothing but its partition"},
	} {
		got, err := partitionIn(&plan.Patch{Body: c.body}, path)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %d, %v", name, got, err)
		}
	}
}

// TestNames_OfOtherObjects: names of objects that are no workloads of a plan.
func TestNames_OfOtherObjects(t *testing.T) {
	for arg, want := range map[string][2]string{
		"rollout/web":                          {"web", ""},
		"ro.v1beta1.rollouts.kruise.io/web":    {"web", ""},
		"Rollouts/web":                         {"web", ""},
		"rollout.argoproj.io/web":              {},
		"rollout/":                             {},
		"rollout":                              {},
		"ud/web":                               {"", "web"},
		"uniteddeployments.apps.kruise.io/web": {"", "web"},
		"ud.example.com/web":                   {},
		"cloneset/web":                         {},
	} {
		release, ok := ReleaseNamed(arg)
		if !ok {
			release = ""
		}
		united, ok := resourcearg.ParseUnited(arg)
		if !ok {
			united = ""
		}
		if release != want[0] || united != want[1] {
			t.Errorf("%s: %q, %q", arg, release, united)
		}
	}
}
