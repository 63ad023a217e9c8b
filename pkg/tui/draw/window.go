package draw

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
	by, ok := map[string]int{
		"up": -1, "k": -1, "down": 1, "j": 1,
		"pgup": -height, "ctrl+b": -height, "pgdown": height, "ctrl+f": height,
		"ctrl+u": -max(height/2, 1), "ctrl+d": max(height/2, 1),
		"home": -rows, "g": -rows, "end": rows, "G": rows,
	}[key]
	if !ok {
		return w, false
	}
	return w.Move(by, rows, height), true
}
