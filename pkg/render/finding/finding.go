// Package finding has the findings of the renderer: what an expansion keeps, approximates or
// loses. Every finding has a rule in the catalogue, from which docs/fidelity.md is generated; a
// finding is a rule that applied to an object.
package finding

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Severity is how much of the meaning survives.
type Severity string

// The four severities, from harmless to fatal.
const (
	// Exact: the output means the same.
	Exact Severity = "exact"
	// Approximate: the output does nearly the same; the difference is named.
	Approximate Severity = "approximate"
	// Lost: the output does not do it; --strict fails.
	Lost Severity = "lost"
	// Error: the object cannot be rendered.
	Error Severity = "error"
)

// Rank orders severities, Exact lowest.
func (s Severity) Rank() int {
	switch s {
	case Exact:
		return 0
	case Approximate:
		return 1
	case Lost:
		return 2
	default:
		return 3
	}
}

// Finding is a rule that applied to an object.
type Finding struct {
	Object   resource.ID `json:"object"`
	ID       string      `json:"id"`
	Severity Severity    `json:"severity"`
	File     string      `json:"file,omitempty"`
	Line     int         `json:"line,omitempty"`
	Field    string      `json:"field,omitempty"`
	Message  string      `json:"message"`
	Action   string      `json:"action,omitempty"`
	// Accepted: it was reviewed, and fails nothing.
	Accepted bool `json:"accepted,omitempty"`
	seq      int
}

// Reporter gathers findings from concurrent stages.
type Reporter struct {
	mu   sync.Mutex
	list []Finding
}

// Add reports that the rule with this ID applied to field of r. detail
// replaces the rule's own text when not empty. An ID that the catalogue lacks is a programming
// error and panics.
func (p *Reporter) Add(id string, r *resource.Resource, field, detail string) {
	rule := Lookup(id)
	f := Finding{ID: id, Severity: rule.Severity, Object: r.ID(), File: r.Origin.File, Line: r.Origin.Line, Field: field, Message: rule.Becomes, Action: rule.Action, Accepted: acceptedBy(r, id), seq: r.Origin.Seq}
	if detail != "" {
		f.Message = detail
	}
	if field != "" {
		f.File, f.Line = r.Origin.At(tree.LineOf(r.Node(), field))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, f)
}

// Refused reports that an object leaves the output because of a fault.
func (p *Reporter) Refused(r *resource.Resource, e *resource.Error) {
	rule := Lookup(cmp.Or(e.ID, "object/refused"))
	f := Finding{ID: rule.ID, Severity: rule.Severity, Object: e.Object, File: e.File, Line: e.Line, Field: e.Field, Message: e.Err.Error(), Action: cmp.Or(e.Hint, rule.Action), Accepted: acceptedBy(r, rule.ID), seq: r.Origin.Seq}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, f)
}

// Findings returns what was reported, in input order, then by field and ID,
// without repetitions.
func (p *Reporter) Findings() []Finding {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Of an object that is not rendered, nothing else is kept or lost.
	refused := map[resource.ID]bool{}
	for _, f := range p.list {
		refused[f.Object] = refused[f.Object] || f.Severity == Error
	}
	out := slices.DeleteFunc(slices.Clone(p.list), func(f Finding) bool { return refused[f.Object] && f.Severity != Error })
	slices.SortStableFunc(out, Finding.compare)
	kept := out[:0]
	for i, f := range out {
		if i == 0 || f != out[i-1] {
			kept = append(kept, f)
		}
	}
	return kept
}

// Mask removes the values of Secrets from findings.
func Mask(list []Finding, secrets *resource.Secrets) {
	for i, f := range list {
		list[i].Field, list[i].Message, list[i].Action = secrets.Masked(f.Field), secrets.Masked(f.Message), secrets.Masked(f.Action)
	}
}

// compare orders findings by input, object, field, ID and message.
func (f Finding) compare(o Finding) int {
	if c := cmp.Compare(f.seq, o.seq); c != 0 {
		return c
	}
	if f.Object != o.Object {
		if c := strings.Compare(f.Object.String(), o.Object.String()); c != 0 {
			return c
		}
	}
	return cmp.Or(strings.Compare(f.Field, o.Field), strings.Compare(f.ID, o.ID), strings.Compare(f.Message, o.Message))
}

// Worst returns the gravest severity in list of what is not accepted, Exact for none.
func Worst(list []Finding) Severity {
	worst := Exact
	for _, f := range list {
		if !f.Accepted && f.Severity.Rank() > worst.Rank() {
			worst = f.Severity
		}
	}
	return worst
}
