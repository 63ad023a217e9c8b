package redact

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Values are values that no message may show: those of Secrets, which a message about another
// object quotes when something has copied them there. The zero value has none.
type Values struct {
	// texts are the values that are looked for inside of texts, whole those that are masked only as
	// all of a quotation: short values, and parts of longer ones.
	texts, whole map[string]bool
	// lengths are those of texts by the first bytes of each, the longest first.
	lengths map[beginning][]int
}

const (
	// shortestValue is the length, in bytes, of the shortest value that is looked for inside of texts.
	shortestValue = 4
	// longValue is the length from which on a value is found inside of words, too.
	longValue = 8
)

type beginning [shortestValue]byte

// NewValues returns these values, with their lines and with the parts of them that kustomize's
// delimiters can copy.
func NewValues(list []string) *Values {
	v := &Values{texts: map[string]bool{}, whole: map[string]bool{}, lengths: map[beginning][]int{}}
	for _, value := range list {
		v.add(strings.TrimSpace(value))
	}
	for b, lengths := range v.lengths {
		slices.Sort(lengths)
		lengths = slices.Compact(lengths)
		slices.Reverse(lengths)
		v.lengths[b] = lengths
	}
	return v
}

func (v *Values) add(value string) {
	v.addText(value)
	if !strings.ContainsFunc(value, unicode.IsSpace) {
		for _, p := range strings.FieldsFunc(value, func(r rune) bool { return !part(r) }) {
			if len(p) >= shortestValue {
				v.whole[p] = true
			}
		}
	}
	if strings.Contains(value, "\n") {
		for line := range strings.Lines(value) {
			v.addText(strings.TrimSpace(line))
		}
	}
}

// addText adds a text as it is, and as it is written between quotation marks.
func (v *Values) addText(text string) {
	escaped := strconv.Quote(text)
	for _, form := range []string{text, escaped[1 : len(escaped)-1]} {
		if form == "" {
			continue
		}
		v.whole[form] = true
		if len(form) >= shortestValue && !v.texts[form] {
			v.texts[form] = true
			first := beginning([]byte(form))
			v.lengths[first] = append(v.lengths[first], len(form))
		}
	}
}

// quotation matches what a message quotes, with the marks around it.
var quotation = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|'[^']*'|`[^`]*`")

// Masked returns a message with [Masked] in place of each value. A value that is a plain word, or
// short, is masked only in quotations: elsewhere it is a word of the message.
func (v *Values) Masked(text string) string {
	if v == nil || len(v.whole) == 0 || text == "" {
		return text
	}
	var b strings.Builder
	at := 0
	for _, q := range quotation.FindAllStringIndex(text, -1) {
		v.write(&b, text[at:q[0]], false, shortestValue)
		from, to := q[0]+1, q[1]-1
		b.WriteByte(text[q[0]])
		if v.whole[text[from:to]] {
			b.WriteString(Masked)
		} else {
			v.write(&b, text[from:to], true, shortestValue)
		}
		b.WriteByte(text[to])
		at = q[1]
	}
	v.write(&b, text[at:], false, shortestValue)
	return b.String()
}

// Content returns the value of a field with [Masked] in place of each long value that is no plain
// word. Shorter ones are common in fields: ports, names, numbers.
func (v *Values) Content(text string) string {
	if v == nil || len(text) < longValue {
		return text
	}
	var b strings.Builder
	v.write(&b, text, false, longValue)
	return b.String()
}

// write writes a part of a text, all of which is a quotation or none; shorter values than least stay.
func (v *Values) write(b *strings.Builder, text string, quoted bool, least int) {
	from := 0
	for at := 0; at < len(text); {
		n := v.lengthAt(text, at, quoted, least)
		if n == 0 {
			at++
			continue
		}
		b.WriteString(text[from:at])
		b.WriteString(Masked)
		at += n
		from = at
	}
	b.WriteString(text[from:])
}

// lengthAt is the length of the longest value that begins here, 0 for none.
func (v *Values) lengthAt(text string, at int, quoted bool, least int) int {
	rest := text[at:]
	if len(rest) < shortestValue {
		return 0
	}
	for _, n := range v.lengths[beginning([]byte(rest[:shortestValue]))] {
		if n >= least && n <= len(rest) && v.texts[rest[:n]] && (quoted || !plain(rest[:n])) && (n >= longValue && !plain(rest[:n]) || apart(text, at, at+n)) {
			return n
		}
	}
	return 0
}

// plain reports whether a value may be a word of a message.
func plain(value string) bool {
	return !strings.ContainsFunc(value[1:], func(r rune) bool { return !unicode.IsLower(r) })
}

// apart reports whether no word reaches over the ends of text[from:to].
func apart(text string, from, to int) bool {
	first, _ := utf8.DecodeRuneInString(text[from:])
	last, _ := utf8.DecodeLastRuneInString(text[:to])
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return (from == 0 || !part(before) || !part(first)) && (to == len(text) || !part(after) || !part(last))
}
