package pages_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/pages"
)

var plain = draw.NewTheme(draw.ThemeOptions{})

func numbered(n int) []draw.Line {
	var out []draw.Line
	for i := range n {
		out = append(out, draw.Text(draw.Plain, fmt.Sprintf("line %d", i+1)))
	}
	return out
}

func seen(p pages.Page) []string {
	var out []string
	for _, l := range p.Draw(plain) {
		out = append(out, strings.TrimSpace(l.String()))
	}
	return out
}

func press(t *testing.T, p pages.Page, keys ...string) pages.Page {
	t.Helper()
	for _, k := range keys {
		var ok bool
		if p, ok = p.Key(k); !ok {
			t.Fatalf("%s is no key of a page", k)
		}
	}
	return p
}

// TestPage_Scrolls: never beyond the ends.
func TestPage_Scrolls(t *testing.T) {
	p := pages.Page{}.Size(20, 3).Set(numbered(10))
	for _, c := range []struct {
		keys []string
		top  int
	}{
		{[]string{"up"}, 1},
		{[]string{"down", "j"}, 3},
		{[]string{"pgdown"}, 4},
		{[]string{"G"}, 8},
		{[]string{"end", "down"}, 8},
		{[]string{"G", "pgup"}, 5},
		{[]string{"G", "g"}, 1},
	} {
		if got := press(t, p, c.keys...); got.Top() != c.top || got.Bottom() != c.top+2 {
			t.Errorf("%v: from %d to %d, want from %d", c.keys, got.Top(), got.Bottom(), c.top)
		}
	}
	if _, ok := p.Key("z"); ok {
		t.Error("z is taken for a key of a page")
	}
}

// TestPage_FollowsTheEnd checks that a page at its end shows added lines until the user scrolls up.
func TestPage_FollowsTheEnd(t *testing.T) {
	p := pages.Following().Size(20, 2).Add(numbered(5)...)
	if got := seen(p); !slices.Equal(got, []string{"line 4", "line 5"}) {
		t.Fatalf("%v", got)
	}
	p = press(t, p, "up").Add(numbered(5)...)
	if got := seen(p); !slices.Equal(got, []string{"line 3", "line 4"}) || p.AtEnd() {
		t.Errorf("after going up: %v", got)
	}
	if p = p.ToEnd(true); p.Bottom() != 10 {
		t.Errorf("back at the end: %d", p.Bottom())
	}
}

// TestPage_DropsTheOldestLines: the oldest lines go when there are too many.
func TestPage_DropsTheOldestLines(t *testing.T) {
	p := pages.Following().Size(20, 2).Find("line 7")
	for range 6 {
		p = p.Add(numbered(5000)...)
	}
	if p.Len() > 25_000 || p.Len() < 20_000 || p.Bottom() != p.Len() {
		t.Errorf("%d lines, the last one seen is %d", p.Len(), p.Bottom())
	}
	if p = p.Size(30, 2); p.Bottom() != p.Len() {
		t.Error("not at the end in another room")
	}
}

// TestPage_WrapsLongLines checks that no text is lost by wrapping.
func TestPage_WrapsLongLines(t *testing.T) {
	long := draw.Text(draw.Strong, "0123456789").Add(draw.Faint, "abcdéf世界")
	p := press(t, pages.Page{}.Size(8, 10).Set([]draw.Line{long, draw.Text(draw.Plain, "short")}), "w")
	got := seen(p)
	if want := []string{"0123456", "789abcd", "éf世界", "short"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if p.Bottom() != 2 {
		t.Errorf("a broken line counts %d", p.Bottom())
	}
	if got := seen(press(t, p, "w")); len(got) != 2 {
		t.Errorf("unfolded: %q", got)
	}
}

// TestPage_ScrollsSideways: to the end of the widest line, and back.
func TestPage_ScrollsSideways(t *testing.T) {
	p := pages.Page{}.Size(11, 2).Set([]draw.Line{draw.Text(draw.Plain, "0123456789abcdefghijklm"), draw.Text(draw.Plain, "x")})
	if got := seen(press(t, p, "right", "right", "right")); got[0] != "defghijklm" || got[1] != "" {
		t.Errorf("at the right: %q", got)
	}
	if got := seen(press(t, p, "right", "left", "left")); !strings.HasPrefix(got[0], "0123") {
		t.Errorf("at the left: %q", got)
	}
}

// TestPage_FindsText searches in any case, from the top and around the end.
func TestPage_FindsText(t *testing.T) {
	p := pages.Page{}.Size(20, 3).Set(numbered(30))
	p = press(t, p, "pgdown").Find("LINE 1")
	if p.Found() != "/LINE 1 2 of 11" {
		t.Fatalf("found %q", p.Found())
	}
	if p.Find("nothing").Found() != "/nothing is nowhere" || p.Find("").Found() != "" {
		t.Error("what is nowhere is found")
	}
	p = p.Find("line 30")
	if p.Bottom() != 30 {
		t.Errorf("the last line is not seen: %d", p.Bottom())
	}
	p = p.Find("line 2")
	if p.Found() != "/line 2 10 of 11" {
		t.Errorf("from line 28 on: %q", p.Found())
	}
	if p = press(t, p, "n", "n"); p.Found() != "/line 2 1 of 11" || p.Top() != 1 {
		t.Errorf("around the end: %q, at %d", p.Found(), p.Top())
	}
	if p = press(t, p, "N"); p.Found() != "/line 2 11 of 11" {
		t.Errorf("around the start: %q", p.Found())
	}
}

// TestPage_HighlightsMatches checks matches within and across spans.
func TestPage_HighlightsMatches(t *testing.T) {
	p := pages.Page{}.Size(40, 3).Set([]draw.Line{draw.Text(draw.Key, "image: ").Add(draw.Plain, "web:2 web:3")}).Find("e: WEB")
	var found []string
	for _, s := range p.Draw(plain)[0].Spans {
		if s.Style == draw.Found {
			found = append(found, s.Text)
		}
	}
	if !slices.Equal(found, []string{"e: ", "web"}) {
		t.Errorf("%q", found)
	}
}

// TestPage_RemovesControlCharacters checks that the text of a log cannot control the terminal.
func TestPage_RemovesControlCharacters(t *testing.T) {
	p := pages.Page{}.Size(40, 3).Set([]draw.Line{draw.Text(draw.Plain, "a\x1b[31mb")})
	if got := seen(p)[0]; strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
}

// TestPage_FindsTextThatArrivesLater searches in added lines and in another text.
func TestPage_FindsTextThatArrivesLater(t *testing.T) {
	p := pages.Following().Size(20, 5).Add(numbered(3)...).Find("error")
	p = p.Add(draw.Text(draw.Plain, "an error"))
	p.Draw(plain)
	if got := p.Found(); got != "/error 1 of 1" {
		t.Error(got)
	}
	p = p.Find("nothing").Set([]draw.Line{draw.Text(draw.Plain, "nothing")})
	p.Draw(plain)
	if got := p.Found(); got != "/nothing 1 of 1" {
		t.Error(got)
	}
}
