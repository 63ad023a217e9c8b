package draw

import (
	"cmp"
	"slices"
)

// Column is one column of a table.
type Column struct {
	Title string
	// Width is what it would like to have, Min what it can do with; 0 is Width.
	Width, Min int
	// Right aligns it at its right.
	Right bool
	// Give is who gives way for want of room: the highest first. Those with Keep
	// shrink, but are never left out.
	Give int
	Keep bool
}

// Table draws rows. It asks only for those that are seen, so it costs the same for
// ten rows and ten thousand.
type Table struct {
	Columns []Column
	Rows    int
	Window  Window
}

// RowFunc returns the cells of a row, one per column, and whether it is marked.
type RowFunc func(i int) (cells []Line, marked bool)

// gap is between two columns, gutter before the first: it has cursor and mark. Short
// is a column that has no room to say that it was cut.
const (
	gap    = 2
	gutter = 2
	short  = 2
)

// Draw returns the header and the rows that fit.
func (t Table) Draw(th *Theme, width, height int, row RowFunc) []Line {
	widths := fit(t.Columns, width-gutter)
	lines := []Line{t.header(widths, th)}
	for i := t.Window.Top; i < min(t.Window.Top+height-1, t.Rows); i++ {
		lines = append(lines, t.row(i, widths, th, row))
	}
	return lines
}

func (t Table) header(widths []int, th *Theme) Line {
	l := Text(Header, Spaces(gutter))
	for i, c := range t.Columns {
		if widths[i] > 0 {
			title := c.Title
			if widths[i] <= short && Width(title) > widths[i] { // letters of it say nothing
				title = ""
			}
			l = l.cell(Text(Header, title), c, widths[i], th)
		}
	}
	return l.ended()
}

func (t Table) row(i int, widths []int, th *Theme, row RowFunc) Line {
	l := Line{Cursor: i == t.Window.At, Spans: make([]Span, 0, 4*len(widths))}
	pointer, mark := Span{" ", Plain}, Span{" ", Plain}
	if l.Cursor {
		pointer = Span{th.Symbols.Cursor, Title}
	}
	cells, marked := row(i)
	if marked {
		mark = Span{th.Symbols.Mark, Mark}
	}
	l.Spans = append(l.Spans, pointer, mark)
	for c, cell := range cells {
		if widths[c] > 0 {
			l = l.cell(cell, t.Columns[c], widths[c], th)
		}
	}
	return l.ended()
}

// ended is a row without the gap behind its last column, for which there may be no room.
func (l Line) ended() Line {
	if n := len(l.Spans) - 1; n > 0 && l.Spans[n].Text == Spaces(gap) {
		l.Spans = l.Spans[:n]
	}
	return l
}

func (l Line) cell(cell Line, c Column, width int, th *Theme) Line {
	if c.Right {
		l.Spans = append(l.Spans, Span{Spaces(width - cell.Width()), Plain})
		width = min(width, cell.Width())
	}
	ellipsis := th.Symbols.Ellipsis
	if width <= short {
		ellipsis = ""
	}
	l.Spans = append(l.Spans, cell.Fit(width, ellipsis).Spans...)
	l.Spans = append(l.Spans, Span{Spaces(gap), Plain})
	return l
}

// fit gives each column its width, 0 where it is left out.
func fit(columns []Column, room int) []int {
	least, widths := make([]int, len(columns)), make([]int, len(columns))
	for i, c := range columns {
		least[i], widths[i] = c.least(), c.Width
	}
	order := giving(columns)
	for _, i := range order {
		if sum(least) > room && !columns[i].Keep {
			least[i], widths[i] = 0, 0
		}
	}
	excess := sum(widths) - room
	for _, i := range order {
		take := min(max(excess, 0), widths[i]-least[i])
		widths[i] -= take
		excess -= take
	}
	return widths
}

// giving are columns in the order in which they give way.
func giving(columns []Column) []int {
	order := make([]int, len(columns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(columns[b].Give, columns[a].Give) })
	return order
}

func (c Column) least() int {
	if c.Min > 0 {
		return min(c.Min, c.Width)
	}
	return c.Width
}

// sum is how many columns of the terminal widths take.
func sum(widths []int) int {
	n := -gap
	for _, w := range widths {
		if w > 0 {
			n += w + gap
		}
	}
	return n
}

// Window is which of many rows are seen, and at which one is. Its zero value is at
// the first.
type Window struct {
	// At is the row of the cursor, Top the first that is seen.
	At, Top int
}

// Move returns the window with the cursor moved by so many rows.
func (w Window) Move(by, rows, height int) Window {
	w.At += by
	return w.Keep(rows, height)
}

// Keep returns the window with the cursor on a row that there is, and in sight.
func (w Window) Keep(rows, height int) Window {
	w.At = max(min(w.At, rows-1), 0)
	w.Top = max(min(w.Top, w.At, rows-height), w.At-height+1, 0)
	return w
}

// Key returns the window after a key that moves in lists, and whether it is one.
func (w Window) Key(key string, rows, height int) (Window, bool) {
	by, ok := Moves(key, rows, height)
	if !ok {
		return w, false
	}
	return w.Move(by, rows, height), true
}

// Moves is by how many rows a key moves, and whether it is one that does.
func Moves(key string, rows, height int) (by int, ok bool) {
	by, ok = map[string]int{
		"up": -1, "k": -1, "down": 1, "j": 1,
		"pgup": -height, "ctrl+b": -height, "pgdown": height, "ctrl+f": height,
		"ctrl+u": -max(height/2, 1), "ctrl+d": max(height/2, 1),
		"home": -rows, "g": -rows, "end": rows, "G": rows,
	}[key]
	return by, ok
}
