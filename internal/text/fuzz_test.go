package text

import (
	"strings"
	"testing"
	"unicode"
)

// FuzzLine: nothing that a terminal, a log or a page would act on comes through.
func FuzzLine(f *testing.F) {
	for _, s := range []string{"a\x1b]0;t\x07b", "a\r\n##[error]b", "::set-output", "\u202ea", "\xff\xfe", "<b>*a*</b>`|@x", "\U0010fffd[31m"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 128 {
			return
		}
		for name, shown := range map[string]string{"line": Line(s), "painted": Painted(s), "markdown": Markdown(s), "html": HTML(s), "code": Code(s), "cell": CodeCell(s), "block": Block(s)} {
			if strings.ContainsFunc(shown, func(r rune) bool { return unicode.IsControl(r) && (name != "block" || r != '\n' && r != '\t') }) {
				t.Errorf("%s: %q", name, shown)
			}
		}
		if strings.ContainsAny(HTML(s), "<>\"'") {
			t.Errorf("%q", HTML(s))
		}
	})
}
