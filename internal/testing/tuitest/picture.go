package tuitest

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Sizes of a picture's cells, and the colours of a dark terminal.
const (
	cellWidth, cellHeight = 8.4, 18.0
	margin                = 12.0
	paper, ink            = "#0f141a", "#d7dce3"
)

// sheet is what all pictures begin with, behind their size: the paper, and the type.
const sheet = `<rect width="100%" height="100%" rx="8" fill="` + paper + `"/>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" fill="` + ink + `">
`

// Picture is a frame as an SVG image, the same bytes for the same frame.
func Picture(frame string) string {
	lines := strings.Split(frame, "\n")
	width := 0
	for _, l := range lines {
		width = max(width, ansi.StringWidth(l))
	}
	var b strings.Builder
	w, h := float64(width)*cellWidth+2*margin, float64(len(lines))*cellHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.1f %.1f" width="%.0f" height="%.0f">`+"\n", w, h, w, h)
	b.WriteString(sheet)
	for y, l := range lines {
		pen{}.line(&b, l, margin+float64(y)*cellHeight)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// pen is how text is written.
type pen struct {
	color, ground        string
	bold, faint, reverse bool
}

var sgr = regexp.MustCompile(`\x1b\[([0-9;]*)m`)

// line writes the runs of a line that have one look each.
func (p pen) line(b *strings.Builder, line string, top float64) {
	at, column := 0, 0
	for _, m := range append(sgr.FindAllStringSubmatchIndex(line, -1), []int{len(line), len(line), 0, 0}) {
		column = p.run(b, line[at:m[0]], column, top)
		p, at = p.after(line[m[2]:m[3]]), m[1]
	}
}

// run writes text from a column on, and returns the column after it.
func (p pen) run(b *strings.Builder, text string, column int, top float64) int {
	text = ansi.Strip(text)
	cells := ansi.StringWidth(text)
	x, width := margin+float64(column)*cellWidth, float64(cells)*cellWidth
	color, ground := p.color, p.ground
	if p.reverse {
		color, ground = paper, ink
		if p.color != "" {
			ground = p.color
		}
	}
	if ground != "" && cells > 0 {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, top, width, cellHeight, ground)
	}
	for _, m := range words.FindAllStringIndex(text, -1) {
		word := text[m[0]:m[1]]
		x := margin + float64(column+ansi.StringWidth(text[:m[0]]))*cellWidth
		fmt.Fprintf(b, `<text xml:space="preserve" x="%.1f" y="%.1f" textLength="%.1f"%s>%s</text>`+"\n",
			x, top+13.5, float64(ansi.StringWidth(word))*cellWidth, p.attributes(color), html.EscapeString(word))
	}
	return column + cells
}

// words are parts of a text without two spaces in a row: each is placed by its column, so that it is where it
// belongs even where a reader of SVG drops blanks. The style of browsers for <text> overrides what a <g> says of them.
var words = regexp.MustCompile(`\S+( \S+)*`)

func (p pen) attributes(color string) string {
	out := ""
	if color != "" {
		out += ` fill="` + color + `"`
	}
	if p.bold {
		out += ` font-weight="bold"`
	}
	if p.faint {
		out += ` opacity="0.6"`
	}
	return out
}

// after is the pen that a sequence of attributes makes of it.
func (p pen) after(attributes string) pen {
	parts := strings.Split(attributes, ";")
	for i := 0; i < len(parts); i++ {
		switch parts[i] {
		case "", "0":
			p = pen{}
		case "1":
			p.bold = true
		case "2":
			p.faint = true
		case "7":
			p.reverse = true
		case "31", "32", "33":
			p.color = map[string]string{"31": "#ff7f4d", "32": "#5fd38d", "33": "#f0c674"}[parts[i]]
		case "38", "48":
			color := rgb(parts[i+1:])
			if parts[i] == "38" {
				p.color = color
			} else {
				p.ground = color
			}
			i += 4
		}
	}
	return p
}

// rgb reads 2;R;G;B.
func rgb(parts []string) string {
	if len(parts) < 4 {
		return ""
	}
	var c [3]int
	for i, part := range parts[1:4] {
		c[i], _ = strconv.Atoi(part)
	}
	return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2])
}
