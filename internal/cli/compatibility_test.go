package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/olderplugin"
)

// kubectls are commands that are others here: their row names kubectl's own, and what
// flags there are.
var kubectls = map[string]bool{"apply": true}

// row is a row of docs/compatibility.md.
type row struct{ older, here, difference string }

// rows are those of all tables, by what the older plugin is called with.
func rows(t *testing.T) map[string]row {
	t.Helper()
	page, err := os.ReadFile("../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]row{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 3 || !strings.HasPrefix(cells[0], "| `") {
			continue
		}
		key := strings.Trim(cells[0], "|` ")
		if _, twice := out[key]; twice {
			t.Errorf("%q has two rows", key)
		}
		out[key] = row{key, strings.TrimSpace(cells[1]), strings.TrimSpace(strings.TrimSuffix(cells[2], "|"))}
	}
	return out
}

// has reports whether our tree has a command, and one of its flags.
func has(command, flag string) bool {
	root := whole()
	c, rest, err := root.Find(strings.Fields(command))
	if err != nil || len(rest) > 0 || command != "" && c == root {
		return false
	}
	return flag == "" || c.Flags().Lookup(flag) != nil || c.InheritedFlags().Lookup(flag) != nil || command == "" && root.PersistentFlags().Lookup(flag) != nil
}

// TestOlderPlugin_EveryCommandAndFlagHasARow: every command of the older plugin has a row, and every flag of it is
// here or has one that says what to do.
func TestOlderPlugin_EveryCommandAndFlagHasARow(t *testing.T) {
	table := rows(t)
	for command, flags := range olderplugin.Commands {
		r, ok := table[command]
		if command != "" && !ok {
			t.Errorf("docs/compatibility.md has no row for %q", command)
		}
		there := has(command, "")
		if !there && r.difference == "" {
			t.Errorf("%q is not here, and docs/compatibility.md does not say so", command)
		}
		if kubectls[command] && strings.Contains(r.difference, "`kubectl "+command+"`") {
			continue
		}
		for flag := range strings.FieldsSeq(flags) {
			said := table[strings.TrimSpace(command+" --"+flag)].difference
			switch is := there && has(command, flag); {
			case !is && said == "":
				t.Errorf("%s --%s is not here, and docs/compatibility.md does not say so", command, flag)
			case is && strings.HasPrefix(said, "not here"):
				t.Errorf("%s --%s is here by now", command, flag)
			}
		}
	}
}

var code = regexp.MustCompile("`([^`]+)`")

// TestOlderPlugin_TheTableNamesExistingCommands: what the table says there is here is here.
func TestOlderPlugin_TheTableNamesExistingCommands(t *testing.T) {
	for _, r := range rows(t) {
		for _, m := range code.FindAllStringSubmatch(r.here, -1) {
			var command []string
			for word := range strings.FieldsSeq(m[1]) {
				if !strings.HasPrefix(word, "-") {
					if strings.ToUpper(word) == word || strings.Contains(word, "/") {
						break // what it is called with
					}
					command = append(command, word)
					continue
				}
				if name := strings.TrimPrefix(word, "--"); !has(strings.Join(command, " "), strings.SplitN(name, "=", 2)[0]) {
					t.Errorf("%s: there is no %s", r.older, m[1])
				}
			}
			if !has(strings.Join(command, " "), "") {
				t.Errorf("%s: there is no %s", r.older, m[1])
			}
		}
	}
}
