package check_test

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestCloneSetVerdicts gives the recorded CloneSets to the check: what the
// real webhooks took must pass, what they refused must not, and where both
// sides name fields they must name a common one.
func TestCloneSetVerdicts(t *testing.T) {
	passed, all := 0, 0
	for _, c := range conformance.List(t, "lint") {
		if !strings.Contains(c.Name, "-cloneset-") || strings.Contains(c.Name, "uniteddeployment") || c.Has("setup.yaml") || c.Has("case.yaml") {
			continue
		}
		all++
		t.Run(c.Name, func(t *testing.T) {
			if err := verdict(t, c); err != nil {
				t.Error(err)
				return
			}
			passed++
		})
	}
	if all == 0 {
		t.Fatal("no recorded CloneSet")
	}
	t.Logf("CloneSet verdicts: %d of %d", passed, all)
}

func verdict(t *testing.T, c conformance.Case) error {
	t.Helper()
	var want struct {
		Allowed bool     `yaml:"allowed"`
		Message string   `yaml:"message"`
		Fields  []string `yaml:"fields"`
	}
	data, err := c.Read("verdict.yaml")
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(data, &want); err != nil {
		return err
	}
	object, err := c.Read("object.yaml")
	if err != nil {
		return err
	}
	var before []*resource.Resource
	if c.Has("before.yaml") {
		data, err := c.Read("before.yaml")
		if err != nil {
			return err
		}
		before = parse(t, string(data))
	}
	got := checked(t, parse(t, string(object)), before)
	switch {
	case want.Allowed && got != nil:
		return fmt.Errorf("refused: %w", got)
	case !want.Allowed && got == nil:
		return fmt.Errorf("accepted, but Kruise says: %s", want.Message)
	case !want.Allowed && !namesOne(got.Error(), want.Fields):
		return fmt.Errorf("none of the fields %q is named: %w", want.Fields, got)
	}
	return nil
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

func checked(t *testing.T, in, context []*resource.Resource) error {
	t.Helper()
	return check.Run(&stage.Context{Facts: resource.NewFacts(in, context, "")}, in)
}
