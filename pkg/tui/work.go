package tui

import "slices"

// works is what is carried out in the background, the newest last; count is of all that ever was.
type works struct {
	running []work
	count   int
}

// work is something that is carried out in the background; its number tells its end from that of others.
type work struct {
	number int
	text   string
}

// begin returns the works with another one, and its number.
func (w works) begin(text string) (works, int) {
	w.count++
	w.running = append(slices.Clip(w.running), work{w.count, text})
	return w, w.count
}

// end returns the works without the one of a number.
func (w works) end(number int) works {
	w.running = slices.DeleteFunc(slices.Clone(w.running), func(w work) bool { return w.number == number })
	return w
}
