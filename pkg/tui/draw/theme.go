package draw

import "github.com/charmbracelet/x/ansi"

// Style is what a piece of text means; the palette gives it a look.
type Style uint8

// The styles.
const (
	Plain Style = iota
	// Faint is what matters less, Strong what matters more.
	Faint
	Strong
	// Title is where one is, Header the names of columns, Key a key to press.
	Title
	Header
	Key
	// Good, Busy, Wait, Warn and Bad are how something is; Wait is for a pause that was
	// planned, which is no fault.
	Good
	Busy
	Wait
	Warn
	Bad
	// Updated and Outdated are revisions of pods, Down is what is not available.
	Updated
	Outdated
	Down
	// Mark is what was marked, Found what a search found.
	Mark
	Found
	// Added and Removed are lines of a difference.
	Added
	Removed
	// Danger is a place where a mistake costs much.
	Danger
	styles
)

// Colors is what a terminal can show.
type Colors uint8

// From nothing to everything.
const (
	// None still has bold, faint and reverse.
	None Colors = iota
	Sixteen
	Many
)

// ThemeOptions say how a terminal is.
type ThemeOptions struct {
	Colors Colors
	// Light is for a light background.
	Light bool
	// ASCII does without symbols beyond it.
	ASCII bool
}

// Theme turns styles into escapes. It never changes.
type Theme struct {
	Symbols Symbols

	options ThemeOptions
	open    [styles]string
	cursor  [styles]string
}

// NewTheme returns the theme for a terminal.
func NewTheme(o ThemeOptions) *Theme {
	t := &Theme{options: o, Symbols: fullSymbols}
	if o.ASCII {
		t.Symbols = asciiSymbols
	}
	for s, l := range looks {
		t.open[s] = l.style(o).escape()
		t.cursor[s] = l.onCursor(o).escape()
	}
	return t
}

// Options are those that the theme was made with.
func (t *Theme) Options() ThemeOptions { return t.options }

// Open is the escape that begins a style, empty for none; Reset ends it.
func (t *Theme) Open(s Style) string { return t.open[s] }

// OnCursor is the escape that begins a style on the line of the cursor.
func (t *Theme) OnCursor(s Style) string { return t.cursor[s] }

// Reset ends every style.
const Reset = ansi.ResetStyle
