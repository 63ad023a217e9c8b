package draw

// Clean returns the line without what would do something to a terminal.
func (l Line) Clean() Line { return l.clean() }

// From returns what a line has from a column on.
func (l Line) From(column int) Line {
	if column <= 0 {
		return l
	}
	out := Line{Cursor: l.Cursor}
	for _, s := range l.Spans {
		before := Cut(s.Text, column, "")
		column -= Width(before)
		if rest := s.Text[len(before):]; rest != "" {
			column = 0
			out.Spans = append(out.Spans, Span{rest, s.Style})
		}
	}
	return out
}

// Break returns a line as several of at most so many columns. The line is clean.
func (l Line) Break(width int) []Line {
	var out []Line
	part, left := Line{}, width
	for _, s := range l.Spans {
		for text := s.Text; text != ""; {
			fits := Cut(text, left, "")
			if fits == "" && left < width {
				out, part, left = append(out, part), Line{}, width
				continue
			}
			if fits == "" { // a letter that is wider than the room
				fits = text
			}
			part, left, text = part.Add(s.Style, fits), left-Width(fits), text[len(fits):]
		}
	}
	return append(out, part)
}
