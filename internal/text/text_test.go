package text_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
)

// hostile are strings that act somewhere.
var hostile = []string{
	"\x1b]0;owned\x07", "a\nb", "a\r\nb", "\u202eevil", "a\u200bb", "\u2066x\u2069", "\x9b31m", "a\u2028b", "\xff\xfe",
	"\n::stop-commands::x", "::error::no", "  ::add-mask::x", "##[error]x", "x ##[group]y", "\x1b[31m::error::x",
	"</summary><h1>x</h1>", "# head", "- item", "@admins", "https://evil.example", "www.evil.example", "[a](b)", "![a](b)",
	"`code` ``more``", `a\|b|c`, "<!-- x", "#1", "a_b_c *d* ~~e~~", "&#64;admins", "\U000e0041tag", "\x00", "a\tb",
}

var raw = regexp.MustCompile(`[\x00-\x1f\x7f-\x{9f}\p{Cf}\x{2028}\x{2029}]`)

func TestLineShowsWhatActs(t *testing.T) {
	for _, s := range hostile {
		for name, f := range map[string]func(string) string{"Line": text.Line, "Markdown": text.Markdown, "HTML": text.HTML, "Code": text.Code, "CodeCell": text.CodeCell} {
			if got := f(s); raw.MatchString(got) {
				t.Errorf("%s(%q) = %q, which acts", name, s, got)
			}
		}
	}
}

func TestWhatPeopleWriteStays(t *testing.T) {
	for _, s := range []string{"", "shop/web", "名前", "café", "👩‍👩‍👧 👍🏽", "ελ", "e\u0301"} {
		if got := text.Line(s); got != s {
			t.Errorf("Line(%q) = %q", s, got)
		}
	}
	if got := text.Line("\x1b]0;x\x07\u202e\n\xff"); got != `\u001b]0;x\u0007\u202e\n\xff` {
		t.Errorf("escapes are %s", got)
	}
}

// rendered has the invisible characters that part mentions and links, as a forge sees them.
func rendered(s string) string { return strings.ReplaceAll(s, "&#8203;", "\u200b") }

func TestMarkdownHasNoStructure(t *testing.T) {
	acting := regexp.MustCompile(`[<>]|(^|[^\\])[*_\[\]|~$]|@\w|://|(?i)www\.|#\w|^#+ |^[-+=]`)
	for _, s := range hostile {
		if got := rendered(text.Markdown(s)); acting.MatchString(got) {
			t.Errorf("Markdown(%q) = %q", s, got)
		}
		if got := rendered(text.HTML(s)); regexp.MustCompile(`[<>"']|@\w|://|#\w`).MatchString(got) {
			t.Errorf("HTML(%q) = %q", s, got)
		}
		code := text.Code(s)
		fence := code[:len(code)-len(strings.TrimLeft(code, "`"))]
		if strings.Count(code, fence) != 2 || !strings.HasSuffix(code, fence) {
			t.Errorf("Code(%q) = %q is closed early", s, code)
		}
		if got := text.CodeCell(s); regexp.MustCompile(`(^|[^\\])\||\\\\\|`).MatchString(got) {
			t.Errorf("CodeCell(%q) = %q ends its cell", s, got)
		}
	}
}

func TestWriterLetsNothingAct(t *testing.T) {
	acting := regexp.MustCompile(`(?m)^[\s]*(\x1b\[[0-9]*m)*\s*::|##\[`)
	for _, s := range hostile {
		var b bytes.Buffer
		if n, err := text.Writer(&b).Write([]byte(s + "\n")); err != nil || n != len(s)+1 {
			t.Fatalf("%d, %v", n, err)
		}
		got := b.String()
		if acting.MatchString(got) {
			t.Errorf("%q is written as %q", s, got)
		}
		plain := strings.NewReplacer("\n", "", "\t", "", "\x1b[31m", "").Replace(got)
		if raw.MatchString(plain) {
			t.Errorf("%q is written as %q", s, got)
		}
	}
	for _, s := range append(hostile, "名前 é 👍", "\x1b[31mred\x1b[0m", "a: b # c", "a::b") {
		var whole, cut bytes.Buffer
		_, _ = text.Writer(&whole).Write([]byte(s + "\n"))
		w := text.Writer(&cut)
		for i := range len(s) + 1 {
			_, _ = w.Write([]byte((s + "\n")[i : i+1]))
		}
		if whole.String() != cut.String() {
			t.Errorf("%q byte by byte is %q, as a whole %q", s, cut.String(), whole.String())
		}
	}
	var b bytes.Buffer
	if _, err := text.Writer(&b).Write([]byte("\x1b[31mERROR\x1b[0m\n")); err != nil || b.String() != "\x1b[31mERROR\x1b[0m\n" {
		t.Errorf("colours of ours: %q, %v", b.String(), err)
	}
}
