package view

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// TestProblems_WithoutAnObjectOrALine: a problem without an object names none; one without a line, or
// about all of the input, has no place that is made up.
func TestProblems_WithoutAnObjectOrALine(t *testing.T) {
	for _, c := range []struct {
		file              string
		text, github, uri string
	}{
		{"web.yaml", "web.yaml: error: no  [input/unreadable]\n", "::error file=web.yaml,line=1,title=input/unreadable::no\n", `"uri": "web.yaml"`},
		{"", "error: no  [input/unreadable]\n", "::error title=input/unreadable::no\n", `"locations": []`},
	} {
		p := Problems(lint.Unread(&resource.Error{File: c.file, Err: errors.New("no")}))
		var text, github, sarif, json bytes.Buffer
		if err := errors.Join(p.Text(&text, Style{}), p.GitHub(&github), p.SARIF(&sarif, lint.Rules(), ""), p.JSON(&json)); err != nil {
			t.Fatal(err)
		}
		if text.String() != c.text || github.String() != c.github {
			t.Errorf("got %s%s", text.String(), github.String())
		}
		if got := sarif.String(); !strings.Contains(got, c.uri) || strings.Contains(got, "fullyQualifiedName") {
			t.Errorf("got %s", got)
		}
		if got := json.String(); strings.Contains(got, `"object"`) {
			t.Errorf("got %s", got)
		}
	}
}
