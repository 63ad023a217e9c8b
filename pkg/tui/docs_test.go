package tui

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/lists"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/pages"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/pod"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/rollout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// shownKeys are the keys of each screen, by the bold word with which its paragraph in docs/ui.md begins.
var shownKeys = map[string][]screen.Binding{
	"Workloads": lists.Workloads{}.Keys(), "Rollout": rollout.Screen{}.Keys(), "Pod": pod.Screen{}.Keys(), "Logs": pages.Log{}.Keys(),
	"YAML": pages.Object{}.Keys(), "Diff": pages.Diff{}.Keys(), "Plan": plan.Screen{}.Keys(), "SidecarSets": lists.Sidecars{}.Keys(), "Distributions": lists.Distributions{}.Keys(),
}

var (
	aboutScreen = regexp.MustCompile(`^\*\*(\w+)\*\*`)
	opener      = regexp.MustCompile(`\*\*\w+\*\* \([^)]*\)`)
	keyDoes     = regexp.MustCompile("`([!-~]|enter|space|tab|left|right)` (\\w+)")
	keyOnPage   = regexp.MustCompile("`([!-~]|enter|space|tab|left|right|esc|backspace|pgup|pgdown|ctrl-[a-z])`")
)

// TestDocs_KeysExist: a key that docs/ui.md names for a screen is one of that screen, or of all.
func TestDocs_KeysExist(t *testing.T) {
	of := slices.Concat(moves, jumps(), []screen.Binding{everywhere.back, everywhere.filter, everywhere.command, everywhere.copy, everywhere.help, everywhere.quit})
	for _, v := range verbs {
		of = append(of, v.Binding)
	}
	anywhere := slices.Clone(of)
	for _, list := range shownKeys {
		anywhere = append(anywhere, list...)
	}
	seen := map[string]int{}
	for paragraph := range strings.SplitSeq(page(t, "ui.md"), "\n\n") {
		m := aboutScreen.FindStringSubmatch(paragraph)
		if m == nil || shownKeys[m[1]] == nil {
			continue
		}
		for _, key := range keysOf(strings.Join(opener.FindAllString(paragraph, -1), " ")) {
			seen[m[1]]++
			if !has(anywhere, key) {
				t.Errorf("%s: no screen has the key %q", m[1], key)
			}
		}
		paragraph = opener.ReplaceAllString(paragraph, "")
		for _, key := range keysOf(paragraph) {
			seen[m[1]]++
			if !has(of, key) && !has(shownKeys[m[1]], key) {
				t.Errorf("%s: the screen has no key %q", m[1], key)
			}
		}
		for _, does := range keyDoes.FindAllStringSubmatch(paragraph, -1) {
			if b := doing(shownKeys[m[1]], strings.TrimSuffix(does[2], "s")); b != nil && !slices.Contains(b.Keys, does[1]) {
				t.Errorf("%s: the page says that %q %s, which is %q", m[1], does[1], does[2], b.Keys)
			}
		}
	}
	for _, name := range []string{"Rollout", "Pod", "Logs", "Diff", "Plan", "SidecarSets"} {
		if seen[name] == 0 {
			t.Errorf("docs/ui.md names no key of %s: the test reads it wrong", name)
		}
	}
}

// TestDocs_ActionsAreThoseOfTheKeys: the table of docs/ui.md has each key that changes the cluster.
func TestDocs_ActionsAreThoseOfTheKeys(t *testing.T) {
	_, table, _ := strings.Cut(page(t, "ui.md"), "\n## Actions\n")
	for _, v := range verbs {
		if !strings.Contains(table, "\n| `"+v.Keys[0]+"` | ") {
			t.Errorf("no row for %s, %s", v.Keys[0], v.Does)
		}
	}
}

// TestDocs_NightKeysAreOfTheWorkloads: what docs/night.md tells to press after `kubectl kruise ui` is a key of its first screen.
func TestDocs_NightKeysAreOfTheWorkloads(t *testing.T) {
	found := 0
	for line := range strings.Lines(page(t, "night.md")) {
		if !strings.Contains(line, "`kubectl kruise ui") {
			continue
		}
		for _, key := range keysOf(line) {
			found++
			if !has(shownKeys["Workloads"], key) {
				t.Errorf("%q is no key of the workloads", key)
			}
		}
	}
	if found == 0 {
		t.Error("no key found: the test reads the page wrong")
	}
}

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(checkout.Path("docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func keysOf(text string) []string {
	var out []string
	for _, m := range keyOnPage.FindAllStringSubmatch(text, -1) {
		out = append(out, strings.Replace(m[1], "ctrl-", "ctrl+", 1))
	}
	return out
}

// doing is the key whose word on the screen is this one, nil for none.
func doing(list []screen.Binding, word string) *screen.Binding {
	for i := range list {
		if list[i].Does == word {
			return &list[i]
		}
	}
	return nil
}

func has(list []screen.Binding, key string) bool {
	return slices.ContainsFunc(list, func(b screen.Binding) bool { return b.Is(key) || slices.Contains(b.Keys, key) })
}
