package draw

// Symbols say without colour what the palette says with it. Each is one column wide.
type Symbols struct {
	Healthy, Busy, Aborted, Paused, Degraded, Blocked, Unknown string
	// New, Old and Down fill bars and grids; NewDown is a new pod that is not
	// available, Leaving one that goes, Empty a place without one.
	New, Old, Down, NewDown, Leaving, Empty string
	// Cursor points at a line, Mark is on marked ones, Crumb lies between two
	// breadcrumbs.
	Cursor, Mark, Crumb string
	// Up and Less are the directions of a sort.
	Up, Less string
	// Done, Now and Next are steps of a ladder, Pause one that waits for a person.
	Done, Now, Next, Pause string
	Dot, Rule, Ellipsis    string
	// Frame are corners and edges of a box: top left, top right, bottom left, bottom
	// right, across, down.
	Frame [6]string
	// Spin are the pictures of something that is waited for.
	Spin []string
}

var fullSymbols = Symbols{
	Healthy: "✓", Busy: "◐", Aborted: "⊘", Paused: "‖", Degraded: "▲", Blocked: "✖", Unknown: "?",
	New: "█", Old: "▒", Down: "×", NewDown: "▣", Leaving: "◌", Empty: "·",
	Cursor: "›", Mark: "◆", Crumb: "›", Up: "↑", Less: "↓",
	Done: "✓", Now: "▶", Next: "○", Pause: "‖",
	Dot: "·", Rule: "─", Ellipsis: "…",
	Frame: [6]string{"╭", "╮", "╰", "╯", "─", "│"},
	Spin:  []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"},
}

var asciiSymbols = Symbols{
	Healthy: "+", Busy: "~", Aborted: "/", Paused: "=", Degraded: "!", Blocked: "X", Unknown: "?",
	New: "#", Old: "o", Down: "x", NewDown: "%", Leaving: "-", Empty: ".",
	Cursor: ">", Mark: "*", Crumb: ">", Up: "^", Less: "v",
	Done: "+", Now: ">", Next: ".", Pause: "=",
	Dot: ".", Rule: "-", Ellipsis: "~",
	Frame: [6]string{"+", "+", "+", "+", "-", "|"},
	Spin:  []string{"|", "/", "-", "\\"},
}

// SymbolsFor are the symbols of a terminal with Unicode, or of one without: what is printed
// by other programs than the interface has its marks.
func SymbolsFor(isASCII bool) Symbols {
	if isASCII {
		return asciiSymbols
	}
	return fullSymbols
}
