package check_test

import (
	"regexp"
	"slices"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
)

func TestRules_AreUniqueAndDocumented(t *testing.T) {
	shape := regexp.MustCompile(`^[a-z]+/[a-z]+(-[a-z]+)*$`)
	sentence := regexp.MustCompile(`^[A-Za-z].*\.$`)
	rules := check.Rules()
	for i, r := range rules {
		if !shape.MatchString(r.ID) || !sentence.MatchString(r.Doc) {
			t.Errorf("%s: %s", r.ID, r.Doc)
		}
		if i > 0 && rules[i-1].ID >= r.ID {
			t.Errorf("%s stands behind %s", r.ID, rules[i-1].ID)
		}
	}
	if len(rules) < 80 {
		t.Errorf("only %d rules", len(rules))
	}
}

// TestFaults_NameRules: what the real cluster refused has a rule of its own,
// not that of everything else.
func TestFaults_NameRules(t *testing.T) {
	var ids []string
	for _, r := range check.Rules() {
		ids = append(ids, r.ID)
	}
	for _, c := range conformance.List(t, "lint") {
		var want verdict
		if err := yaml.Unmarshal([]byte(text(t, c, "verdict.yaml")), &want); err != nil {
			t.Fatal(err)
		}
		for _, f := range judged(t, c, want.Operation) {
			if !slices.Contains(ids, f.Rule) {
				t.Errorf("%s: no rule %s in the catalogue", c.Name, f.Rule)
			}
			if f.Rule == "object/invalid" {
				t.Errorf("%s: %v has no rule", c.Name, f.Error)
			}
		}
	}
}
