package tui

import "slices"

// work is something that goes on behind; its number tells its end from that of others.
type work struct {
	number int
	text   string
}

// begun is the model with more that goes on, and the number of it.
func (m Model) begun(text string) (Model, int) {
	m.works++
	m.working = append(slices.Clip(m.working), work{m.works, text})
	return m, m.works
}

// ended is the model without what had a number.
func (m Model) ended(number int) Model {
	m.working = slices.DeleteFunc(slices.Clone(m.working), func(w work) bool { return w.number == number })
	return m
}
