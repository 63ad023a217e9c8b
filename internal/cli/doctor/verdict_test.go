package doctor

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
)

var verdictLines = []verdictLine{passed("one", "is <%d>", 1), warned("second", "do it", "may be"), failedVerdict("two", "", "is not")}

func TestVerdicts_Text(t *testing.T) {
	var b strings.Builder
	if err := writeVerdictText(&b, verdictLines, func(s verdictStatus, text string) string {
		return strings.ReplaceAll(text, string(s), strings.ToUpper(string(s)))
	}); err != nil {
		t.Fatal(err)
	}
	want := `OK    one     is <1>
WARN  second  may be
              hint: do it
FAIL  two     is not
1 ok, 1 warn, 1 fail
`
	if b.String() != want {
		t.Errorf("have\n%swant\n%s", b.String(), want)
	}
}

// TestVerdicts_TextIsWrapped: on a terminal, a longer text continues on the next line, below its beginning.
func TestVerdicts_TextIsWrapped(t *testing.T) {
	var b strings.Builder
	list := []verdictLine{warned("plugin", "remove it, so that it is not run by accident", "another is on the PATH, too")}
	if err := writeVerdictText(text.Folding(&b, 40), list, func(_ verdictStatus, s string) string { return s }); err != nil {
		t.Fatal(err)
	}
	want := `warn  plugin  another is on the PATH,
              too
              hint: remove it, so that
                    it is not run by
                    accident
0 ok, 1 warn, 0 fail
`
	if b.String() != want {
		t.Errorf("have\n%swant\n%s", b.String(), want)
	}
}

func TestVerdicts_JSON(t *testing.T) {
	var b strings.Builder
	if err := writeVerdictJSON(&b, verdictLines[:1]); err != nil {
		t.Fatal(err)
	}
	want := "[\n  {\n    \"status\": \"ok\",\n    \"topic\": \"one\",\n    \"text\": \"is <1>\"\n  }\n]\n"
	if b.String() != want {
		t.Errorf("have %s", b.String())
	}
	b.Reset()
	if err := writeVerdictJSON(&b, nil); err != nil || b.String() != "[]\n" {
		t.Errorf("nothing is %q, %v", b.String(), err)
	}
}
