package draw

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFit(t *testing.T) {
	for _, c := range []struct {
		line  Line
		width int
		want  string
	}{
		{Text(Plain, "abc"), 5, "abc  "},
		{Text(Plain, "abcdef"), 4, "abc…"},
		{Text(Bad, "ab").Add(Good, "cdef"), 5, "abcd…"[:4] + "…"},
		{Text(Plain, "日本語"), 4, "日… "},
		{Text(Plain, "a\x1b[31mb"), 10, "a?[31mb   "},
		{Text(Plain, "tab\there"), 8, "tab here"},
		{Text(Plain, "x"), 0, ""},
	} {
		if got := c.line.Fit(c.width, "…"); got.String() != c.want || got.Width() != c.width {
			t.Errorf("%v in %d: %q, want %q", c.line, c.width, got.String(), c.want)
		}
	}
}

// TestBar_KeepsTheSmallestPart: parts fill the width, and the smallest is never lost.
func TestBar_KeepsTheSmallestPart(t *testing.T) {
	for _, c := range []struct {
		width, a, b int
		want        string
	}{
		{10, 5, 5, "aaaaabbbbb"},
		{10, 999, 1, "aaaaaaaaab"},
		{10, 0, 3, "bbbbbbbbbb"},
		{3, 1, 1, "aab"},
		{4, 0, 0, "    "},
		{0, 1, 1, ""},
	} {
		got := Bar(c.width, Part{c.a, "a", Good}, Part{c.b, "b", Bad}).String()
		if got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestWindow(t *testing.T) {
	w := Window{}
	for _, c := range []struct {
		key          string
		rows, height int
		want         Window
	}{
		{"up", 100, 10, Window{}},
		{"pgdown", 100, 10, Window{At: 10, Top: 1}},
		{"end", 100, 10, Window{At: 99, Top: 90}},
		{"k", 100, 10, Window{At: 98, Top: 90}},
		{"j", 5, 10, Window{At: 4}},
		{"home", 0, 10, Window{}},
	} {
		var ok bool
		if w, ok = w.Key(c.key, c.rows, c.height); !ok || w != c.want {
			t.Errorf("%s: %+v, want %+v", c.key, w, c.want)
		}
	}
	if _, ok := w.Key("x", 3, 3); ok {
		t.Error("x moves")
	}
}

// TestTable_NarrowsItsColumns: columns leave and shrink in their order, and what must stay does.
func TestTable_NarrowsItsColumns(t *testing.T) {
	th := NewTheme(ThemeOptions{ASCII: true})
	table := Table{
		Columns: []Column{
			{Title: "NAME", Width: 10, Min: 4, Keep: true},
			{Title: "N", Width: 3, Right: true, Give: 1, Keep: true},
			{Title: "WHY", Width: 20, Min: 5, Give: 3},
			{Title: "AGE", Width: 3, Give: 2},
		},
		Rows: 2,
	}
	row := func(i int) ([]Line, bool) {
		return []Line{Text(Plain, "storefront"), Text(Plain, "7"), Text(Plain, "because"), Text(Plain, "3d")}, i == 1
	}
	for width, want := range map[int]string{
		50: "> storefront    7  because               3d",
		32: "> storefront    7  because   3d",
		26: "> storef~    7  beca~  3d",
		17: "> stor~    7  3d",
		14: "> storef~    7",
	} {
		lines := table.Draw(th, width, 3, row)
		if got := strings.TrimRight(lines[1].String(), " "); len(lines) != 3 || got != want {
			t.Errorf("%d: %q, want %q", width, got, want)
		}
	}
	if got := table.Draw(th, 50, 9, row)[2].String(); !strings.HasPrefix(got, " *storefront") {
		t.Errorf("%q", got)
	}
}

// TestTable_HeaderIsAWord: where there is no room for a word above a column, nothing is
// there.
func TestTable_HeaderIsAWord(t *testing.T) {
	table := Table{Columns: []Column{{Title: "HEALTH", Width: 2, Keep: true}, {Title: "N", Width: 2, Keep: true}}}
	if got := table.Draw(NewTheme(ThemeOptions{}), 20, 3, nil)[0].String(); strings.Contains(got, "H") || !strings.Contains(got, "N") {
		t.Errorf("%q", got)
	}
}

func TestWrap(t *testing.T) {
	var got []string
	for _, l := range Wrap(Plain, "one two three\nfour\x07", 8) {
		got = append(got, l.String())
	}
	if diff := cmp.Diff([]string{"one two", "three", "four?"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestBox_HasItsSizeAndIsCentred: the box has the size that it says, in the middle of what it covers.
func TestBox_HasItsSizeAndIsCentred(t *testing.T) {
	th := NewTheme(ThemeOptions{ASCII: true})
	lines := Box(th, []Line{Text(Bad, "under")}, "title", []Line{Text(Plain, "text")}, 30, 7)
	if len(lines) != 7 || lines[0].String() != "under" || lines[0].Spans[0].Style != Faint {
		t.Fatalf("%v", lines)
	}
	width := lines[2].Width()
	for _, l := range lines[2:5] {
		if l.Width() != width {
			t.Errorf("%q is not as wide as the rest of the box", l)
		}
	}
}

// TestWrap_KeepsNamesWhole: names and flags are copied from the screen; only a word that no line has room for is broken.
func TestWrap_KeepsNamesWhole(t *testing.T) {
	for text, want := range map[string]string{
		"run cloneset/web -n shop":    "run|cloneset/web|-n shop",
		"pods web-2w4j7, web-j446l":   "pods|web-2w4j7,|web-j446l",
		"a-name-that-is-far-too-long": "a-name-that-|is-far-too-|long",
	} {
		var got []string
		for _, l := range Wrap(Plain, text, 12) {
			got = append(got, l.String())
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestHang_IndentsBelowItsHead: the first line follows the head, the others are below its end; no text is no line.
func TestHang_IndentsBelowItsHead(t *testing.T) {
	var got []string
	for _, l := range Hang(Text(Key, "ab "), Plain, "one two three", 8) {
		got = append(got, l.String())
	}
	if diff := cmp.Diff([]string{"ab one two", "   three"}, got); diff != "" {
		t.Error(diff)
	}
	if got := Hang(Text(Key, "ab "), Plain, "", 8); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestBeside_FillsTheShorterSide draws columns of different heights.
func TestBeside_FillsTheShorterSide(t *testing.T) {
	var got []string
	for _, l := range Beside([]Line{Text(Plain, "left")}, []Line{Text(Plain, "1"), Text(Plain, "2")}, 4, "~") {
		got = append(got, l.String())
	}
	if diff := cmp.Diff([]string{"le~ 1", "    2"}, got); diff != "" {
		t.Error(diff)
	}
}
