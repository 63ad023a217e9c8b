package check_test

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/internal/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// recorded are the objects of one kind that were given to the real webhooks.
type recorded struct {
	kind string
	// least is how many there must be.
	least int
	// context holds what was in the cluster all the time.
	context string
	// vague: the recorded field paths are imprecise, and not compared.
	vague bool
}

// TestVerdicts gives the recorded objects to the check: what the real webhooks
// took must pass, what they refused must not, and where both sides name fields
// they must name a common one.
func TestVerdicts(t *testing.T) {
	for _, kind := range []recorded{
		{kind: "cloneset", least: 29},
		{kind: "sidecarset", least: 45, context: whitelisted, vague: true}, // semantics sidecarset 10
		{kind: "uniteddeployment", least: 12},
		{kind: "resourcedistribution", least: 6},
	} {
		t.Run(kind.kind, kind.verdicts)
	}
}

func (k recorded) verdicts(t *testing.T) {
	all := 0
	for _, c := range conformance.List(t, "lint") {
		if _, what, _ := strings.Cut(c.Name, "-"); !strings.HasPrefix(what, k.kind+"-") {
			continue
		}
		all++
		t.Run(c.Name, func(t *testing.T) {
			if err := k.verdict(t, c); err != nil {
				t.Error(err)
			}
		})
	}
	if all < k.least {
		t.Errorf("only %d are recorded", all)
	}
}

func (k recorded) verdict(t *testing.T, c conformance.Case) error {
	t.Helper()
	var want struct {
		Allowed bool     `yaml:"allowed"`
		Message string   `yaml:"message"`
		Fields  []string `yaml:"fields"`
	}
	if err := yaml.Unmarshal([]byte(text(t, c, "verdict.yaml")), &want); err != nil {
		return err
	}
	context := k.context
	for _, file := range []string{"before.yaml", "setup.yaml"} {
		if c.Has(file) {
			context += "---\n" + text(t, c, file)
		}
	}
	got := checked(t, text(t, c, "object.yaml"), context)
	switch {
	case want.Allowed && got != nil:
		return fmt.Errorf("refused: %w", got)
	case !want.Allowed && got == nil:
		return fmt.Errorf("accepted, but Kruise says: %s", want.Message)
	case !want.Allowed && !k.vague && !namesOne(got.Error(), want.Fields):
		return fmt.Errorf("none of the fields %q is named: %w", want.Fields, got)
	}
	return nil
}

func text(t *testing.T, c conformance.Case, file string) string {
	t.Helper()
	data, err := c.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// namesOne reports whether text names one of the fields or something below.
func namesOne(text string, fields []string) bool {
	for _, f := range fields {
		if strings.Contains(text, f) {
			return true
		}
	}
	return len(fields) == 0
}

// checked checks a stream beside what is in the cluster.
func checked(t *testing.T, stream, context string) error {
	t.Helper()
	return checkedList(golden.Parse(t, stream), golden.Parse(t, context))
}

func checkedList(in, context []*resource.Resource) error {
	return check.Run(&stage.Context{
		Facts:    resource.NewFacts(in, context, ""),
		Findings: &finding.Reporter{},
		Expand:   func(string) bool { return true },
	}, in)
}
