package tui

import "strings"

// complete puts the next candidate in the place of the last word.
func (c commanding) complete(m Model, forward bool) commanding {
	if c.tabs == 0 {
		c.before = c.Value()
	}
	list := c.candidates(m, c.before)
	if len(list) == 0 {
		return c
	}
	step := 1
	if !forward {
		step = len(list) - 1
	}
	next := commanding{tabs: c.tabs + step, before: c.before}
	head := c.before[:len(c.before)-len(last(c.before))]
	text := head + list[(next.tabs-1)%len(list)]
	if len(list) == 1 {
		text, next.tabs = text+" ", 0
	}
	next.input = newInput(text)
	return next
}

// candidates are the words that may stand where one types: names of commands first,
// then what the command takes.
func (c commanding) candidates(m Model, text string) []string {
	word, first := last(text), text == last(text)
	var list []string
	for _, cmd := range commands(m) {
		switch {
		case first:
			list = append(list, cmd.name)
		case cmd.args != nil && strings.HasPrefix(text, cmd.name+" "):
			list = append(list, cmd.args(m)...)
		}
	}
	return starting(list, word)
}

func starting(list []string, with string) []string {
	var out []string
	for _, s := range list {
		if strings.HasPrefix(s, with) {
			out = append(out, s)
		}
	}
	return out
}

// last is the word that is being typed, empty after a space.
func last(text string) string { return text[strings.LastIndexByte(text, ' ')+1:] }
