package finding

import (
	"strings"
	"testing"
)

// TestParse_IsStrict: a mistake in a file of the catalogue is an error, and no rule is lost by it.
func TestParse_IsStrict(t *testing.T) {
	const good = "kind: CloneSet\nrules:\n- id: cloneset/a\n  severity: exact\n  becomes: the same\n"
	for text, want := range map[string]string{
		good: "",
		good + "- id: b\n  kinds: [CloneSet, DaemonSet]\n  severity: lost\n  becomes: nothing\n": "",
		"":                                    "EOF",
		good + "  becomes: another\n":         "already defined",
		good + "  note: x\n":                  "field note not found",
		good + "rule: x\n":                    "field rule not found",
		strings.Replace(good, "exact", "", 1): `unknown severity ""`,
		strings.Replace(good, "exact", "harmless", 1):                                            `unknown severity "harmless"`,
		strings.Replace(good, "the same", `""`, 1):                                               "text is missing",
		strings.Replace(good, "kind: CloneSet\n", "", 1):                                         "kind or text is missing",
		strings.Replace(good, "cloneset/a", `""`, 1):                                             "its id",
		good + "- id: cloneset/a\n  severity: lost\n  becomes: nothing\n":                        "two rules",
		good + "- id: a\n  kinds: [DaemonSet, CloneSet]\n  severity: lost\n  becomes: nothing\n": "two rules",
	} {
		rules, err := parse([]byte(text))
		if want == "" && (err != nil || len(rules) == 0 || rules["cloneset/a"].Kind != "CloneSet") {
			t.Errorf("%s: %v, %v", text, rules, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if rules, _ := parse([]byte("rules:\n- id: b\n  kinds: [CloneSet, DaemonSet]\n  severity: lost\n  becomes: nothing\n")); rules["cloneset/b"].Kind != "CloneSet" || rules["daemonset/b"].Kind != "DaemonSet" || len(rules) != 2 {
		t.Errorf("a rule of two kinds: %v", rules)
	}
}

// TestFiles_HaveTheirRules: a rule is looked up in the file that its ID begins with, and every rule
// of several kinds has such files.
func TestFiles_HaveTheirRules(t *testing.T) {
	for prefix, rules := range byPrefix() {
		for id, r := range rules() {
			if got, ok := find(id); !ok || got.Kind != r.Kind {
				t.Errorf("rules/%s.yaml: %s is found as %+v", prefix, id, got)
			}
		}
	}
	for id := range shared() {
		if !Known(id) {
			t.Errorf("shared.yaml: %s has no file", id)
		}
	}
}
