package docrun

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const page = `# A page

<!-- run on: files -->
<!-- before: cd work -->
<!-- a comment for writers -->

` + "```console" + `
$ one
1
2
$ two \
  more
` + "```" + `

` + "```yaml\n$ not: a command\n```" + `

<!-- not run: no such program -->
` + "```sh\nother\n```" + `
<!--
before:
first
second
-->
<!-- exits 3 -->
` + "```sh\nthree\n```\n"

func TestParse(t *testing.T) {
	got, err := parse(page)
	if err != nil {
		t.Fatal(err)
	}
	want := []Block{
		{Kind: On, Line: 3, Text: "files"},
		{Kind: Before, Line: 4, Text: "cd work"},
		{Kind: Console, Line: 7, Commands: []Command{
			{Text: "one", Shown: []string{"1", "2"}, From: 9, To: 11},
			{Text: "two \\\n  more", From: 13, To: 13},
		}},
		{Kind: Script, Line: 20, Text: "other", Left: "no such program"},
		{Kind: Before, Line: 23, Text: "first\nsecond"},
		{Kind: Script, Line: 29, Text: "three", Exit: 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParse_RefusesBrokenPages(t *testing.T) {
	for text, want := range map[string]string{
		"```sh\nls\n":             "line 1: a block without an end",
		"\n<!-- exits well -->\n": "line 2: ",
		"<!-- before: ls":         "",
	} {
		_, err := parse(text)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
