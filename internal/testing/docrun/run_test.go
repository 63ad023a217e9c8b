package docrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ran runs a page and returns what is wrong with it, and the page afterwards.
func ran(t *testing.T, text string, update bool) (faults, after string) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	path, dir := filepath.Join(t.TempDir(), "page.md"), t.TempDir()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &run{shell: shell{Ground: Ground{Dir: dir, Env: []string{"WHO=ada"}}, bash: bash, top: dir, state: t.TempDir()}, update: update, logf: t.Logf}
	if err := r.page(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	out, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(r.faults, "\n"), string(out)
}

func console(lines string) string { return "```console\n" + lines + "\n```\n" }

func script(lines string) string { return "```sh\n" + lines + "\n```\n" }

func TestRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ page, fault string }{
		"both streams":              {console("$ echo $WHO; echo no >&2\nada\nno"), ""},
		"another output":            {console("$ echo $WHO\neve"), "line 2: echo $WHO prints\nada\nnot, as shown,\neve"},
		"a failure":                 {console("$ echo a; false\na"), "line 2: echo a; false: exit 1, want 0\na"},
		"a failure as said":         {"<!-- exits 1 -->\n" + console("$ echo a; false\na"), ""},
		"a script fails":            {script("false\ntrue"), "line 1: exit 1\n"},
		"a script in a pipe":        {script("false | cat"), "line 1: exit 1\n"},
		"a script fails as said":    {"<!-- exits 1 -->\n" + script("false\ntrue"), ""},
		"a script fails otherwise":  {"<!-- exits 1 -->\n" + script("false\n(exit 2)\ntrue"), "line 2: exit 2\n"},
		"the folder is kept":        {script("mkdir a\ncd a") + console("$ basename $(pwd)\na") + script("[ $TOP = $(dirname $(pwd)) ]"), ""},
		"names of this run":         {"<!-- before: echo web-1 actual >> $NAMES -->\n" + console("$ echo web-1 > f; cat f; grep -c actual f\nweb-1\n1"), ""},
		"names of another run":      {"<!-- before: echo web-1 one > $NAMES -->\n<!-- before: echo web-1 two > $NAMES -->\n" + console("$ echo web-1 | tr a-z A-Z\nTWO"), ""},
		"what is below a failure":   {script("false") + script("exit 5"), "line 1: exit 1\n"},
		"what is not run":           {"<!-- not run: never -->\n" + script("false"), ""},
		"what goes on for ever":     {"<!-- until: 2 of $WHO's -->\n" + script("for i in 1 2 3; do echo $i of \\$WHO\\'s; done; read < <(tail -f /dev/null)") + script("true"), ""},
		"what ends before":          {"<!-- until: 4 -->\n" + script("seq 3"), "line 2: exit 1\n1\n2\n3"},
		"a program that is missing": {"<!-- needs: no-such-program -->\n" + script("false"), ""},
		"a program that is there":   {"<!-- needs: bash -->\n" + script("false"), "line 2: exit 1\n"},
		"output after many others":  {console("$ seq 5\n1\n…\n5"), ""},
		"nothing shown is no print": {console("$ echo a"), "line 2: echo a prints\na\nnot, as shown,\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, _ := ran(t, c.page, false); got != c.fault {
				t.Errorf("%q, want %q", got, c.fault)
			}
		})
	}
}

func TestRun_UpdatesOutput(t *testing.T) {
	t.Parallel()
	before := console("$ echo 1\nold\nolder\n$ echo same 1s\nsame 2s") + "words\n" + console("$ seq 2")
	faults, after := ran(t, before, true)
	if want := console("$ echo 1\n1\n$ echo same 1s\nsame 2s") + "words\n" + console("$ seq 2\n1\n2"); faults != "" || after != want {
		t.Errorf("%s\n%s", faults, after)
	}
}
