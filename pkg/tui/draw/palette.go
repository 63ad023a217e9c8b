package draw

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"
)

// look is a style on every kind of terminal. Colours are of the 256 that most terminals
// have, so that nothing is drawn in another one than here.
type look struct {
	dark, light uint32
	// onDark and onLight take their place on the line of the cursor, where the others are
	// does not contrast with its background well enough; 0 is the same.
	onDark, onLight uint32
	// sixteen is the colour of a terminal that has no others; 0 is its own.
	sixteen              ansi.BasicColor
	bold, faint, reverse bool
}

var looks = [styles]look{
	Faint:    {dark: 0x949494, light: 0x6c6c6c, onDark: 0xafafaf, onLight: 0x585858, sixteen: ansi.BrightBlack, faint: true},
	Strong:   {bold: true},
	Title:    {dark: 0x5fafff, light: 0x005f87, sixteen: ansi.Cyan, bold: true},
	Header:   {dark: 0xa8a8a8, light: 0x4e4e4e, bold: true},
	Key:      {dark: 0x5fafff, light: 0x005f87, sixteen: ansi.Cyan},
	Good:     {dark: 0x5fd7af, light: 0x005f00, sixteen: ansi.Green},
	Busy:     {dark: 0x5fafff, light: 0x005faf, sixteen: ansi.Cyan},
	Wait:     {dark: 0xaf87ff, light: 0x5f00d7, onDark: 0xafafff, sixteen: ansi.BrightMagenta, bold: true},
	Warn:     {dark: 0xffd75f, light: 0x875f00, onLight: 0x5f5f00, sixteen: ansi.Yellow, bold: true},
	Bad:      {dark: 0xff5f5f, light: 0xaf0000, onDark: 0xff8787, sixteen: ansi.Red, bold: true},
	Updated:  {dark: 0x5fafff, light: 0x005faf, sixteen: ansi.Blue},
	Outdated: {dark: 0xaf875f, light: 0x875f5f, onDark: 0xd7af87, onLight: 0x5f5f5f, sixteen: ansi.White},
	Down:     {dark: 0xff5f5f, light: 0xaf0000, onDark: 0xff8787, sixteen: ansi.Red},
	Mark:     {dark: 0xd787d7, light: 0x87005f, sixteen: ansi.Magenta, bold: true},
	Found:    {reverse: true},
	Added:    {dark: 0x5fd7af, light: 0x005f00, sixteen: ansi.Green},
	Removed:  {dark: 0xff5f5f, light: 0xaf0000, onDark: 0xff8787, sixteen: ansi.Red},
	Danger:   {dark: 0xff5f5f, light: 0xaf0000, onDark: 0xff8787, sixteen: ansi.Red, bold: true, reverse: true},
}

// The line of the cursor has a ground and, for text without a colour of its own, an ink:
// that of the terminal may be like the ground where its colours are not known.
const (
	darkGround, darkInk   = 0x303030, 0xeeeeee
	lightGround, lightInk = 0xdadada, 0x121212
)

// drawn is a look on one terminal.
type drawn struct {
	look
	color, ground color.Color
}

func (l look) style(o ThemeOptions) drawn {
	d := drawn{look: l}
	switch {
	case o.Colors == None:
	case o.Colors == Sixteen && l.sixteen != 0:
		d.color = l.sixteen
	case o.Colors == Many && o.Light && l.light != 0:
		d.color = rgb(l.light)
	case o.Colors == Many && !o.Light && l.dark != 0:
		d.color = rgb(l.dark)
	}
	// A colour of its own is faint enough.
	d.faint = l.faint && d.color == nil
	return d
}

// onCursor is a look on the line of the cursor: on a ground where there are enough colours,
// else reversed.
func (l look) onCursor(o ThemeOptions) drawn {
	d := l.style(o)
	if o.Colors != Many {
		d.reverse = !l.reverse
		return d
	}
	ground, ink, other := uint32(darkGround), uint32(darkInk), l.onDark
	if o.Light {
		ground, ink, other = lightGround, lightInk, l.onLight
	}
	switch {
	case other != 0:
		d.color = rgb(other)
	case d.color == nil:
		d.color, d.faint = rgb(ink), false
	}
	d.ground = rgb(ground)
	return d
}

func rgb(c uint32) color.Color {
	return color.RGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 0xff}
}

func (d drawn) escape() string {
	s := ansi.NewStyle()
	if d.bold {
		s = s.Bold()
	}
	if d.faint {
		s = s.Faint()
	}
	if d.reverse {
		s = s.Reverse(true)
	}
	if d.color != nil {
		s = s.ForegroundColor(d.color)
	}
	if d.ground != nil {
		s = s.BackgroundColor(d.ground)
	}
	if len(s) == 0 {
		return ""
	}
	return s.String()
}
