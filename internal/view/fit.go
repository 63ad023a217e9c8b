package view

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
)

// gap is the room between two columns, leastLast what the last one keeps: it holds
// sentences, which can spare more than names.
const gap, leastLast = 2, 10

// table writes rows as aligned columns that fit the terminal, if there is one: columns in
// which no row says anything go, sentences are cut, then the longest names.
func (st Style) table(w io.Writer, rows [][]string) error {
	if st.Width <= 0 || st.Full {
		return table(w, rows)
	}
	if taken(widths(rows)) > st.Width {
		rows = dropEmptyColumns(rows)
	}
	room := fitted(widths(rows), st.Width)
	out := make([][]string, len(rows))
	for i, row := range rows {
		for n, cell := range row {
			out[i] = append(out[i], Style{Width: room[n]}.cut(cell))
		}
	}
	return table(w, out)
}

func widths(rows [][]string) []int {
	out := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			out[i] = max(out[i], utf8.RuneCountInString(cell))
		}
	}
	return out
}

// taken is how much of a line columns take.
func taken(widths []int) int {
	n := gap * (len(widths) - 1)
	for _, w := range widths {
		n += w
	}
	return n
}

// dropEmptyColumns leaves out the columns that are "-" in every row.
func dropEmptyColumns(rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for n := range rows[0] {
		if len(rows) > 1 && !slices.ContainsFunc(rows[1:], func(row []string) bool { return row[n] != "-" }) {
			continue
		}
		for i, row := range rows {
			out[i] = append(out[i], row[n])
		}
	}
	return out
}

// fitted is how wide columns may be on a terminal.
func fitted(have []int, width int) []int {
	out := slices.Clone(have)
	last := len(out) - 1
	over := taken(out) - width
	if spare := out[last] - leastLast; over > 0 && spare > 0 {
		out[last] -= min(over, spare)
	}
	for over = taken(out) - width; over > 0; over-- {
		widest := 0
		for i := range out {
			if out[i] > out[widest] {
				widest = i
			}
		}
		out[widest] = max(out[widest]-1, 1)
	}
	return out
}

// Wrap breaks a text between words into lines of a width, 0 for none; a word that is
// longer has a line of its own.
func Wrap(text string, width int) []string {
	if width <= 0 {
		return []string{text}
	}
	var out []string
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			out, line = append(out, line), word
		}
	}
	return append(out, line)
}

// cutTo cuts a line to so many characters, escapes not counted; none or fewer leave
// it whole.
func cutTo(s string, width int) string {
	if width <= 0 || Columns(s) <= width {
		return s
	}
	var b strings.Builder
	n, escape, painted := 0, false, false
	for _, r := range s {
		switch {
		case escape:
			escape = r != 'm'
		case text.IsBrush(r):
			escape, painted = true, true
		case n == width-1:
			b.WriteString("~")
			if painted {
				b.WriteString(text.Unpainted)
			}
			return b.String()
		default:
			n++
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Columns is how many characters a line takes on a terminal, colours not counted.
func Columns(s string) int {
	n, escape := 0, false
	for _, r := range s {
		switch {
		case escape:
			escape = r != 'm'
		case text.IsBrush(r):
			escape = true
		default:
			n++
		}
	}
	return n
}
