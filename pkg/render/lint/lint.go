// Package lint says what is wrong with Kruise objects before anybody applies
// them: what Kruise's webhooks would refuse (package check), and what they let
// through and users regret. It looks at files and at what else exists, and opens
// nothing itself.
package lint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// ignoreAnnotation turns rules off for one object: their IDs, separated by
// commas, or "*".
const ignoreAnnotation = "kubectl-kruise.dev/lint-ignore"

// Severity says how bad a problem is.
type Severity string

// The severities.
const (
	// Error: Kruise refuses the object.
	Error Severity = "error"
	// Warning: it is accepted, and hardly what was meant.
	Warning Severity = "warning"
	// Info: worth knowing.
	Info Severity = "info"
)

// Rank orders severities; the worst is the largest.
func (s Severity) Rank() int { return slices.Index([]Severity{Info, Warning, Error}, s) + 1 }

// Rule is one entry of the catalogue.
type Rule struct {
	// ID is KIND/NAME in lower case and never changes.
	ID       string
	Kind     string
	Severity Severity
	// Doc says in a sentence what the rule asks for and why.
	Doc string
}

// Problem is what one rule has against one object.
type Problem struct {
	Rule     string
	Severity Severity
	*resource.Error
}

// Request is what to look at.
type Request struct {
	// Objects are those to check. Of an object in Old with the same identity,
	// each is an update.
	Objects, Old []*resource.Resource
	// Context are objects that exist and are not checked.
	Context []*resource.Resource
	// Operation is asked of all objects; empty is creation or update.
	Operation check.Operation
	// Namespace is where objects without one live.
	Namespace string
	// Kruise is the release of Kruise that the objects are for; of one that is not known,
	// what only other releases than the newest take is a warning.
	Kruise kruise.Release
	// Disabled are IDs of rules that are off.
	Disabled []string
	// Known: what is neither in Objects nor in Context does not exist.
	Known bool
	// Kept objects stay Kruise's: what only their expansion needs to know is no fault.
	Kept bool
	// Limits bound what is looked at.
	Limits stage.Limits
	// Stop, when set, is asked between objects; with an error from it nothing is looked
	// at any more, and what is returned is not all.
	Stop func() error
}

// Run returns the problems in the order of the input, the worst of an object
// first, and by lines.
func Run(q Request) []Problem {
	facts := resource.NewFacts(q.Objects, append(slices.Clip(q.Context), q.Old...), q.Namespace)
	c := &stage.Context{
		Facts: facts, Findings: &finding.Reporter{}, Lineage: stage.NewLineage(),
		Driver: stage.Native, Expand: func(string) bool { return !q.Kept }, Kruise: q.Kruise, Limits: q.Limits, Stop: q.Stop,
	}
	all := newSurroundings(c, q)
	lists := make([][]Problem, len(q.Objects))
	_ = c.Each(len(q.Objects), func(i int) error {
		lists[i] = all.one(q.Objects[i])
		return nil
	})
	return slices.Concat(lists...)
}

// one returns what is held against an object, the worst first, and by lines.
func (s *surroundings) one(r *resource.Resource) []Problem {
	old := s.old[s.c.Facts.IDOf(r)]
	var out []Problem
	faults := check.Object(s.c, check.Request{Operation: s.request.Operation, Object: r, Old: old, Known: s.request.Known})
	if s.request.Operation != check.Delete {
		faults = append(faults, check.Native(r)...)
	}
	spoilt := false
	for _, f := range faults {
		spoilt = spoilt || !f.OfRelease || !f.Accepted
		severity := Error
		if f.Accepted {
			severity = Warning
		}
		out = append(out, Problem{Rule: f.Rule, Severity: severity, Error: f.Error})
	}
	if s.request.Operation != check.Delete {
		out = append(out, s.advice(r, old, spoilt)...)
	}
	ignored := ignores(r)
	out = slices.DeleteFunc(out, func(p Problem) bool {
		return slices.Contains(s.request.Disabled, p.Rule) || slices.Contains(ignored, p.Rule) || slices.Contains(ignored, "*")
	})
	slices.SortStableFunc(out, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(a.Line, b.Line))
	})
	return out
}

func ignores(r *resource.Resource) []string {
	return strings.FieldsFunc(r.Annotation(ignoreAnnotation), func(c rune) bool { return c == ',' || c == ' ' })
}

// Rules returns the whole catalogue, sorted by kind and ID.
func Rules() []Rule {
	var out []Rule
	for _, r := range check.Rules() {
		severity := Error
		if r.Accepted {
			severity = Warning
		}
		out = append(out, Rule{ID: r.ID, Kind: r.Kind, Severity: severity, Doc: r.Doc})
	}
	for _, a := range advices {
		out = append(out, a.Rule)
	}
	out = append(out, inputRules...)
	slices.SortFunc(out, func(a, b Rule) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) })
	return out
}
