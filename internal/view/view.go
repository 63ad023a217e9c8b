// Package view turns what the engine knows (findings, explanations) into text,
// JSON and tables. It writes to the writer that it is given and decides
// nothing.
package view

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
)

// Style describes how text may look.
type Style struct {
	// Color allows ANSI colours.
	Color bool
	// Unicode allows symbols beyond ASCII, as on a terminal that has them.
	Unicode bool
	// Width is the number of columns of the terminal, 0 when there is none:
	// then nothing is cut.
	Width int
	// Full shows values and lists of pods whole.
	Full bool
	// Connection completes the commands of a hint; nil leaves them as they are.
	Connection interface {
		// Copyable adds the flags of the connection, so that the commands can be copied.
		Copyable(hint string) string
	}
}

// hint is a hint as it is printed. Machine-readable output has hints without the connection.
func (st Style) hint(text string) string {
	if st.Connection == nil {
		return text
	}
	return st.Connection.Copyable(text)
}

// Grouped puts together what has one key, in the order of the first of each.
func Grouped[T any, K comparable](list []T, key func(T) K) [][]T {
	index := map[K]int{}
	var out [][]T
	for _, one := range list {
		i, known := index[key(one)]
		if !known {
			i = len(out)
			index[key(one)] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], one)
	}
	return out
}

const (
	red    = "31"
	yellow = "33"
	green  = "32"
	faint  = "2"
	bold   = "1"
)

// paint colours s when the style allows it.
func (st Style) paint(color, s string) string {
	if !st.Color || s == "" || color == "" {
		return s
	}
	return text.Paint(color, s)
}

// table writes rows as aligned columns, two spaces apart. Cells may not hold
// escapes: colour a whole line instead.
func table(w io.Writer, rows [][]string) error { return aligned(w, rows, gap) }

func aligned(w io.Writer, rows [][]string, gap int) error {
	var lines bytes.Buffer
	t := tabwriter.NewWriter(&lines, 0, 0, gap, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = text.Line(cell) // which can end neither its column nor its row
		}
		if _, err := fmt.Fprintln(t, strings.Join(cells, "\t")); err != nil {
			return err
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return writePage(w, lines.String())
}

// writePage writes a page in which nothing of others acts. Our own colours stay as they are: the stream of
// the verb makes them those of a terminal (see [text.Writer]).
func writePage(w io.Writer, page string) error {
	_, err := io.WriteString(w, text.CI(text.Block(page)))
	return err
}
