package screen

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

// Sorts are what the rows of a list can be sorted by, each in the direction that is wanted more often.
type Sorts[R any] []struct {
	Name    string
	Compare func(a, b R) int
}

// Sort is how they are sorted; its zero value is by the first.
type Sort struct {
	By       int
	Reversed bool
}

// Next is after a sort.
func (s Sorts[R]) Next(now Sort) Sort { return Sort{By: (now.By + 1) % len(s)} }

// Named is the one with a name, and the present one if there is none.
func (s Sorts[R]) Named(name string, now Sort) Sort {
	if i := slices.Index(s.Names(), name); i >= 0 {
		return Sort{By: i}
	}
	return now
}

// Names are those of the command sort.
func (s Sorts[R]) Names() []string {
	names := make([]string, len(s))
	for i, by := range s {
		names[i] = by.Name
	}
	return names
}

// Title is what rows are sorted by, and the direction.
func (s Sorts[R]) Title(now Sort, y draw.Symbols) string {
	if now.Reversed {
		return s[now.By].Name + " " + y.Up
	}
	return s[now.By].Name + " " + y.Less
}

// Compare orders two rows; 0 for equal ones.
func (s Sorts[R]) Compare(now Sort, a, b R) int {
	if now.Reversed {
		a, b = b, a
	}
	return s[now.By].Compare(a, b)
}
