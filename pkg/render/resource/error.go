package resource

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// The faults of an input as a whole.
var (
	ErrEmpty     = errors.New("no objects in the input")
	ErrDuplicate = errors.New("is in the input twice")
)

// Error is a fault of the input, with its place.
type Error struct {
	// File and Line are the place; Line 0 is unknown.
	File string
	Line int
	// Object is the zero ID when no object could be made out.
	Object ID
	// Field is the dotted path inside the object, "" for the whole.
	Field string
	// Err is what is wrong, Hint what to do about it (may be empty).
	Err  error
	Hint string
	// ID is that of the finding about an object that can be left out because of this fault; "" is
	// that of all others.
	ID string
	// Limit: a bound of the output was reached, which is no fault of one object.
	Limit bool
}

// Error gives one line: file:line: object: field: what.
func (e *Error) Error() string {
	var parts []string
	if e.File != "" {
		at := tree.OneLine(e.File)
		if e.Line > 0 {
			at += ":" + strconv.Itoa(e.Line)
		}
		parts = append(parts, at)
	}
	if e.Object.Kind != "" {
		parts = append(parts, e.Object.String())
	}
	if e.Field != "" {
		parts = append(parts, tree.OneLine(e.Field))
	}
	return strings.Join(append(parts, e.Err.Error()), ": ")
}

func (e *Error) Unwrap() error { return e.Err }

// MostErrors is how many errors are kept: a file can hold hundreds of thousands of broken
// documents.
const MostErrors = 1000

// MoreError is how many errors there are beside those that are kept, of which it is the last.
type MoreError int

// Error has the number.
func (n MoreError) Error() string { return counted.Of(int(n), "more error") }

// KustomizationsError names folders with a kustomization that were met among manifests, and not read.
type KustomizationsError []string

// Error names the folders, the first few of many.
func (e KustomizationsError) Error() string {
	const shown = 5
	if len(e) == 1 {
		return "the directory has a kustomization, which -f does not build"
	}
	list, more := e, ""
	if len(e) > shown {
		list, more = e[:shown], fmt.Sprintf(" and %d more", len(e)-shown)
	}
	return fmt.Sprintf("%d directories have a kustomization, which -f does not build: %s%s", len(e), strings.Join(list, ", "), more)
}

// Errors gathers faults so that one run reports all of them, up to [MostErrors]; the rest is
// counted.
type Errors []error

// Add keeps err unless it is nil; joined errors are kept one by one.
func (l *Errors) Add(err error) {
	if err == nil {
		return
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			l.Add(e)
		}
		return
	}
	n, counts := err.(MoreError) //nolint:errorlint // one that is wrapped has a text of its own
	if !counts {
		n = 1
	}
	if last := len(*l) - 1; last >= 0 {
		if before, full := (*l)[last].(MoreError); full { //nolint:errorlint // likewise
			(*l)[last] = before + n
			return
		}
	}
	if !counts && len(*l) == MostErrors {
		err = n
	}
	*l = append(*l, err)
}

// Err returns the faults as one error, nil when there are none.
func (l Errors) Err() error { return errors.Join(l...) }
