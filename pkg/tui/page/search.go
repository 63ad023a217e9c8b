package page

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

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

// Finding is what is looked for.
func (p Page) Finding() string { return p.find.text }

// Found says which of how many lines one is at.
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

// search goes over all lines anew.
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
