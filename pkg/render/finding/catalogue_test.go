package finding_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
)

var ruleID = regexp.MustCompile(`^[a-z]+/[a-z0-9]+(-[a-z0-9]+)*$`)

func TestRules_AreComplete(t *testing.T) {
	for _, r := range finding.Rules() {
		if !ruleID.MatchString(r.ID) {
			t.Errorf("%s: want kind/short-name", r.ID)
		}
		if r.Kind == "" || r.Becomes == "" {
			t.Errorf("%s: kind or text is missing", r.ID)
		}
		if r.Kind != "*" && !strings.HasPrefix(r.ID, strings.ToLower(r.Kind)+"/") {
			t.Errorf("%s: an ID begins with its kind %s", r.ID, r.Kind)
		}
		switch r.Severity {
		case finding.Exact:
		case finding.Approximate, finding.Lost, finding.Error:
			if r.Action == "" {
				t.Errorf("%s: what can the user do about %s?", r.ID, r.Severity)
			}
		default:
			t.Errorf("%s: unknown severity %q", r.ID, r.Severity)
		}
		if r.Severity != finding.Exact && strings.HasPrefix(r.Becomes, "not needed") {
			t.Errorf("%s: what is not needed is not %s", r.ID, r.Severity)
		}
		if strings.HasSuffix(r.Becomes, ".") || strings.HasSuffix(r.Action, ".") {
			t.Errorf("%s: texts end without a full stop", r.ID)
		}
		for _, f := range r.Fields {
			if len(tree.Steps(f)) == 0 || strings.ContainsAny(f, " *") {
				t.Errorf("%s: %q is no field path", r.ID, f)
			}
		}
	}
}

func TestRules_AreSorted(t *testing.T) {
	rules := finding.Rules()
	for i := 1; i < len(rules); i++ {
		a, b := rules[i-1], rules[i]
		if a.Kind > b.Kind || a.Kind == b.Kind && a.ID >= b.ID {
			t.Errorf("%s stands before %s", a.ID, b.ID)
		}
	}
}

func TestLookup(t *testing.T) {
	if got := finding.Lookup("cloneset/partition"); got.Severity != finding.Lost || got.Kind != "CloneSet" {
		t.Errorf("got %+v", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("an unknown ID did not panic")
		}
	}()
	finding.Lookup("cloneset/nothing")
}
