package draw

import (
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// Write appends lines to a frame, each of just so many columns; grey draws them all
// as something of the past.
func Write(b *strings.Builder, t *theme.Theme, lines []Line, width int, grey bool) {
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		l.Fit(width, t.Symbols.Ellipsis).write(b, t, grey)
	}
}

func (l Line) write(b *strings.Builder, t *theme.Theme, grey bool) {
	for _, s := range l.Spans {
		if s.Text == "" {
			continue
		}
		style := s.Style
		if grey {
			style = theme.Faint
		}
		open := t.Open(style)
		if l.Cursor {
			open = t.OnCursor(style)
		}
		b.WriteString(open)
		b.WriteString(s.Text)
		if open != "" {
			b.WriteString(theme.Reset)
		}
	}
}

func (l Line) clean() Line {
	for i, s := range l.Spans {
		if clean := Clean(s.Text); clean != s.Text {
			l.Spans = slices.Clone(l.Spans)
			l.Spans[i].Text = clean
		}
	}
	return l
}

// Clean replaces what would do something to a terminal instead of being shown:
// messages and logs are written by whoever runs in the cluster.
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
