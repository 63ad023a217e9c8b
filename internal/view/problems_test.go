package view

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// TestProblems_HaveTheirPlace: an object of a file has its place there; one of a cluster goes by
// its name.
func TestProblems_HaveTheirPlace(t *testing.T) {
	id := resource.ID{Kind: "CloneSet", Namespace: "shop", Name: "web"}
	for format, write := range map[string]func(Problems, io.Writer) error{
		"text":   func(p Problems, w io.Writer) error { return p.Text(w, Style{}) },
		"json":   Problems.JSON,
		"github": Problems.GitHub,
		"sarif":  func(p Problems, w io.Writer) error { return p.SARIF(w, nil, "") },
	} {
		for file, want := range map[string]map[string]string{
			"web.yaml": {"text": "web.yaml:7: error: CloneSet shop/web: no", "json": `"line": 7`, "github": "::error file=web.yaml,line=7,title=a/b::CloneSet shop/web: no", "sarif": `"physicalLocation"`},
			"":         {"text": "error: CloneSet shop/web: no", "json": `"name": "web"`, "github": "::error title=a/b::CloneSet shop/web: no", "sarif": `"fullyQualifiedName": "CloneSet shop/web"`},
		} {
			e := &resource.Error{File: file, Object: id, Err: errors.New("no")}
			if file != "" {
				e.Line = 7
			}
			var out bytes.Buffer
			if err := write(Problems{{Rule: "a/b", Severity: lint.Error, Error: e}}, &out); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); !strings.Contains(got, want[format]) || file == "" && (strings.Contains(got, "line") || strings.HasPrefix(got, "-")) {
				t.Errorf("%s of %q: %s", format, file, got)
			}
		}
	}
}
