package text

import (
	"io"
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Folding is as [Writer], for a terminal of so many columns: a line that is longer is broken between
// words, and its rest is indented. A command stays in one line, because it is copied. 0 columns are no terminal.
func Folding(w io.Writer, columns int) io.Writer {
	if _, ours := w.(*writer); ours || columns < leastColumns {
		return Writer(w)
	}
	return &writer{to: w, columns: columns}
}

// leastColumns is how wide a terminal is at least for which lines are broken here.
const leastColumns = 20

// Columns is where the lines of a writer are broken, 0 for nowhere.
func Columns(w io.Writer) int {
	if ours, ok := w.(interface{ Columns() int }); ok {
		return ours.Columns()
	}
	return 0
}

// Columns is where lines are broken (see [Folding]).
func (w *writer) Columns() int { return w.columns }

// Whole is a line that is never broken: a value that is shown as it is written elsewhere.
func Whole(s string) string { return whole + s }

// whole begins such a line: to a terminal it is the font that it has.
var whole = brush + wholeMark

const wholeMark = "[10m"

// fold breaks the lines of s, of which the first is the rest of one if rest is true.
func fold(s string, columns int, rest bool) string {
	lines := strings.SplitAfter(s, "\n")
	for i, line := range lines {
		plain := strings.Replace(line, "\x1b"+wholeMark, "", 1)
		if columns > 0 && (i > 0 || !rest) && len(plain) == len(line) && !strings.Contains(line, "\t") {
			plain = foldLine(line, columns)
		}
		lines[i] = plain
	}
	return strings.Join(lines, "")
}

// foldLine breaks one line at its spaces.
func foldLine(line string, columns int) string {
	if len(line) <= columns || ansi.StringWidth(line) <= columns {
		return line
	}
	hang := hanging(ansi.Strip(line), columns)
	var b strings.Builder
	var at, word int // columns so far, and where the present word begins in line
	for _, end := range append(gaps(line), len(line)) {
		text := line[word:end]
		width := ansi.StringWidth(text)
		if unspaced := strings.TrimLeft(text, " "); at > hang && at+width > columns && unspaced != "" {
			b.WriteString("\n" + strings.Repeat(" ", hang))
			text, width, at = unspaced, ansi.StringWidth(unspaced), hang
		}
		b.WriteString(text)
		at, word = at+width, end
	}
	return b.String()
}

// copied is what is copied: in quotes, or all that follows.
var copied = regexp.MustCompile(`'kubectl [^']*'|(?:^|: ) *kubectl .*`)

// gaps are the places at which a line may be broken: the beginnings of its blanks, but for those of commands
// and before the first word.
func gaps(line string) []int {
	var out []int
	commands := copied.FindAllStringIndex(line, -1)
	for i := 1; i < len(line); i++ {
		if line[i] != ' ' || line[i-1] == ' ' {
			continue
		}
		for len(commands) > 0 && commands[0][1] <= i {
			commands = commands[1:]
		}
		if len(commands) == 0 || i <= commands[0][0] {
			out = append(out, i)
		}
	}
	return out
}

// label is the beginning of a line below which its rest is not written: blanks, the mark of a list, a name
// that ends with a colon and has one blank after it.
var label = regexp.MustCompile(`^ *(?:[^\pL\pN\s"'(]{1,2} |\d+[.)] )?(?:hint: |error: |warning: )?`)

// hanging is where the rest of a line is written: below its last column where it has any, below its text
// after a label, or two more to the right.
func hanging(line string, columns int) int {
	begin := ansi.StringWidth(label.FindString(line))
	head := ansi.Truncate(line, columns/2, "")
	if i := strings.LastIndex(strings.TrimRight(head, " "), "  "); i >= 0 && strings.TrimSpace(head[:i]) != "" {
		return ansi.StringWidth(head[:i+2])
	}
	if begin > len(line)-len(strings.TrimLeft(line, " ")) {
		return begin
	}
	return begin + 2
}
