// Package pages is the screens of a text: an object as YAML or in words, the log of a container, and
// what two revisions differ in.
package pages

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// Page is text that is longer than the screen, and where one is in it: it scrolls sideways too
// or breaks its lines, follows what is added at its end, and is searched. Its zero value is
// empty.
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

// Copied is all lines as text.
func (p Page) Copied() string {
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

// lay breaks all lines again; the line at the top stays there.
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

// like returns the page with the width of lines and the search of another.
func (p Page) like(other Page) Page {
	p.fold = other.fold
	p.find = find{text: other.find.text, is: other.find.is}
	return p.lay().search().keep()
}

// sideways is how far left and right go.
const sideways = 8

var (
	fold  = screen.Binding{Keys: []string{"w"}, Does: "wrap", Help: "wrap long lines, or not"}
	right = screen.Binding{Keys: []string{"right"}, Help: "scroll right"}
	left  = screen.Binding{Keys: []string{"left"}, Help: "back to the left"}
	next  = screen.Binding{Keys: []string{"n"}, Does: "next", Help: "the next line with what / looks for"}
	prior = screen.Binding{Keys: []string{"N"}, Help: "the one before"}
)

// pageKeys are those of all pages.
func pageKeys() []screen.Binding { return []screen.Binding{next, prior, fold, right, left} }

// after is the page after a search, a turn of the wheel or one of its keys, and whether it was one.
func (p Page) after(msg tea.Msg) (Page, bool) {
	switch msg := msg.(type) {
	case screen.Filter:
		return p.Find(msg.Text), true
	case screen.Wheel:
		return p.Scroll(msg.By), true
	case tea.KeyPressMsg:
		return p.Key(msg.String())
	}
	return p, false
}

// Key returns the page after a key, and whether it is one of a page's.
func (p Page) Key(key string) (Page, bool) {
	switch {
	case fold.Is(key):
		p.fold, p.left = !p.fold, 0
		return p.lay().keep(), true
	case right.Is(key) && !p.fold:
		widest := 0 // of the lines that are seen
		for _, r := range p.seen() {
			widest = max(widest, r.part.Width())
		}
		p.left = min(p.left+sideways, max(widest-p.room(), 0))
		return p, true
	case left.Is(key):
		p.left = max(p.left-sideways, 0)
		return p, true
	case next.Is(key):
		return p.jump(1), true
	case prior.Is(key):
		return p.jump(-1), true
	}
	if key == "space" {
		key = "pgdown"
	}
	by, ok := draw.Moves(key, len(p.rows), p.height)
	if !ok {
		return p, false
	}
	return p.Scroll(by), true
}

// Scroll returns the page so many rows further. A page that stays at its end no longer
// does when one goes up.
func (p Page) Scroll(by int) Page {
	if by < 0 {
		p.end = false
	}
	p.top += by
	return p.keep()
}

// ToEnd returns the page at its end, where it stays or not.
func (p Page) ToEnd(stay bool) Page {
	p.end = stay
	return p.keep()
}

// seen are the rows that are seen.
func (p Page) seen() []row { return p.rows[p.top:min(p.top+p.height, len(p.rows))] }

// Find returns the page at the first line, from the top on, that has a text, in
// whatever case; empty looks for nothing.
func (p Page) Find(text string) Page {
	p.find = find{text: text}
	if text == "" {
		return p
	}
	p.find.is = regexp.MustCompile("(?i)" + regexp.QuoteMeta(text))
	p = p.search()
	if len(p.find.hits) == 0 {
		return p
	}
	first, _ := slices.BinarySearch(p.find.hits, p.Top()-1)
	p.find.at = first - 1
	return p.jump(1)
}

// Filtered is what is looked for.
func (p Page) Filtered() string { return p.find.text }

// Found reports which of how many lines one is at.
func (p Page) Found() string {
	switch n := len(p.find.hits); {
	case p.find.text == "":
		return ""
	case n == 0:
		return "/" + p.find.text + " is nowhere"
	default:
		return fmt.Sprintf("/%s %d of %d", p.find.text, p.find.at+1, n)
	}
}

// search goes over all lines again.
func (p Page) search() Page {
	p.find.hits = nil
	for i, l := range p.lines {
		p.hit(i, l)
	}
	p.find.at = min(p.find.at, max(len(p.find.hits)-1, 0))
	return p
}

func (p *Page) hit(i int, l draw.Line) {
	if p.find.is != nil && p.find.is.MatchString(l.String()) {
		p.find.hits = append(p.find.hits, i)
	}
}

// jump goes to another line that has what is looked for, around the ends too.
func (p Page) jump(by int) Page {
	n := len(p.find.hits)
	if n == 0 {
		return p
	}
	p.find.at = (p.find.at + by + n) % n
	line := p.find.hits[p.find.at]
	at := slices.IndexFunc(p.rows, func(r row) bool { return r.line == line })
	if at < p.top || at >= p.top+p.height {
		p.end = false
		p.top = at - p.height/3
	}
	return p.keep()
}

// Draw is the rows that are seen, with what is looked for marked.
func (p Page) Draw(th *draw.Theme) []draw.Line {
	var out []draw.Line
	for _, r := range p.seen() {
		gutter := draw.Text(draw.Plain, " ")
		if len(p.find.hits) > 0 && p.find.hits[p.find.at] == r.line { // the search is at it
			gutter = draw.Text(draw.Title, th.Symbols.Cursor)
		}
		out = append(out, gutter.Join(p.marked(r.part).From(p.left)))
	}
	return out
}

// marked is a line with what is looked for in the style of what was found.
func (p Page) marked(l draw.Line) draw.Line {
	if p.find.is == nil {
		return l
	}
	out := draw.Line{}
	hits := p.find.is.FindAllStringIndex(l.String(), -1)
	at := 0
	for _, s := range l.Spans {
		out = out.Join(split(s, at, hits))
		at += len(s.Text)
	}
	return out
}

// split divides a span that begins at an index of its line where hits begin and end.
func split(s draw.Span, at int, hits [][]int) draw.Line {
	var out draw.Line
	done := 0
	for _, h := range hits {
		from, to := max(h[0]-at, done), min(h[1]-at, len(s.Text))
		if from >= to {
			continue
		}
		out = out.Add(s.Style, s.Text[done:from]).Add(draw.Found, s.Text[from:to])
		done = to
	}
	return out.Add(s.Style, s.Text[done:])
}

// Place is where one is: what is searched for, and which lines are seen.
func (p Page) Place() draw.Line {
	l := draw.Text(draw.Key, " "+p.Found()+" ")
	if p.Len() == 0 {
		return l
	}
	return l.Add(draw.Faint, fmt.Sprintf(" %d-%d of %d ", p.Top(), p.Bottom(), p.Len()))
}
