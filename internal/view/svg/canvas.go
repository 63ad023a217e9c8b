package svg

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// canvas gathers the elements of a picture. Colours are given twice: as
// attributes for readers without style sheets, and as classes for a dark ground.
type canvas struct{ strings.Builder }

const font = `ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', Arial, sans-serif`

// dark overrides the attributes where the viewer prefers a dark ground.
const dark = `@media (prefers-color-scheme: dark) {
.bg { fill: #0d1117 } .fg { fill: #e6edf3 } .muted { fill: #9198a1 }
.grid { stroke: #2a313c } .axis { stroke: #656c76 }
.new { fill: #4493f8 } .old { fill: #57606c } .down { fill: #f0883e }
.rim { stroke: #0d1117 } .wanted { stroke: #e6edf3 } .least { stroke: #ff7b72 } .warn { fill: #ff7b72 }
.even { fill: #21262d } .odd { fill: #343b45 } .mark { stroke: #656c76 } .break { fill: #0d1117 }
}`

// light are the attributes of each class.
var light = map[string]string{
	"bg": `fill="#ffffff"`, "fg": `fill="#1f2328"`, "muted": `fill="#59636e"`,
	"title": `font-size="17" font-weight="600"`, "small": `font-size="11"`,
	"end": `text-anchor="end"`, "middle": `text-anchor="middle"`,
	"grid": `stroke="#d8dee4"`, "axis": `stroke="#818b98"`,
	"new": `fill="#1f6feb"`, "old": `fill="#b1bac4"`, "down": `fill="#e36209"`,
	"wanted": `stroke="#1f2328" stroke-width="1.2" fill="none"`,
	"rim":    `stroke="#ffffff" stroke-width="4" stroke-opacity="0.55"`,
	"least":  `stroke="#cf222e" stroke-width="1.4" stroke-dasharray="6 4"`, "warn": `fill="#cf222e"`,
	"even": `fill="#eaeef2"`, "odd": `fill="#d4dbe2"`,
	"mark":  `stroke="#818b98" stroke-dasharray="2 3"`,
	"break": `fill="#ffffff" fill-opacity="0.75"`,
}

// attributes writes the classes of an element with their attributes.
func attributes(classes string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ` class="%s"`, classes)
	for name := range strings.FieldsSeq(classes) {
		b.WriteString(" " + light[name])
	}
	return b.String()
}

// put writes markup; writing to a Builder never fails.
func (c *canvas) put(format string, args ...any) { _, _ = fmt.Fprintf(c, format, args...) }

// open begins the picture. Its title and description are read aloud.
func (c *canvas) open(height int, title, description string) {
	c.put(`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="kk-title kk-desc" font-family="%[3]s" font-size="12">`, width, height, font)
	c.put("\n<title id=\"kk-title\">%s</title>\n<desc id=\"kk-desc\">%s</desc>\n<style>%s</style>\n", escape(title), escape(description), dark)
	c.put("<rect%s width=\"%d\" height=\"%d\" rx=\"8\"/>\n", attributes("bg"), width, height)
}

func (c *canvas) text(x, y float64, classes, s string) {
	c.put("<text%s x=\"%s\" y=\"%s\">%s</text>\n", attributes(classes), number(x), number(y), escape(s))
}

func (c *canvas) line(x1, y1, x2, y2 float64, classes string) {
	c.put("<line%s x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\"/>\n", attributes(classes), number(x1), number(y1), number(x2), number(y2))
}

// rect draws a box with a hint that shows when the pointer rests on it; the hint
// may be empty.
func (c *canvas) rect(x, y, w, h float64, classes, hint string) {
	c.put("<rect%s x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"", attributes(classes), number(x), number(y), number(w), number(h))
	if hint == "" {
		c.put("/>\n")
		return
	}
	c.put("><title>%s</title></rect>\n", escape(hint))
}

func (c *canvas) path(classes string, d *strings.Builder) {
	c.put("<path%s d=\"%s\"/>\n", attributes(classes), d.String())
}

// number writes a coordinate with at most one decimal.
func number(v float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}

// escape makes text safe inside elements; what XML cannot hold becomes U+FFFD.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // writing to a Builder never fails
	return b.String()
}

// fit shortens text to about so many pixels at 12 px; letters are some 6.6 wide.
func fit(s string, pixels float64) string {
	runes, most := []rune(s), int(pixels/6.6)
	if len(runes) <= most {
		return s
	}
	if most < 2 {
		return ""
	}
	return string(runes[:most-1]) + "…"
}
