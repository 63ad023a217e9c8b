package rules

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/mask"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(text, err)
	}
	return v
}

// TestEligible_MasksSecrets: each pair of templates differs in a secret; neither value
// may appear, and the change is still seen.
func TestEligible_MasksSecrets(t *testing.T) {
	for name, c := range map[string]struct{ template, path string }{
		"an env variable":         {`{"spec": {"containers": [{"name": "a", "env": [{"name": "X", "value": "y"}, {"name": "DB_PASSWORD", "value": "~"}]}]}}`, "spec.containers[0].env[1].value"},
		"another":                 {`{"spec": {"containers": [{"name": "a", "env": [{"name": "API_KEY", "value": "~"}]}]}}`, "spec.containers[0].env[0].value"},
		"a short name":            {`{"spec": {"initContainers": [{"name": "a", "env": [{"name": "MYSQL_PWD", "value": "~"}]}]}}`, "spec.initContainers[0].env[0].value"},
		"a URL":                   {`{"spec": {"containers": [{"name": "a", "env": [{"name": "DB", "value": "postgres://shop:~@db:5432/x"}]}]}}`, "spec.containers[0].env[0].value"},
		"a flag":                  {`{"spec": {"containers": [{"name": "a", "args": ["--token=~"]}]}}`, "spec.containers[0].args[0]"},
		"a flag and its value":    {`{"spec": {"containers": [{"name": "a", "command": ["run", "--auth-token", "~"]}]}}`, "spec.containers[0].command[2]"},
		"a shell line":            {`{"spec": {"containers": [{"name": "a", "args": ["run --db-password ~ -v"]}]}}`, "spec.containers[0].args[0]"},
		"an annotation":           {`{"metadata": {"annotations": {"example.com/token": "~"}}}`, `metadata.annotations["example.com/token"]`},
		"a whole container":       {`{"spec": {"containers": [{"name": "a", "env": [{"name": "SECRET", "value": "~"}]}]}}`, "spec.containers[0]"},
		"a whole list":            {`{"spec": {"containers": [{"name": "a", "args": ["--password", "~"]}]}}`, "spec.containers[0].args"},
		"a variable that appears": {`{"spec": {"containers": [{"name": "a", "env": [{"name": "TOKEN", "value": "~"}]}]}}`, "spec.containers[0].env[0]"},
	} {
		old, updated := decoded(t, strings.ReplaceAll(c.template, "~", "hunter1")), decoded(t, strings.ReplaceAll(c.template, "~", "hunter2"))
		switch name {
		case "a whole container":
			old = decoded(t, `{"spec": {"containers": []}}`)
		case "a whole list":
			old = decoded(t, `{"spec": {"containers": [{"name": "a"}]}}`)
		case "a variable that appears":
			old = decoded(t, `{"spec": {"containers": [{"name": "a", "env": []}]}}`)
		}
		e := TemplateChange{Old: cluster.Revision{Template: old}, New: cluster.Revision{Template: updated}, Policy: PolicyInPlaceIfPossible}.Eligible()
		if len(e.Fields) != 1 || e.Fields[0].Path != c.path {
			t.Errorf("%s: fields %+v", name, e.Fields)
		}
		text, err := json.Marshal(e)
		if err != nil || strings.Contains(string(text), "hunter") || !strings.Contains(string(text), mask.Masked) {
			t.Errorf("%s: %s %v", name, text, err)
		}
	}
}

// TestEligible_ShowsPlainValues: what is no secret is shown, and null stays null.
func TestEligible_ShowsPlainValues(t *testing.T) {
	old := decoded(t, `{"metadata": {"labels": {"a": "1"}}, "spec": {"containers": [{"name": "a", "image": "r:5000/a:1", "args": ["-v", "x", "--secret-name"],
		"env": [{"name": "LEVEL", "value": "debug"}, {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "token"}}}]}]}}`)
	updated := decoded(t, `{"metadata": {"labels": {}}, "spec": {"containers": [{"name": "a", "image": "r:5000/a:2", "args": ["-v", "y", "--secret-name"],
		"env": [{"name": "LEVEL", "value": "info"}, {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "other"}}}]}]}}`)
	var got [][3]any
	for _, f := range (TemplateChange{Old: cluster.Revision{Template: old}, New: cluster.Revision{Template: updated}}).Eligible().Fields {
		got = append(got, [3]any{f.Path, f.Old, f.New})
	}
	want := [][3]any{
		{"metadata.labels.a", "1", nil},
		{"spec.containers[0].args[1]", "x", "y"},
		{"spec.containers[0].env[0].value", "debug", "info"},
		{"spec.containers[0].env[1].valueFrom.secretKeyRef.key", "token", "other"},
		{"spec.containers[0].image", "r:5000/a:1", "r:5000/a:2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestSidecarSetEligible_MasksSecrets: a SidecarSet goes another way to its answer.
func TestSidecarSetEligible_MasksSecrets(t *testing.T) {
	e := SidecarSetEligible(decoded(t, `{"containers": [{"name": "m", "env": [{"name": "TOKEN", "value": "hunter1"}]}]}`),
		decoded(t, `{"containers": [{"name": "m", "env": [{"name": "TOKEN", "value": "hunter2"}]}]}`))
	if len(e.Fields) != 1 || e.Fields[0].Old != mask.Masked || e.Fields[0].New != mask.Masked {
		t.Errorf("fields %+v", e.Fields)
	}
}
