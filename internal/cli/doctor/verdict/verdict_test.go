package verdict

import (
	"strings"
	"testing"
)

var lines = []Line{Good("one", "is <%d>", 1), Odd("second", "do it", "may be"), Bad("two", "", "is not")}

func TestText(t *testing.T) {
	var b strings.Builder
	if err := Text(&b, lines, func(s Status, text string) string {
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

func TestJSON(t *testing.T) {
	var b strings.Builder
	if err := JSON(&b, lines[:1]); err != nil {
		t.Fatal(err)
	}
	want := "[\n  {\n    \"status\": \"ok\",\n    \"topic\": \"one\",\n    \"text\": \"is <1>\"\n  }\n]\n"
	if b.String() != want {
		t.Errorf("have %s", b.String())
	}
	b.Reset()
	if err := JSON(&b, nil); err != nil || b.String() != "[]\n" {
		t.Errorf("nothing is %q, %v", b.String(), err)
	}
}
