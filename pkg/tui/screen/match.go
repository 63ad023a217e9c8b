package screen

import (
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/labels"
)

// Match is how a list is filtered: by words that may be spelt in part, and by label
// selectors. Its zero value lets all through.
type Match struct {
	words     []string
	selectors []labels.Selector
}

// NewMatch reads a filter: terms with spaces between, all of which must hold. A term with
// "=" is a label selector, any other is looked for in what the row says.
func NewMatch(text string) Match {
	var m Match
	for term := range strings.FieldsSeq(text) {
		if s, err := labels.Parse(term); err == nil && strings.Contains(term, "=") {
			m.selectors = append(m.selectors, s)
			continue
		}
		m.words = append(m.words, strings.ToLower(term))
	}
	return m
}

// Row reports whether a row passes: its labels, and for each word its name, of which
// the letters will do in their order, or any other of its texts.
func (m Match) Row(set map[string]string, name string, texts ...string) bool {
	for _, s := range m.selectors {
		if !s.Matches(labels.Set(set)) {
			return false
		}
	}
	for _, w := range m.words {
		if !fuzzy(strings.ToLower(name), w) && !slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), w) }) {
			return false
		}
	}
	return true
}

// fuzzy reports whether the letters of a word stand in a text in their order.
func fuzzy(text, word string) bool {
	if strings.Contains(text, word) {
		return true
	}
	for _, want := range word {
		i := strings.IndexRune(text, want)
		if i < 0 {
			return false
		}
		text = text[i+utf8.RuneLen(want):]
	}
	return true
}
