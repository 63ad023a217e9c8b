// Package view turns what the engine knows (findings, explanations) into text,
// JSON and tables. It writes to the writer that it is given and decides
// nothing.
package view

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Style says how text may look.
type Style struct {
	// Color allows ANSI colours.
	Color bool
	// Width is the number of columns of the terminal, 0 when there is none:
	// then nothing is cut.
	Width int
	// Full shows values and lists of pods whole.
	Full bool
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
	if !st.Color || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// table writes rows as aligned columns, two spaces apart. Cells may not hold
// escapes: colour a whole line instead.
func table(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		if _, err := fmt.Fprintln(t, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return t.Flush()
}
