package text_test

import (
	"bytes"
	"encoding/json"
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

func TestLine_EscapesControlCharacters(t *testing.T) {
	for _, s := range hostile {
		for name, f := range map[string]func(string) string{"Line": text.Line, "Markdown": text.Markdown, "HTML": text.HTML, "Code": text.Code, "CodeCell": text.CodeCell} {
			if got := f(s); raw.MatchString(got) {
				t.Errorf("%s(%q) = %q, which acts", name, s, got)
			}
		}
	}
}

func TestLine_KeepsOrdinaryText(t *testing.T) {
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

func TestMarkdown_HasNoStructure(t *testing.T) {
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

func TestWriter_EscapesWorkflowCommands(t *testing.T) {
	acting := regexp.MustCompile(`(?m)^[\s]*(\x1b\[[0-9]*m)*\s*::|##[A-Za-z]*\[`)
	for _, s := range append(hostile, "x ##vso[task.complete]y", "##teamcity[x]", strings.Repeat("é\n::stop-commands::x ##vso[a", 4_000)) {
		var b bytes.Buffer
		if n, err := text.Writer(&b).Write([]byte(s + "\n")); err != nil || n != len(s)+1 {
			t.Fatalf("%d, %v", n, err)
		}
		got := b.String()
		if acting.MatchString(got) {
			t.Errorf("%q is written as %q", s, got)
		}
		plain := strings.NewReplacer("\n", "", "\t", "").Replace(got)
		if raw.MatchString(plain) {
			t.Errorf("%q is written as %q", s, got)
		}
	}
	for _, s := range append(hostile, "名前 é 👍", "\x1b[31mred\x1b[0m", "a: b # c", "a::b", "##vso[task.complete]", "a ##[", "x ##teamcity[a] ::", strings.Repeat("名\n::stop ##vso[é", 4_000)) {
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
	w := text.Writer(text.Writer(&b))
	for _, c := range []byte(text.Line(text.Paint("31", "ERROR")) + " \x1b[32mOK\x1b[0m\n") {
		if _, err := w.Write([]byte{c}); err != nil {
			t.Fatal(err)
		}
	}
	if b.String() != "\x1b[31mERROR\x1b[0m \\u001b[32mOK\\u001b[0m\n" {
		t.Errorf("only colours of ours are colours: %q", b.String())
	}
}

// TestJSON_KeepsItsMeaning: what a reader of JSON gets is what was written, whatever it is cut
// into, and nothing of it acts where it is shown.
func TestJSON_KeepsItsMeaning(t *testing.T) {
	for _, want := range append(hostile, "\U000e0041", "é名前👩\u200d👩", "##", "#", "x##[y") {
		var made bytes.Buffer
		e := json.NewEncoder(&made)
		e.SetEscapeHTML(false)
		if err := e.Encode(want); err != nil {
			t.Fatal(err)
		}
		var whole, cut bytes.Buffer
		_, _ = text.JSON(&whole).Write(made.Bytes())
		w := text.JSON(&cut)
		for i := range made.Len() {
			_, _ = w.Write(made.Bytes()[i : i+1])
		}
		var got, meant string
		if err := json.Unmarshal(whole.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		_ = json.Unmarshal(made.Bytes(), &meant)
		if got != meant || whole.String() != cut.String() || raw.MatchString(strings.TrimSuffix(whole.String(), "\n")) || regexp.MustCompile(`##[A-Za-z]*\[`).MatchString(whole.String()) {
			t.Errorf("%q became %q, byte by byte %q", want, whole.String(), cut.String())
		}
	}
}

// TestFlush: what may be the beginning of something waits for the next call, and is not
// lost at the end.
func TestFlush(t *testing.T) {
	for _, s := range []string{"a #", "a\n:", "a ##", "a ##vso", "\x1b[3", "a\xe5"} {
		var b bytes.Buffer
		w := text.Writer(&b)
		_, _ = w.Write([]byte(s))
		text.Flush(w)
		text.Flush(w)
		if want := strings.NewReplacer("\x1b", `\u001b`, "\xe5", `\xe5`).Replace(s); b.String() != want {
			t.Errorf("%q is written as %q, want %q", s, b.String(), want)
		}
	}
	var b bytes.Buffer
	w := text.JSON(&b)
	_, _ = w.Write([]byte(`"a"#`))
	text.Flush(w)
	text.Flush(&b)
	if b.String() != `"a"#` {
		t.Error(b.String())
	}
}
