package tree

import (
	"iter"
	"strings"
)

// farthest is how many letters a slip of the fingers changes at most.
const farthest = 2

// Nearest returns the word that was meant by one that is none of them: the one with the
// fewest letters to add, drop or change, two at most, whatever their case. Empty is none.
func Nearest(word string, words iter.Seq[string]) string {
	best, least := "", farthest+1
	for w := range words {
		if d := distance(strings.ToLower(w), strings.ToLower(word)); d < least || d == least && w < best {
			best, least = w, d
		}
	}
	return best
}

// Akin returns the only one of the words that begins or ends with this one, or with
// which this one begins or ends, by four letters or more. Empty is none, or several.
func Akin(word string, words iter.Seq[string]) string {
	found, n := "", 0
	for w := range words {
		if part(w, word) || part(word, w) {
			found, n = w, n+1
		}
	}
	if n != 1 {
		return ""
	}
	return found
}

// part reports whether long begins or ends with short, whatever their case.
func part(long, short string) bool {
	long, short = strings.ToLower(long), strings.ToLower(short)
	return len(short) >= 4 && (strings.HasPrefix(long, short) || strings.HasSuffix(long, short))
}

// distance is the number of letters to add, drop or change that leads from a
// to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
