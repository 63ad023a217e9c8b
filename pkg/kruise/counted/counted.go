// Package counted writes numbers with the words that they count, for messages. It knows English
// and nothing else.
package counted

import (
	"strconv"
	"strings"
)

// Of is a number with its noun: "1 pod", "2 pods", "2 entries", "2 patches".
func Of(n int, noun string) string {
	plural := noun + "s"
	switch {
	case strings.HasSuffix(noun, "ch"):
		plural = noun + "es"
	case strings.HasSuffix(noun, "y"):
		plural = strings.TrimSuffix(noun, "y") + "ies"
	}
	return With(n, noun, plural)
}

// With is a number with the words that follow it, of which the first are for the number 1:
// "1 pod is", "2 pods are".
func With(n int, one, other string) string { return strconv.Itoa(n) + " " + Word(n, one, other) }

// Word is the form of a word that goes with a number: "is", "are".
func Word(n int, one, other string) string {
	if n == 1 {
		return one
	}
	return other
}

// MostNamed is how many things of a kind a message names: who looks for more of them than he
// needs one more to know that there are others.
const MostNamed = 3

// Some names the first things of a list, "a, b and c", and others where there are more.
func Some(names []string) string {
	last := len(names) - 1
	switch {
	case last > MostNamed-1:
		return strings.Join(names[:MostNamed], ", ") + " and others"
	case last > 0:
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}

// PodsAre is a number of pods with its verb: "1 pod is", "2 pods are".
func PodsAre(n int) string { return With(n, "pod is", "pods are") }
