package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
)

func TestPage_IsUpToDate(t *testing.T) {
	var want bytes.Buffer
	write(&want, finding.Rules())
	have, err := os.ReadFile("../../docs/fidelity.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(have)); diff != "" {
		t.Errorf("docs/fidelity.md is out of date, run make generate (-catalogue +page):\n%s", diff)
	}
}

func TestRun_WritesTheNamedFile(t *testing.T) {
	path := t.TempDir() + "/page.md"
	if err := run([]string{path}); err != nil {
		t.Fatal(err)
	}
	if page, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(page, []byte(head)) {
		t.Errorf("page = %.80q, %v", page, err)
	}
	if err := run([]string{t.TempDir()}); err == nil {
		t.Error("a folder was taken for a file")
	}
}

func TestWrite(t *testing.T) {
	rules := []finding.Rule{
		{ID: "kruise/x", Kind: "*", Severity: finding.Lost, Becomes: "stays"},
		{ID: "b/y", Kind: "B", Fields: []string{"spec.y"}, Severity: finding.Lost, Becomes: "one | two", Action: "do"},
		{ID: "b/x-client", Kind: "B", Fields: []string{"spec.x", "spec.z"}, When: "case", Severity: finding.Lost, Becomes: "gone"},
		{ID: "b/x", Kind: "B", Fields: []string{"spec.x"}, Severity: finding.Exact, Becomes: "over\ntwo lines"},
		{ID: "a/x", Kind: "A", Fields: []string{"spec"}, Severity: finding.Exact, Becomes: "same"},
	}
	var got bytes.Buffer
	write(&got, rules)
	body := strings.TrimSuffix(strings.TrimPrefix(got.String(), head), foot)
	want := `
## A

| field | case | severity | what becomes of it | what to do | ID |
|---|---|---|---|---|---|
| ` + "`spec`" + ` |  | exact | same |  | ` + "`a/x`" + ` |

## B

| field | case | severity | what becomes of it | what to do | ID |
|---|---|---|---|---|---|
| ` + "`spec.x`" + ` |  | exact | over two lines |  | ` + "`b/x`" + ` |
| ` + "`spec.x`<br>`spec.z`" + ` | case | lost | gone |  | ` + "`b/x-client`" + ` |
| ` + "`spec.y`" + ` |  | lost | one \| two | do | ` + "`b/y`" + ` |

## Kinds that stay Kruise objects

| field | case | severity | what becomes of it | what to do | ID |
|---|---|---|---|---|---|
|  |  | lost | stays |  | ` + "`kruise/x`" + ` |
`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
}
