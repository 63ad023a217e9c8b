package lint

import (
	"errors"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// The rules about the input itself.
const (
	unreadable = "input/unreadable"
	duplicate  = "input/duplicate"
	empty      = "input/empty"
)

// inputRules are part of the catalogue, and cannot be turned off: what is not read is
// not looked at.
var inputRules = []Rule{
	{ID: unreadable, Severity: Error, Doc: "A file cannot be read, a document of it is not YAML or JSON, or an object lacks what every object has: it is not checked."},
	{ID: duplicate, Severity: Error, Doc: "An object is in the input twice."},
	{ID: empty, Severity: Error, Doc: "The input holds no object."},
}

// Fixed reports whether the rule with this ID cannot be turned off.
func Fixed(id string) bool {
	return slices.ContainsFunc(inputRules, func(r Rule) bool { return r.ID == id })
}

// Unread returns the faults of reading the input as problems, one by one.
func Unread(faults error) []Problem {
	var all resource.Errors
	all.Add(faults)
	var out []Problem
	for _, err := range all {
		at, ok := errors.AsType[*resource.Error](err)
		if !ok {
			at = &resource.Error{Err: err}
		}
		out = append(out, Problem{Rule: inputRule(err), Severity: Error, Error: at})
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
	return unreadable
}
