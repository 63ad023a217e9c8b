package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
)

func TestPages_AreUpToDate(t *testing.T) {
	want := pages(finding.Rules())
	for name, text := range want {
		have, err := os.ReadFile(filepath.Join("../../docs", name))
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(string(text), string(have)); diff != "" {
			t.Errorf("docs/%s is out of date, run make generate (-catalogue +page):\n%s", name, diff)
		}
	}
	there, err := filepath.Glob("../../docs/fidelity/*.md")
	if err != nil || len(there) != len(want)-1 {
		t.Errorf("%d pages in docs/fidelity, %d kinds: %v", len(there), len(want)-1, err)
	}
}

// TestPages_HaveEachRuleOnce: a reader finds each ID of the catalogue in a table, and the page of a
// rule is the one that the head of the index says.
func TestPages_HaveEachRuleOnce(t *testing.T) {
	all := pages(finding.Rules())
	for _, r := range finding.Rules() {
		rows := 0
		for _, text := range all {
			for line := range bytes.Lines(text) {
				if bytes.HasPrefix(line, []byte("| ")) && bytes.Contains(line, []byte("`"+r.ID+"`")) {
					rows++
				}
			}
		}
		if rows != 1 {
			t.Errorf("%s has %d rows", r.ID, rows)
		}
		if own, ok := all["fidelity/"+prefix(r)+".md"]; r.Kind != "*" && (!ok || !bytes.Contains(own, []byte("`"+r.ID+"`"))) {
			t.Errorf("the page of %s does not name it", r.ID)
		}
	}
}

func TestFidelity_WritesThePagesAndRemovesOthers(t *testing.T) {
	dir := t.TempDir()
	if err := generate([]string{"fidelity", dir}); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(dir, "fidelity", "gone.md")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := generate([]string{"fidelity", dir}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("a page of no kind is left")
	}
	if page, err := os.ReadFile(filepath.Join(dir, "fidelity.md")); err != nil || !bytes.HasPrefix(page, []byte(head)) {
		t.Errorf("page = %.80q, %v", page, err)
	}
	if err := generate([]string{"fidelity"}); err == nil {
		t.Error("no folder was named, and there is no error")
	}
}

func TestPages_Tables(t *testing.T) {
	rules := []finding.Rule{
		{ID: "kruise/x", Kind: "*", Severity: finding.Lost, Becomes: "stays"},
		{ID: "b/y", Kind: "B", Fields: []string{"spec.y"}, Severity: finding.Lost, Becomes: "one | two", Action: "do"},
		{ID: "b/x-client", Kind: "B", Fields: []string{"spec.x", "spec.z"}, When: "case", Severity: finding.Lost, Becomes: "gone"},
		{ID: "b/x", Kind: "B", Fields: []string{"spec.x"}, Severity: finding.Exact, Becomes: "over\ntwo lines"},
		{ID: "b/same", Kind: "B", Fields: []string{"spec.s"}, Severity: finding.Exact, Becomes: "same"},
		{ID: "a/x", Kind: "A", Fields: []string{"spec"}, Severity: finding.Exact, Becomes: "same"},
	}
	got := map[string]string{}
	for name, text := range pages(rules) {
		_, body, _ := bytes.Cut(text, []byte("\n\n# "))
		if name == "fidelity.md" {
			body = bytes.TrimSuffix(bytes.TrimPrefix(text, []byte(head)), []byte(foot))
		}
		got[name] = string(body)
	}
	how := "\n\nHow to read it: [what rendering keeps, changes and drops](../fidelity.md).\n\n" + columns
	want := map[string]string{
		"fidelity/a.md": "A" + how + "\n[The same for several kinds](../fidelity.md#the-same-for-several-kinds): `a/x`.\n",
		"fidelity/b.md": "B" + how + "| `b/x` | `spec.x` |  | exact | over two lines |  |\n| `b/x-client` | `spec.x`<br>`spec.z` | case | lost | gone |  |\n" +
			"| `b/y` | `spec.y` |  | lost | one \\| two | do |\n\n[The same for several kinds](../fidelity.md#the-same-for-several-kinds): `b/same`.\n",
		"fidelity.md": "\n## Kinds\n\n| kind | exact | approximate | lost | error |\n|---|---|---|---|---|\n| [A](fidelity/a.md) | 1 | 0 | 0 | 0 |\n| [B](fidelity/b.md) | 2 | 0 | 2 | 0 |\n" +
			"\n## The same for several kinds\n\n" + shared + "| A<br>B | `spec`<br>`spec.s` |  | exact | same |  | `a/x`<br>`b/same` |\n" +
			"\n## Kinds that stay Kruise objects\n\n" + columns + "| `kruise/x` |  |  | lost | stays |  |\n",
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
