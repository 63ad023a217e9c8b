package inspect

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
)

// tableFitter gathers kubectl's tables, and moves the columns of those together that are wider than the terminal, or
// cuts their cells.
type tableFitter struct {
	bytes.Buffer

	to      io.Writer
	columns int
}

// narrowGap is the room between two columns; kubectl's is 3.
const narrowGap = 2

// flush writes what was gathered; a blank line ends a table.
func (f *tableFitter) flush() error {
	var out strings.Builder
	for block := range strings.SplitAfterSeq(f.String(), "\n\n") {
		out.WriteString(fitTable(block, f.columns))
	}
	f.Reset()
	_, err := io.WriteString(f.to, out.String())
	return err
}

// titles are those of columns: words with single spaces.
var titles = regexp.MustCompile(`\S+(?: \S+)*`)

// fitTable is a table whose first line with several titles says where its columns begin; anything
// else is returned as it is.
func fitTable(table string, width int) string {
	text := strings.TrimRight(table, "\n")
	lines := strings.Split(text, "\n")
	head, over := -1, 0
	for i, line := range lines {
		if head < 0 && len(titles.FindAllString(line, 2)) > 1 {
			head = i
		}
		over = max(over, utf8.RuneCountInString(strings.TrimRight(line, " "))-width)
	}
	if head < 0 || over == 0 {
		return table
	}
	starts := titles.FindAllStringIndex(lines[head], -1) // titles are of ASCII
	var rows [][]string
	for _, line := range lines[head:] {
		row, ok := cellsAt([]rune(line), starts)
		if !ok {
			return table
		}
		rows = append(rows, row)
	}
	var out strings.Builder
	out.WriteString(strings.Join(append(lines[:head:head], ""), "\n"))
	t := tabwriter.NewWriter(&out, 0, 0, narrowGap, ' ', 0)
	for _, row := range view.Fit(rows, width, narrowGap, "NAMESPACE", "NAME") {
		_, _ = fmt.Fprintln(t, strings.Join(row, "\t")) // into memory
	}
	_ = t.Flush()
	return out.String() + strings.TrimPrefix(table[len(text):], "\n")
}

// cellsAt are the parts of a line that begin where the titles do; a line that has text between two columns
// is none of their table.
func cellsAt(line []rune, starts [][]int) (cells []string, ok bool) {
	for i, start := range starts {
		from, to := min(start[0], len(line)), len(line)
		if i+1 < len(starts) {
			to = min(starts[i+1][0], len(line))
		}
		if from > 0 && line[from-1] != ' ' {
			return nil, false
		}
		cells = append(cells, strings.TrimSpace(string(line[from:to])))
	}
	return cells, true
}
