package draw

import (
	"image/color"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestNoColors_KeepsBoldFaintAndReverse: bold, faint and reverse stay, and no colour does.
func TestNoColors_KeepsBoldFaintAndReverse(t *testing.T) {
	th := NewTheme(ThemeOptions{})
	for s := range styles {
		switch th.Open(s) {
		case "", "\x1b[1m", "\x1b[2m", "\x1b[7m", "\x1b[1;7m":
		default:
			t.Errorf("style %d: %q", s, th.Open(s))
		}
	}
	if th.OnCursor(Plain) == "" || th.OnCursor(Found) == th.OnCursor(Plain) {
		t.Error("the cursor, or what was found on its line, is not to be seen")
	}
}

// TestTheme_UsesOnlySixteenColors checks that a terminal with few colors gets no others.
func TestTheme_UsesOnlySixteenColors(t *testing.T) {
	th := NewTheme(ThemeOptions{Colors: Sixteen})
	for s := range styles {
		if strings.Contains(th.Open(s), "38;") || strings.Contains(th.Open(s), "48;") {
			t.Errorf("style %d: %q", s, th.Open(s))
		}
	}
}

// TestContrast_IsReadable: every colour contrasts with what it is drawn on, on the line of the
// cursor and on usual grounds of terminals, in the colours that 256-colour terminals show.
func TestContrast_IsReadable(t *testing.T) {
	for _, light := range []bool{false, true} {
		o := ThemeOptions{Colors: Many, Light: light}
		grounds := []color.Color{rgb(0x000000), rgb(0x1e1e1e)}
		if light {
			grounds = []color.Color{rgb(0xffffff), rgb(0xfafafa)}
		}
		for s, l := range looks {
			on := l.onCursor(o)
			if got := contrast(seen(on.color), seen(on.ground)); got < 4.5 {
				t.Errorf("light %v, style %d on the line of the cursor: %.2f", light, s, got)
			}
			for _, ground := range grounds {
				if plain := l.style(o); plain.color != nil && contrast(seen(plain.color), ground) < 4.5 {
					t.Errorf("light %v, style %d: %.2f on %v", light, s, contrast(seen(plain.color), ground), ground)
				}
			}
		}
	}
}

// TestPalette_StaysTheSameIn256: no colour is drawn as another one where there are 256, and
// what has failed differs there from what is degraded.
func TestPalette_StaysTheSameIn256(t *testing.T) {
	for s, l := range looks {
		for _, c := range []uint32{l.dark, l.light, l.onDark, l.onLight} {
			if c != 0 && seen(rgb(c)) != rgb(c) {
				t.Errorf("style %d: #%06x is drawn as %v", s, c, seen(rgb(c)))
			}
		}
	}
	for _, light := range []bool{false, true} {
		o := ThemeOptions{Colors: Many, Light: light}
		bad, warn, wait := looks[Bad].style(o).color, looks[Warn].style(o).color, looks[Wait].style(o).color
		for name, pair := range map[string][2]color.Color{"failed and degraded": {bad, warn}, "paused and degraded": {wait, warn}, "failed and paused": {bad, wait}} {
			if d := apart(seen(pair[0]), seen(pair[1])); d < 100 {
				t.Errorf("light %v: %s are %.0f apart", light, name, d)
			}
		}
	}
}

// seen is a colour as a terminal with 256 draws it.
func seen(c color.Color) color.Color {
	r, g, b, _ := ansi.Convert256(c).RGBA()
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0xff}
}

// contrast is that of WCAG 2: from 1 to 21.
func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	linear := func(v uint32) float64 {
		s := float64(v) / 0xffff
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

// apart is how far colours lie from each other in the cube of colours.
func apart(a, b color.Color) float64 {
	x, y := a.(color.RGBA), b.(color.RGBA)
	d := func(p, q uint8) float64 { return (float64(p) - float64(q)) * (float64(p) - float64(q)) }
	return math.Sqrt(d(x.R, y.R) + d(x.G, y.G) + d(x.B, y.B))
}

// TestTheme_StatesLookDifferent checks good and bad states on every terminal, light and dark.
func TestTheme_StatesLookDifferent(t *testing.T) {
	for _, o := range []ThemeOptions{{Colors: Sixteen}, {Colors: Many}, {Colors: Many, Light: true}} {
		th := NewTheme(o)
		seen := map[string]Style{}
		for _, s := range []Style{Good, Busy, Wait, Warn, Bad, Mark} {
			if other, ok := seen[th.Open(s)]; ok {
				t.Errorf("%+v: styles %d and %d look the same", o, s, other)
			}
			seen[th.Open(s)] = s
		}
	}
	if NewTheme(ThemeOptions{Colors: Many}).Open(Bad) == NewTheme(ThemeOptions{Colors: Many, Light: true}).Open(Bad) {
		t.Error("light and dark are the same")
	}
}

// TestSymbols_AreOneColumnWideAndDiffer: each is one column wide, and those of health differ.
func TestSymbols_AreOneColumnWideAndDiffer(t *testing.T) {
	for _, s := range []Symbols{fullSymbols, asciiSymbols} {
		v := reflect.ValueOf(s)
		for i := range v.NumField() {
			if text, ok := reflect.TypeAssert[string](v.Field(i)); ok && ansi.StringWidth(text) != 1 {
				t.Errorf("%s %q is not one column wide", v.Type().Field(i).Name, text)
			}
		}
		seen := map[string]bool{}
		for _, text := range []string{s.Healthy, s.Busy, s.Aborted, s.Paused, s.Degraded, s.Blocked, s.Unknown} {
			if seen[text] {
				t.Errorf("%q is the symbol of two states", text)
			}
			seen[text] = true
		}
	}
}
