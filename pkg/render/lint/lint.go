// Package lint reports problems of Kruise objects before they are applied: those for which
// Kruise's webhooks would refuse them (package check), and risky settings that the webhooks
// accept. It checks objects in memory, together with other known objects, and opens nothing.
package lint

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// ignoreAnnotation turns rules off for one object: their IDs, separated by
// commas, or "*".
const ignoreAnnotation = "kubectl-kruise.dev/lint-ignore"

// Severity is how bad a problem is.
type Severity string

// The severities.
const (
	// Error means that Kruise refuses the object.
	Error Severity = "error"
	// Warning means that Kruise accepts the object, which is probably not as intended.
	Warning Severity = "warning"
	// Info is for facts that are worth knowing.
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
	// Doc is one sentence: what the rule requires, and why.
	Doc string
}

// Problem is a violation of a rule by an object.
type Problem struct {
	Rule     string
	Severity Severity
	// More is the number of problems that this one stands for; 0 for one that is itself.
	More int
	*resource.Error
}

// mostListed is how many problems are listed.
const mostListed = 10_000

// Listed returns the first problems and, where there are more than can be listed, one for each
// severity that counts the rest.
func Listed(all []Problem) []Problem {
	if len(all) <= mostListed {
		return all
	}
	out, rest := slices.Clip(all[:mostListed]), map[Severity]int{}
	for _, p := range all[mostListed:] {
		rest[p.Severity] += max(p.More, 1)
	}
	for s, noun := range map[Severity]string{Error: "more error", Warning: "more warning", Info: "more note"} {
		if n := rest[s]; n > 0 {
			out = append(out, Problem{Rule: more, Severity: s, More: n, Error: &resource.Error{Err: errors.New(counted.Of(n, noun))}})
		}
	}
	slices.SortStableFunc(out[mostListed:], func(a, b Problem) int { return cmp.Compare(b.Severity.Rank(), a.Severity.Rank()) })
	return out
}

// Request has the objects to check.
type Request struct {
	// Objects are those to check. An object with the same identity in Old makes it an update.
	Objects, Old []*resource.Resource
	// Context are objects that exist and are not checked.
	Context []*resource.Resource
	// Operation is asked of all objects; empty is creation or update.
	Operation check.Operation
	// Namespace is where objects without one live.
	Namespace string
	// Kruise is the release of Kruise that the objects are for. If it is not known, fields and
	// versions that only some releases accept are warnings.
	Kruise kruise.Release
	// Undecided are places of the kustomization that built the objects where Kruise's schema would have
	// built others.
	Undecided []*resource.Error
	// Disabled are IDs of rules that are off.
	Disabled []string
	// Known is set if Objects and Context are all objects that exist.
	Known bool
	// Kept is set if the objects are not expanded: what only an expansion needs is no problem.
	Kept bool
	// Limits bound what is checked.
	Limits stage.Limits
	// Stop, if set, is called between objects. When it returns an error, the rest is not
	// checked, and the result is incomplete.
	Stop func() error
	// Progress, if set, is told how much is done, by several goroutines.
	Progress resource.Progress
}

// Run returns the problems in the order of the input, the worst of an object
// first, and by lines.
func Run(q Request) []Problem {
	facts := resource.NewFacts(q.Objects, append(slices.Clip(q.Context), q.Old...), q.Namespace)
	c := stage.New(facts, stage.Options{Expand: func(string) bool { return !q.Kept }, Kruise: q.Kruise, Limits: q.Limits, Stop: q.Stop, Progress: q.Progress})
	all := newRelatedObjects(c, q)
	lists := make([][]Problem, len(q.Objects))
	_ = c.Each(len(q.Objects), func(i int) error {
		lists[i] = all.problems(q.Objects[i])
		return nil
	})
	out, secrets := slices.Concat(append([][]Problem{q.undecided()}, lists...)...), resource.SecretsOf(q.Objects, q.Old, q.Context)
	for i := range out {
		out[i].Error = secrets.MaskedError(out[i].Error)
	}
	return out
}

