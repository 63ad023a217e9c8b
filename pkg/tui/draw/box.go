package draw

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// widest is how wide a box gets.
const widest = 76

// BoxWidth is the room in a box on so wide a screen.
func BoxWidth(width int) int { return max(min(width-6, widest), 10) }

// Box draws lines in a box in the middle of others, which become faint.
func Box(t *Theme, under []Line, title string, lines []Line, width, height int) []Line {
	inner := BoxWidth(width)
	f := t.Symbols.Frame
	head := Text(Key, f[0]+f[4]+" ").Add(Title, title).Add(Key, " "+strings.Repeat(f[4], max(inner-Width(title)-1, 0))+f[1])
	box := []Line{head}
	for _, l := range lines[:min(len(lines), max(height-2, 0))] {
		box = append(box, Text(Key, f[5]+" ").Join(l.Fit(inner, t.Symbols.Ellipsis)).Add(Key, " "+f[5]))
	}
	box = append(box, Text(Key, f[2]+strings.Repeat(f[4], inner+2)+f[3]))
	out := make([]Line, height)
	for i := range min(len(under), height) {
		out[i] = Text(Faint, strings.TrimRight(under[i].String(), " ")) // as one text it is cut like one
	}
	top, left := max((height-len(box))/2, 0), max((width-inner-4)/2, 0)
	for i, l := range box {
		if top+i < len(out) {
			out[top+i] = Text(Plain, Spaces(left)).Join(l)
		}
	}
	return out
}

// hyphen is one at which no line ends.
const hyphen = "\u2011"

// Wrap breaks a text into lines of so many columns, between words where it can: names of pods and flags have hyphens, and
// are to be copied whole.
func Wrap(style Style, text string, width int) []Line {
	var out []Line
	for line := range strings.Lines(text) {
		clean := Clean(strings.TrimRight(line, "\r\n"))
		if !slices.ContainsFunc(strings.Fields(clean), func(word string) bool { return Width(word) > width }) {
			clean = strings.ReplaceAll(clean, "-", hyphen)
		}
		for l := range strings.SplitSeq(ansi.Wrap(clean, max(width, 1), ""), "\n") {
			out = append(out, Text(style, strings.ReplaceAll(l, hyphen, "-")))
		}
	}
	return out
}

// Hang breaks a text as [Wrap] does: its first line follows a head, and the others are indented as far.
func Hang(head Line, style Style, text string, width int) []Line {
	lines := Wrap(style, text, width)
	for i, l := range lines {
		if i == 1 {
			head = Text(Plain, Spaces(head.Width()))
		}
		lines[i] = head.Join(l)
	}
	return lines
}

// Indented breaks a text as [Wrap] does, below something.
func Indented(columns int, style Style, text string, width int) []Line {
	return Hang(Text(Plain, Spaces(columns)), style, text, width)
}

// Beside draws lines at the left and at the right of each other, the left ones in so many columns.
func Beside(left, right []Line, width int, ellipsis string) []Line {
	out := make([]Line, max(len(left), len(right)))
	left, right = Exactly(left, len(out)), Exactly(right, len(out))
	for i := range out {
		out[i] = left[i].Fit(width-1, ellipsis).Add(Plain, " ").Join(right[i])
	}
	return out
}

// Part is one part of a bar.
type Part struct {
	Count  int
	Symbol string
	Style  Style
}

// Bar draws parts side by side in so many columns. Every part that is not empty has
// at least one, however small, since one bad pod of a thousand is what matters.
func Bar(width int, parts ...Part) Line {
	total := 0
	for _, p := range parts {
		total += max(p.Count, 0)
	}
	if total == 0 || width <= 0 {
		return Text(Faint, Spaces(width))
	}
	columns := shares(width, total, parts)
	var l Line
	for i, p := range parts {
		if columns[i] > 0 {
			l = l.Add(p.Style, strings.Repeat(p.Symbol, columns[i]))
		}
	}
	return l
}

// shares divides columns among parts; what rounding makes too much is taken from the
// largest.
func shares(width, total int, parts []Part) []int {
	columns := make([]int, len(parts))
	sum, largest := 0, 0
	for i, p := range parts {
		if p.Count > 0 {
			columns[i] = max(p.Count*width/total, 1)
		}
		sum += columns[i]
		if columns[i] > columns[largest] {
			largest = i
		}
	}
	columns[largest] = max(columns[largest]+width-sum, 0)
	return columns
}
