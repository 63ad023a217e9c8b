package theme

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"
)

// look is a style on every kind of terminal.
type look struct {
	dark, light uint32
	// sixteen is the colour of a terminal that has no others; 0 is its own.
	sixteen              ansi.BasicColor
	bold, faint, reverse bool
}

var looks = [styles]look{
	Faint:    {dark: 0x8a8f98, light: 0x6b7078, sixteen: ansi.BrightBlack, faint: true},
	Strong:   {bold: true},
	Title:    {dark: 0x56b4e9, light: 0x005f94, sixteen: ansi.Cyan, bold: true},
	Header:   {dark: 0xa9b1bd, light: 0x4a4f57, bold: true},
	Key:      {dark: 0x56b4e9, light: 0x005f94, sixteen: ansi.Cyan},
	Good:     {dark: 0x3fc79a, light: 0x00765a, sixteen: ansi.Green},
	Busy:     {dark: 0x56b4e9, light: 0x0072b2, sixteen: ansi.Cyan},
	Warn:     {dark: 0xf0c040, light: 0x8a6100, sixteen: ansi.Yellow, bold: true},
	Bad:      {dark: 0xff7f4d, light: 0xb34700, sixteen: ansi.Red, bold: true},
	Updated:  {dark: 0x56b4e9, light: 0x0072b2, sixteen: ansi.Blue},
	Outdated: {dark: 0xb9a58c, light: 0x7a6a55, sixteen: ansi.White},
	Down:     {dark: 0xff7f4d, light: 0xb34700, sixteen: ansi.Red},
	Mark:     {dark: 0xd99ac2, light: 0x9a4f80, sixteen: ansi.Magenta, bold: true},
	Found:    {reverse: true},
	Added:    {dark: 0x3fc79a, light: 0x00765a, sixteen: ansi.Green},
	Removed:  {dark: 0xff7f4d, light: 0xb34700, sixteen: ansi.Red},
	Danger:   {dark: 0xff7f4d, light: 0xb34700, sixteen: ansi.Red, bold: true, reverse: true},
}

// drawn is a look on one terminal.
type drawn struct {
	look
	color, ground color.Color
}

func (l look) style(o Options) drawn {
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

// cursorLook is a ground where there are enough colours, else reversed text.
func cursorLook(o Options) drawn {
	switch {
	case o.Colors != Many:
		return drawn{look: look{reverse: true}}
	case o.Light:
		return drawn{ground: rgb(0xd6e6f2)}
	}
	return drawn{ground: rgb(0x264055)}
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
