// Package draw has what screens are made of: lines of styled text, tables that show
// the rows that fit, bars, boxes. It works on plain text and styles, so nothing is
// ever measured or cut inside an escape. A theme makes escapes of styles: a palette that
// people with any kind of colour vision can tell apart, and symbols that say the same
// without any colour.
package draw

import (
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Span is text in one style.
type Span struct {
	Text  string
	Style Style
}

// Line is one line of a screen.
type Line struct {
	Spans []Span
	// Cursor draws it as the line one is at.
	Cursor bool
}

// Text is a line in one style.
func Text(style Style, text string) Line { return Line{Spans: []Span{{text, style}}} }

// Heading is the first line of a part of a screen.
func Heading(text, more string) Line {
	return Text(Header, " "+text).Add(Faint, "  "+more)
}

// Of is a line of spans.
func Of(spans ...Span) Line { return Line{Spans: spans} }

// Add returns the line with more text at its end.
func (l Line) Add(style Style, text string) Line {
	l.Spans = append(slices.Clip(l.Spans), Span{text, style})
	return l
}

// Join returns the line with another at its end.
func (l Line) Join(more Line) Line {
	l.Spans = append(slices.Clip(l.Spans), more.Spans...)
	return l
}

// Width is how many columns it takes.
func (l Line) Width() int {
	n := 0
	for _, s := range l.Spans {
		n += Width(s.Text)
	}
	return n
}

// String is its text without styles.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l.Spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Fit returns the line with just so many columns: cut, or with spaces at its end, and
// nothing in it that would do something to a terminal.
func (l Line) Fit(width int, ellipsis string) Line {
	l, left := l.Clean(), width
	for i, s := range l.Spans {
		w := Width(s.Text)
		if w > left {
			out := Line{Spans: append([]Span{}, l.Spans[:i]...), Cursor: l.Cursor}
			cut := Cut(s.Text, left, ellipsis)
			out.Spans = append(out.Spans, Span{cut, s.Style})
			return out.pad(left - Width(cut))
		}
		left -= w
	}
	return l.pad(left)
}

func (l Line) pad(n int) Line {
	if n <= 0 {
		return l
	}
	return l.Add(Plain, Spaces(n))
}

// Both returns a line with one part at its left and one at its right; the left one
// gives way.
func Both(left, right Line, width int, ellipsis string) Line {
	return left.Fit(max(width-right.Width(), 0), ellipsis).Join(right)
}

// Exactly cuts or fills to so many lines.
func Exactly(lines []Line, n int) []Line {
	for len(lines) < n {
		lines = append(lines, Line{})
	}
	return lines[:max(n, 0)]
}

// First are the first lines of a text, the last of which ends with an ellipsis where there are more.
func First(lines []Line, n int, ellipsis string) []Line {
	if len(lines) <= n || n <= 0 {
		return lines[:max(min(n, len(lines)), 0)]
	}
	last := lines[n-1]
	style := Plain
	if spans := last.Spans; len(spans) > 0 {
		style = spans[len(spans)-1].Style
	}
	return append(append([]Line{}, lines[:n-1]...), last.Add(style, ellipsis))
}

const spaces = "                                                                                                    "

// Spaces is so many spaces.
func Spaces(n int) string {
	if n <= len(spaces) {
		return spaces[:max(n, 0)]
	}
	return strings.Repeat(" ", n)
}

// Width is how many columns a text takes.
func Width(text string) int {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return ansi.StringWidth(text)
		}
	}
	return len(text)
}

// Cut returns a text with at most so many columns.
func Cut(text string, width int, ellipsis string) string {
	switch {
	case width <= 0:
		return ""
	case Width(text) <= width:
		return text
	}
	return ansi.Truncate(text, width, ellipsis)
}

// From returns what a line has from a column on.
func (l Line) From(column int) Line {
	if column <= 0 {
		return l
	}
	out := Line{Cursor: l.Cursor}
	for _, s := range l.Spans {
		before := Cut(s.Text, column, "")
		column -= Width(before)
		if rest := s.Text[len(before):]; rest != "" {
			column = 0
			out.Spans = append(out.Spans, Span{rest, s.Style})
		}
	}
	return out
}

// Break returns a line as several of at most so many columns. The line is clean.
func (l Line) Break(width int) []Line {
	var out []Line
	part, left := Line{}, width
	for _, s := range l.Spans {
		for text := s.Text; text != ""; {
			fits := Cut(text, left, "")
			if fits == "" && left < width {
				out, part, left = append(out, part), Line{}, width
				continue
			}
			if fits == "" { // a letter that is wider than the room
				fits = text
			}
			part, left, text = part.Add(s.Style, fits), left-Width(fits), text[len(fits):]
		}
	}
	return append(out, part)
}

// Write appends lines to a frame, each of just so many columns; grey draws them all
// as something of the past.
func Write(b *strings.Builder, t *Theme, lines []Line, width int, grey bool) {
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		l.Fit(width, t.Symbols.Ellipsis).write(b, t, grey)
	}
}

func (l Line) write(b *strings.Builder, t *Theme, grey bool) {
	for _, s := range l.Spans {
		if s.Text == "" {
			continue
		}
		style := s.Style
		if grey {
			style = Faint
		}
		open := t.Open(style)
		if l.Cursor {
			open = t.OnCursor(style)
		}
		b.WriteString(open)
		b.WriteString(s.Text)
		if open != "" {
			b.WriteString(Reset)
		}
	}
}

// Clean returns the line without what would do something to a terminal.
func (l Line) Clean() Line {
	for i, s := range l.Spans {
		if clean := Clean(s.Text); clean != s.Text {
			l.Spans = slices.Clone(l.Spans)
			l.Spans[i].Text = clean
		}
	}
	return l
}

// Clean replaces what would do something to a terminal instead of being shown:
// messages and logs are written by what runs in the cluster.
func Clean(text string) string {
	for i := range len(text) {
		if c := text[i]; c < 0x20 || c >= 0x7f {
			return strings.Map(harmless, text)
		}
	}
	return text
}

func harmless(r rune) rune {
	if r == '\t' {
		return ' '
	}
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
		return '?'
	}
	return r
}
