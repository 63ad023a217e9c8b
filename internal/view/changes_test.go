package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	fixture "github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
)

// changesOf compares the two states of testdata/changes.
func changesOf(t *testing.T) Changes {
	t.Helper()
	dir := filepath.Join("testdata", "changes")
	return Changes(compare.Run(t.Context(), fixture.Read(t, dir, "old.yaml"), fixture.Read(t, dir, "new.yaml"), compare.Options{
		Context: fixture.Read(t, dir, "with.yaml"), Gates: cluster.DefaultGates(),
	}))
}

// TestChanges_EqualTheGoldens: UPDATE=1 writes the expected files again.
func TestChanges_EqualTheGoldens(t *testing.T) {
	c := changesOf(t)
	for file, write := range map[string]func(*bytes.Buffer) error{
		"expected.txt":  func(b *bytes.Buffer) error { return c.Text(b, Style{}) },
		"expected.md":   func(b *bytes.Buffer) error { return c.Markdown(b) },
		"expected.json": func(b *bytes.Buffer) error { return c.JSON(b) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"hunter", "aHVudGVy"} {
			if strings.Contains(out.String(), secret) {
				t.Errorf("%s shows a secret", file)
			}
		}
		fixture.Same(t, filepath.Join("testdata", "changes", file), out.String())
	}
}

// TestChanges_NoneAreOneLine: one quiet line, and an empty list.
func TestChanges_NoneAreOneLine(t *testing.T) {
	c := Changes{Objects: [2]int{1, 1}}
	var text, md, js bytes.Buffer
	if err := c.Text(&text, Style{}); err != nil || text.String() != "no differences between 1 object and 1\n" {
		t.Errorf("%q, %v", text.String(), err)
	}
	if err := c.Markdown(&md); err != nil || strings.Contains(md.String(), "|") || !strings.HasPrefix(md.String(), ChangesMark+"\n") {
		t.Errorf("%q, %v", md.String(), err)
	}
	var doc struct{ Changes []any }
	if err := c.JSON(&js); err != nil || json.Unmarshal(js.Bytes(), &doc) != nil || doc.Changes == nil {
		t.Errorf("%q, %v", js.String(), err)
	}
}

// TestChanges_CutLongFieldsUnlessVerbose unless all are asked for.
func TestChanges_CutLongFieldsUnlessVerbose(t *testing.T) {
	ch := compare.Change{Verb: compare.Changed, Level: compare.Note}
	for i := range 30 {
		ch.Fields = append(ch.Fields, compare.Field{Path: fmt.Sprintf("data.k%d", i), Old: strings.Repeat("x", 200)})
	}
	for full, want := range map[bool]int{false: mostFields, true: 30} {
		var b bytes.Buffer
		if err := (Changes{Changes: []compare.Change{ch}}).Text(&b, Style{Full: full}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "  data.k"); n != want || strings.Contains(b.String(), "and 10 more fields; -v shows them") == full || strings.Contains(b.String(), "…") == full {
			t.Errorf("full %v: %d fields\n%s", full, n, b.String())
		}
	}
}

// TestChanges_MarkdownFitsAComment: whatever changes, a comment takes it, tables and folds are
// whole, and what was cut is reported.
func TestChanges_MarkdownFitsAComment(t *testing.T) {
	for _, n := range []int{10, 300, 400, 5000} {
		var c Changes
		for i := range n {
			c.Changes = append(c.Changes, compare.Change{
				Verb: compare.Changed, Level: compare.Note, Fields: []compare.Field{{Path: "data.x", Old: strings.Repeat("é", 300), New: "```\n|<b>"}},
				Effects: []compare.Effect{{Level: compare.Note, Text: strings.Repeat("long | ", 200)}},
			})
			c.Changes[i].ID.Kind, c.Changes[i].ID.Name = "ConfigMap", fmt.Sprintf("c-%d", i)
		}
		var b bytes.Buffer
		if err := c.Markdown(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if len(text) > commentLimit {
			t.Errorf("%d changes make %d bytes", n, len(text))
		}
		if cut := strings.Contains(text, "_Cut to fit:"); cut != (n > 10) {
			t.Errorf("%d changes: cut is said: %v", n, cut)
		}
		if open, closed := strings.Count(text, "<details>"), strings.Count(text, "</details>"); open != closed {
			t.Errorf("%d changes: %d folds open, %d close", n, open, closed)
		}
		for line := range strings.SplitSeq(text, "\n") {
			if strings.HasPrefix(line, "| ") && !strings.HasSuffix(line, " |") {
				t.Errorf("a row is cut in the middle: %q", line)
			}
		}
	}
}

// TestChanges_TextFitsTheTerminal: lines of fields are cut to its width, and nothing is
// painted where no colour may be.
func TestChanges_TextFitsTheTerminal(t *testing.T) {
	c := changesOf(t)
	var narrow, plain bytes.Buffer
	if err := c.Text(text.Writer(&narrow), Style{Width: 60, Color: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(narrow.String(), "…") || !strings.Contains(narrow.String(), "\x1b[") {
		t.Error("neither cut nor painted")
	}
	if err := c.Text(text.Writer(&plain), Style{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plain.String(), "\x1b") {
		t.Error("painted without leave")
	}
}
