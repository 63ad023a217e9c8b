package theme

import (
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestNoColors: bold, faint and reverse stay, and no colour does.
func TestNoColors(t *testing.T) {
	th := New(Options{})
	for s := range styles {
		switch th.Open(s) {
		case "", "\x1b[1m", "\x1b[2m", "\x1b[7m", "\x1b[1;7m":
		default:
			t.Errorf("style %d: %q", s, th.Open(s))
		}
	}
	if th.Cursor() == "" {
		t.Error("the cursor is not to be seen")
	}
}

// TestSixteen: a terminal with few colours is sent no others.
func TestSixteen(t *testing.T) {
	th := New(Options{Colors: Sixteen})
	for s := range styles {
		if strings.Contains(th.Open(s), "38;") || strings.Contains(th.Open(s), "48;") {
			t.Errorf("style %d: %q", s, th.Open(s))
		}
	}
}

// TestTold: what is good and what is bad look different on every terminal, and light
// and dark ones differ.
func TestTold(t *testing.T) {
	for _, o := range []Options{{Colors: Sixteen}, {Colors: Many}, {Colors: Many, Light: true}} {
		th := New(o)
		seen := map[string]Style{}
		for _, s := range []Style{Good, Busy, Warn, Bad, Mark} {
			if other, ok := seen[th.Open(s)]; ok {
				t.Errorf("%+v: styles %d and %d look the same", o, s, other)
			}
			seen[th.Open(s)] = s
		}
	}
	if New(Options{Colors: Many}).Open(Bad) == New(Options{Colors: Many, Light: true}).Open(Bad) {
		t.Error("light and dark are the same")
	}
}

// TestSymbols: each is one column wide, and those of health differ.
func TestSymbols(t *testing.T) {
	for _, s := range []Symbols{unicode, ascii} {
		v := reflect.ValueOf(s)
		for i := range v.NumField() {
			if text, ok := reflect.TypeAssert[string](v.Field(i)); ok && ansi.StringWidth(text) != 1 {
				t.Errorf("%s %q is not one column wide", v.Type().Field(i).Name, text)
			}
		}
		seen := map[string]bool{}
		for _, text := range []string{s.Healthy, s.Busy, s.Paused, s.Degraded, s.Stuck, s.Unknown} {
			if seen[text] {
				t.Errorf("%q stands for two healths", text)
			}
			seen[text] = true
		}
	}
}
