// Package lint reports problems of Kruise objects before they are applied: those for which
// Kruise's webhooks would refuse them (package check), and risky settings that the webhooks
// accept. It checks objects in memory, together with other known objects, and opens nothing.
package lint

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/kyaml/yaml"

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
	ID string `yaml:"id"`
	// Kind is "" for a rule of several kinds.
	Kind     string   `yaml:"-"`
	Severity Severity `yaml:"severity"`
	// Doc is one sentence: what the rule requires, and why.
	Doc string `yaml:"doc"`
	// Fixed rules cannot be turned off.
	Fixed bool `yaml:"fixed"`
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
	// Progress, if set, is told how much is done, by several goroutines.
	Progress resource.Progress
}

// Run returns the problems in the order of the input, the worst of an object
// first, and by lines. When ctx ends, the rest is not checked, and the result is incomplete.
func Run(ctx context.Context, q Request) []Problem {
	facts := resource.NewFacts(q.Objects, append(slices.Clip(q.Context), q.Old...), q.Namespace)
	c := stage.New(facts, stage.Options{Expand: func(string) bool { return !q.Kept }, Kruise: q.Kruise, Limits: q.Limits, Running: ctx, Progress: q.Progress})
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
	ignored := strings.FieldsFunc(r.Annotation(ignoreAnnotation), func(c rune) bool { return c == ',' || c == ' ' })
	out = slices.DeleteFunc(out, func(p Problem) bool {
		return slices.Contains(s.request.Disabled, p.Rule) || slices.Contains(ignored, p.Rule) || slices.Contains(ignored, "*")
	})
	slices.SortStableFunc(out, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(a.Line, b.Line))
	})
	return out
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
	out = slices.AppendSeq(out, maps.Values(catalogue()))
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

//go:embed rules.yaml
var rulesFile []byte

// catalogue has what Kruise accepts, by ID.
var catalogue = sync.OnceValue(func() map[string]Rule {
	var byKind map[string][]Rule
	dec := yaml.NewDecoder(bytes.NewReader(rulesFile))
	dec.KnownFields(true)
	if err := dec.Decode(&byKind); err != nil {
		panic("lint: rules.yaml: " + err.Error()) // it is embedded: a test would show it
	}
	out := map[string]Rule{}
	for kind, list := range byKind {
		for _, r := range list {
			if _, twice := out[r.ID]; twice {
				panic("lint: rules.yaml has two rules " + r.ID)
			}
			r.Kind = strings.TrimPrefix(kind, "*")
			out[r.ID] = r
		}
	}
	return out
})

// Fixed reports whether the rule with this ID cannot be turned off.
func Fixed(id string) bool { return catalogue()[id].Fixed }

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
