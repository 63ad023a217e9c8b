package load_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// TestLoad_BoundsTheInput: what all files hold together is bounded before it is parsed, however
// little each piece of it is.
func TestLoad_BoundsTheInput(t *testing.T) {
	const (
		objects = "the input holds more than 50 objects | read parts of it apart, or raise the limit of objects"
		bytes   = "all files together are larger than 1000 bytes | read parts of them apart, or raise the limit with --limit input-bytes=N"
	)
	long := "# " + strings.Repeat("x", 600) + "\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"several files":     {map[string]string{"a.yaml": long + config("a"), "b.yaml": long + config("b")}, []string{bytes}},
		"many documents":    {map[string]string{"a.yaml": strings.Repeat("a\n---\n", 60)}, []string{objects}},
		"documents of many": {map[string]string{"a.yaml": strings.Repeat("a\n---\n", 30), "b.yaml": strings.Repeat("a\n---\n", 30)}, []string{objects}},
		"values of JSON":    {map[string]string{"a.json": strings.Repeat("{}", 60)}, []string{objects}},
		"room for all":      {map[string]string{"a.yaml": config("a"), "b.yaml": config("b")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			folder(t, c.files)
			_, err := load.Load(t.Context(), load.Options{Files: []string{"."}, MaxFileBytes: 900, MaxInputBytes: 1000, MaxObjects: 50})
			if diff := cmp.Diff(c.want, faults(err)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestLoad_TakesInputAsLargeAsAFile: who allows a larger file allows that it is read.
func TestLoad_TakesInputAsLargeAsAFile(t *testing.T) {
	text := "# " + strings.Repeat("x", 600) + "\n" + config("a")
	_, err := load.Load(t.Context(), load.Options{Files: []string{"-"}, Stdin: strings.NewReader(text), MaxFileBytes: 900, MaxInputBytes: 100})
	if err != nil {
		t.Error(err)
	}
}

// TestLoad_BoundsFaultsOfOneFile: a file of lines that are all wrong is given up.
func TestLoad_BoundsFaultsOfOneFile(t *testing.T) {
	_, err := load.Load(t.Context(), load.Options{Files: []string{"-"}, Stdin: strings.NewReader(strings.Repeat("%A\n", 5000))})
	if n := len(faults(err)); n == 0 || n > 200 {
		t.Errorf("%d faults", n)
	}
}

// TestAll_LimitsCountTextsTogether: several texts are bounded as one input is.
func TestAll_LimitsCountTextsTogether(t *testing.T) {
	text := []byte(config("a") + "data: {a: [" + strings.Repeat("x,", 500_000) + "]}\n")
	var all []load.Named
	for i := range 8 {
		all = append(all, load.Named{Name: fmt.Sprintf("%d.yaml", i), Read: func() ([]byte, error) { return text, nil }})
	}
	if _, err := load.All(all); err == nil || !strings.Contains(err.Error(), "the input holds more than 3000000 values") {
		t.Error(err)
	}
	if got, err := load.All(all[:2]); err != nil || len(got) != 2 || got[1].Origin.File != "1.yaml" {
		t.Error(len(got), err)
	}
}

// TestLoad_CountsWhatAliasesRepeat: copies of a long text share it in memory and are written out
// each, so that they count before they are made; of several documents, together.
func TestLoad_CountsWhatAliasesRepeat(t *testing.T) {
	const (
		document = "aliases repeat more than 1000 bytes | write the repeated parts out, or split the document"
		all      = "all files together are larger than 2000 bytes with their aliases written out | read parts of them apart, or raise the limit with --limit input-bytes=N"
	)
	with := func(name string, aliases int) string {
		return config(name) + "data:\n  a: &a " + strings.Repeat("x", 100) + "\n  b: &b {c: *a}\n" + aliasesOf("b", aliases)
	}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"one document":       {with("a", 20), []string{"a.yaml:16: " + document}},
		"documents together": {with("a", 7) + "---\n" + with("b", 7) + "---\n" + with("c", 7), []string{all}},
		"little":             {with("a", 7), nil},
	} {
		t.Run(name, func(t *testing.T) {
			folder(t, map[string]string{"a.yaml": c.text})
			_, err := load.Load(t.Context(), load.Options{Files: []string{"."}, MaxFileBytes: 2000, MaxInputBytes: 2000, MaxDocumentBytes: 1000})
			if diff := cmp.Diff(c.want, faults(err)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// aliasesOf are entries of a mapping that name an anchor.
func aliasesOf(anchor string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  k%d: *%s\n", i, anchor)
	}
	return b.String()
}
