package page

import "github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"

// sideways is how far left and right go.
const sideways = 8

var (
	fold  = screen.Binding{Keys: []string{"w"}, Does: "wrap", Help: "wrap long lines, or not"}
	right = screen.Binding{Keys: []string{"right"}, Help: "scroll right"}
	left  = screen.Binding{Keys: []string{"left"}, Help: "back to the left"}
	next  = screen.Binding{Keys: []string{"n"}, Does: "next", Help: "the next line with what / looks for"}
	prior = screen.Binding{Keys: []string{"N"}, Help: "the one before"}
)

// Keys are those of all pages.
func Keys() []screen.Binding { return []screen.Binding{next, prior, fold, right, left} }

// Key returns the page after a key, and whether it is one of a page's.
func (p Page) Key(key string) (Page, bool) {
	switch {
	case fold.Is(key):
		p.fold, p.left = !p.fold, 0
		return p.lay().keep(), true
	case right.Is(key) && !p.fold:
		p.left = min(p.left+sideways, max(p.widest()-p.room(), 0))
		return p, true
	case left.Is(key):
		p.left = max(p.left-sideways, 0)
		return p, true
	case next.Is(key):
		return p.jump(1), true
	case prior.Is(key):
		return p.jump(-1), true
	}
	by, ok := map[string]int{
		"up": -1, "k": -1, "down": 1, "j": 1,
		"pgup": -p.height, "ctrl+b": -p.height, "pgdown": p.height, "ctrl+f": p.height, "space": p.height,
		"ctrl+u": -max(p.height/2, 1), "ctrl+d": max(p.height/2, 1),
		"home": -len(p.rows), "g": -len(p.rows), "end": len(p.rows), "G": len(p.rows),
	}[key]
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

// widest is the width of the widest line that is seen.
func (p Page) widest() int {
	n := 0
	for _, r := range p.rows[p.top:min(p.top+p.height, len(p.rows))] {
		n = max(n, r.part.Width())
	}
	return n
}
