package svg

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// column is how the pods stand from a place on.
type column struct {
	x              float64
	new, old, down int
}

func (c column) available() int { return c.new + c.old }

// columns turns samples into places. Where several samples fall onto one pixel,
// the worst of them and the last are kept, so that no dip is lost.
func columns(samples []simulate.Sample, x timeScale, end time.Duration) []column {
	var out []column
	for _, s := range samples {
		c := column{x: x.at(s.At), new: s.New, old: s.Old, down: s.OldDown + s.NewDown}
		n := len(out)
		switch {
		case n >= 2 && c.x-out[n-2].x < 1: // two are kept already
			if out[n-1].available() < out[n-2].available() {
				out[n-2] = column{out[n-2].x, out[n-1].new, out[n-1].old, out[n-1].down}
			}
			out[n-1] = c
		default:
			out = append(out, c)
		}
	}
	if n := len(out); n > 0 {
		last := out[n-1]
		last.x = x.at(end)
		out = append(out, last)
	}
	return out
}

// areas draws the pods, new ones at the bottom, those that are down on top: so the
// upper edge of the old ones is how many are available.
func (c *canvas) areas(list []column, y podScale) {
	if len(list) == 0 {
		return
	}
	zero := func(column) int { return 0 }
	added := func(c column) int { return c.new }
	all := func(c column) int { return c.available() + c.down }
	c.area("new", list, y, zero, added)
	c.area("old", list, y, added, column.available)
	c.area("down", list, y, column.available, all)
}

// area draws what lies between two edges; nothing when they are the same.
func (c *canvas) area(class string, list []column, y podScale, lower, upper func(column) int) {
	var d strings.Builder
	for i := 0; i < len(list)-1; i++ {
		if lower(list[i]) == upper(list[i]) {
			continue
		}
		j := i
		for j < len(list)-1 && lower(list[j]) != upper(list[j]) {
			j++
		}
		closed(&d, list[i:j+1], y, lower, upper)
		i = j
	}
	if d.Len() > 0 {
		c.path(class, &d)
	}
}

// closed draws one closed shape in steps; the last column only ends it.
func closed(d *strings.Builder, list []column, y podScale, lower, upper func(column) int) {
	fmt.Fprintf(d, "M%s %s", number(list[0].x), number(y.at(upper(list[0]))))
	for i := 1; i < len(list); i++ {
		fmt.Fprintf(d, "H%s", number(list[i].x))
		if i < len(list)-1 && upper(list[i]) != upper(list[i-1]) {
			fmt.Fprintf(d, "V%s", number(y.at(upper(list[i]))))
		}
	}
	fmt.Fprintf(d, "V%s", number(y.at(lower(list[len(list)-2]))))
	for i := len(list) - 2; i >= 0; i-- {
		fmt.Fprintf(d, "H%s", number(list[i].x))
		if i > 0 && lower(list[i]) != lower(list[i-1]) {
			fmt.Fprintf(d, "V%s", number(y.at(lower(list[i-1]))))
		}
	}
	d.WriteString("Z")
}

// wanted draws how many pods there should be.
func (c *canvas) wanted(samples []simulate.Sample, x timeScale, y podScale, end time.Duration) {
	var d strings.Builder
	for i, s := range samples {
		switch {
		case i == 0:
			fmt.Fprintf(&d, "M%s %s", number(x.at(s.At)), number(y.at(s.Wanted)))
		case s.Wanted != samples[i-1].Wanted:
			fmt.Fprintf(&d, "H%sV%s", number(x.at(s.At)), number(y.at(s.Wanted)))
		}
	}
	if d.Len() > 0 {
		fmt.Fprintf(&d, "H%s", number(x.at(end)))
		c.path("wanted", &d)
	}
}

// least draws how many pods must be available, with a rim that sets the line off
// from the areas.
func (c *canvas) least(pods int, y podScale) {
	if pods >= 0 {
		c.line(left, y.at(pods), right, y.at(pods), "rim")
		c.line(left, y.at(pods), right, y.at(pods), "least")
	}
}