// undecided are the problems of the kustomization.
func (q Request) undecided() []Problem {
	if slices.Contains(q.Disabled, kruiseSchema) {
		return nil
	}
	var out []Problem
	for _, e := range q.Undecided {
		out = append(out, Problem{Rule: kruiseSchema, Severity: Warning, Error: e})
	}
	return out
}

// problems returns the problems of an object, the worst first, and by lines.
func (s *relatedObjects) problems(r *resource.Resource) []Problem {
	old := s.old[s.c.Facts.IDOf(r)]
	var out []Problem
	faults := check.Object(s.c, check.Request{Operation: s.request.Operation, Object: r, Old: old, Known: s.request.Known})
	if s.request.Operation != check.Delete {
		faults = append(faults, check.Native(r)...)
	}
	refused := false
	for _, f := range faults {
		refused = refused || !f.OfRelease || !f.Accepted
		severity := Error
		if f.Accepted {
			severity = Warning
		}
		out = append(out, Problem{Rule: f.Rule, Severity: severity, Error: f.Error})
	}
	if s.request.Operation != check.Delete {
		out = append(out, s.advice(r, old, refused)...)
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
	out = append(append(out, inputRules...), undecidedRule)
	slices.SortFunc(out, func(a, b Rule) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) })
	return out
}

// The rules about the input itself.
const (
	unreadable = "input/unreadable"
	duplicate  = "input/duplicate"
	empty      = "input/empty"
	more       = "input/more"
	// unbuilt and kruiseSchema are about kustomizations.
	unbuilt      = "input/kustomization"
	kruiseSchema = "input/kruise-schema"
)

var undecidedRule = Rule{ID: kruiseSchema, Severity: Warning, Doc: "A patch or a field of the kustomization has another effect than on Kubernetes' own kinds, since kustomize does not know Kruise's: a patch of one container drops the others, and names, labels or replicas do not reach the object."}

// inputRules are part of the catalogue, and cannot be turned off: what is not read cannot be
// checked.
var inputRules = []Rule{
	{ID: unreadable, Severity: Error, Doc: "A file cannot be read, a document of it is not YAML or JSON, or an object lacks what every object has: it is not checked."},
	{ID: duplicate, Severity: Error, Doc: "An object is in the input twice."},
	{ID: empty, Severity: Error, Doc: "The input has no objects."},
	{ID: unbuilt, Severity: Warning, Doc: "Folders below a directory that is read with -f -R have a kustomization: they are not checked, since only a build tells which objects they make."},
	{ID: more, Severity: Error, Doc: "There are more problems than can be listed; the rest is counted, with its severity."},
}

// Fixed reports whether the rule with this ID cannot be turned off.
func Fixed(id string) bool {
	return slices.ContainsFunc(inputRules, func(r Rule) bool { return r.ID == id })
}

// Unread returns the errors of reading the input as problems.
func Unread(faults error) []Problem {
	var all resource.Errors
	all.Add(faults)
	var out []Problem
	for _, err := range all {
		at, ok := errors.AsType[*resource.Error](err)
		if !ok {
			at = &resource.Error{Err: err}
		}
		p := Problem{Rule: inputRule(err), Severity: Error, Error: at}
		if n, counts := errors.AsType[resource.MoreError](err); counts {
			p.Rule, p.More = more, int(n)
		}
		if p.Rule == unbuilt {
			p.Severity = Warning
		}
		out = append(out, p)
	}
	return out
}

func inputRule(err error) string {
	switch {
	case errors.Is(err, resource.ErrDuplicate):
		return duplicate
	case errors.Is(err, resource.ErrEmpty):
		return empty
	}
	if _, met := errors.AsType[resource.KustomizationsError](err); met {
		return unbuilt
	}
	return unreadable
}
