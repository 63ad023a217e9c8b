package view

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
)

// gap is the room between two columns, leastText what a column keeps that holds sentences, which can spare
// more than names.
const gap, leastText = 2, 10

// table writes rows as aligned columns that fit the terminal, if there is one: columns in
// which no row says anything go.
func (st Style) table(w io.Writer, rows [][]string) error {
	if st.Width <= 0 || st.Full {
		return table(w, rows)
	}
	if taken(widths(rows), gap) > st.Width {
		rows = dropEmptyColumns(rows)
	}
	return table(w, Fit(rows, st.Width, gap))
}

// withColumn puts a column into rows, the first of which has titles.
func withColumn(rows [][]string, at int, title string, cell func(i int) string) {
	rows[0] = slices.Insert(rows[0], at, title)
	for i := range rows[1:] {
		rows[i+1] = slices.Insert(rows[i+1], at, orDash(cell(i)))
	}
}

// explained is as table for rows that end with a sentence, which is not cut: it continues below its beginning
// (see [text.Folding]).
func (st Style) explained(w io.Writer, rows [][]string, gap int) error {
	if st.Width <= 0 || st.Full {
		return aligned(w, rows, gap)
	}
	last := len(rows[0]) - 1
	names := make([][]string, len(rows))
	for i, row := range rows {
		names[i] = row[:last]
	}
	names = Fit(names, max(st.Width-gap-leastText, 1), gap)
	for i, row := range rows {
		names[i] = append(names[i], row[last])
	}
	return aligned(w, names, gap)
}

// Fit cuts the cells of rows so that they fit the width with gaps between them: sentences first, then the longest
// names; columns with the titles in keep are not cut.
func Fit(rows [][]string, width, gap int, keep ...string) [][]string {
	room := fitted(rows, width, gap, keep)
	out := make([][]string, len(rows))
	for i, row := range rows {
		for n, cell := range row {
			out[i] = append(out[i], Style{Width: room[n]}.cut(cell))
		}
	}
	return out
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
func taken(widths []int, gap int) int {
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
func fitted(rows [][]string, width, gap int, keep []string) []int {
	out := widths(rows)
	var names, texts []int
	for i, title := range rows[0] {
		switch {
		case slices.Contains(keep, title):
		case sentences(rows, i):
			texts = append(texts, i)
			fallthrough
		default:
			names = append(names, i)
		}
	}
	over := taken(out, gap) - width
	narrow(out, names, narrow(out, texts, over, leastText), 1)
	return out
}

// narrow takes what is over from the widest of some columns, again and again, and leaves each at least so much. The
// rest is what it could not take.
func narrow(widths, columns []int, over, least int) (rest int) {
	for ; over > 0 && len(columns) > 0; over-- {
		widest := slices.MaxFunc(columns, func(a, b int) int { return widths[a] - widths[b] })
		if widths[widest] <= least {
			break
		}
		widths[widest]--
	}
	return over
}

// sentences reports whether a column holds text: the last one, or one with blanks below its title.
func sentences(rows [][]string, column int) bool {
	return column == len(rows[0])-1 || slices.ContainsFunc(rows[1:], func(row []string) bool { return strings.Contains(row[column], " ") })
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
