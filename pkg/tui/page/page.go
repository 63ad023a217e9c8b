// Package page is text that is longer than the screen: it scrolls sideways too or
// breaks its lines, follows what is added at its end, and is searched. It knows no
// screen; several are made of it.
package page

import (
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

// Page is the text and where one is in it. Its zero value is empty.
type Page struct {
	lines []draw.Line
	// rows are the lines as they are broken for a width.
	rows  []row
	width int
	// height is how many rows are seen.
	height int

	top, left int
	fold      bool
	// end stays at the last line while others are added.
	end bool

	find find
}

// row is a part of a line: the bytes of its text from an index on.
type row struct {
	line int
	part draw.Line
}

// find is what is searched for.
type find struct {
	text string
	is   *regexp.Regexp
	// hits are the lines that have it, at is the index of the present one, -1 for none.
	hits []int
	at   int
}

// most is how many lines are kept; when there are a quarter more, the oldest go.
const most = 20_000

// Following returns an empty page that stays at its end.
func Following() Page { return Page{end: true} }

// Set returns the page with another text; where one is stays.
func (p Page) Set(lines []draw.Line) Page {
	p.lines, p.rows = nil, nil
	return p.Add(lines...).search()
}

// Add returns the page with more lines at its end.
func (p Page) Add(lines ...draw.Line) Page {
	for _, l := range lines {
		l = l.Clean()
		p.hit(len(p.lines), l)
		p.rows = append(p.rows, p.broken(len(p.lines), l)...)
		p.lines = append(p.lines, l)
	}
	if len(p.lines) > most+most/4 {
		p.lines = slices.Clone(p.lines[len(p.lines)-most:])
		p = p.lay().search()
	}
	return p.keep()
}

// Size returns the page for a room.
func (p Page) Size(width, height int) Page {
	p.height = max(height, 1)
	if width != p.width {
		p.width = width
		p = p.lay()
	}
	return p.keep()
}

// Len is how many lines there are.
func (p Page) Len() int { return len(p.lines) }

// Text is all lines.
func (p Page) Text() string {
	list := make([]string, len(p.lines))
	for i, l := range p.lines {
		list[i] = l.String()
	}
	return strings.Join(list, "\n")
}

// AtEnd reports whether the page stays at its end.
func (p Page) AtEnd() bool { return p.end }

// Top is the first line that is seen, from 1 on, and Bottom the last one.
func (p Page) Top() int { return p.at(p.top) }

// Bottom is the last line that is seen, from 1 on.
func (p Page) Bottom() int { return p.at(min(p.top+p.height, len(p.rows)) - 1) }

func (p Page) at(row int) int {
	if row < 0 || row >= len(p.rows) {
		return len(p.lines)
	}
	return p.rows[row].line + 1
}

// lay breaks all lines anew; the line at the top stays there.
func (p Page) lay() Page {
	first := p.Top() - 1
	p.rows = make([]row, 0, len(p.lines))
	for i, l := range p.lines {
		if i == first {
			p.top = len(p.rows)
		}
		p.rows = append(p.rows, p.broken(i, l)...)
	}
	return p
}

func (p Page) broken(i int, l draw.Line) []row {
	if !p.fold || l.Width() <= p.room() {
		return []row{{i, l}}
	}
	var out []row
	for _, part := range l.Break(p.room()) {
		out = append(out, row{i, part})
	}
	return out
}

// room leaves a column at the left.
func (p Page) room() int { return max(p.width-1, 1) }

// keep has the page within its text.
func (p Page) keep() Page {
	last := max(len(p.rows)-p.height, 0)
	if p.end {
		p.top = last
	}
	p.top = max(min(p.top, last), 0)
	return p
}

// Like returns the page with the width of lines and the search of another.
func (p Page) Like(other Page) Page {
	p.fold = other.fold
	p.find = find{text: other.find.text, is: other.find.is}
	return p.lay().search().keep()
}
