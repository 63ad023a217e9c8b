package redact

import (
	"strings"
	"testing"
)

func TestMessage_KeepsPhrasesAndNames(t *testing.T) {
	known := Names{}
	for _, name := range []string{"a.yaml", "apps/v1", "Secret", "db", "Kustomization"} {
		known.Add(name)
	}
	for said, want := range map[string]string{
		"yaml: line 3: did not find expected ',' or ']'":                                        "yaml: line 3: did not find expected ',' or ']'",
		"yaml: unknown anchor 'hunter2' referenced":                                             "yaml: unknown anchor ***",
		"wrong node kind: expected MappingNode but got ScalarNode: node contents:\nhunter2 x\n": "***",
		"json: cannot unmarshal string into Go struct field Kustomization.x of type y":          "",
		"accumulating resources from 'a.yaml': hunter2":                                         "accumulating resources from a.yaml: ***",
		"no matches for Id Secret.v1.apps/db.[noNs]; failed to find unique target for patch x":  "",
		"hunter2": "***", "": "", "'''": "",
		"hunter2 line 12":                "***",
		"yaml: line 12345678901":         "yaml: ***",
		"json: unknown field \"a.yaml\"": "json: unknown field a.yaml",
	} {
		got := Message(said, known)
		if want != "" && !strings.HasPrefix(want, "***") && got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
		if strings.Contains(got, "hunter2") || said != "" && strings.Trim(said, "'") != "" && got == "" {
			t.Errorf("%q: %q", said, got)
		}
	}
}

// FuzzMessage: a word that no library and no caller knows never comes through, wherever in
// a message it is and whatever is around it.
func FuzzMessage(f *testing.F) {
	f.Add("wrong node kind: expected ", ": node contents:\n")
	f.Add("json: unknown field \"", "\"")
	f.Add("yaml: line 3: ", "0")
	f.Add("[map[a:", "]]")
	f.Fuzz(func(t *testing.T, before, after string) {
		if len(before)+len(after) > 128 {
			return
		}
		const secret = "Zq7hunter2xZ"
		got := Message(before+secret+after, Names{"a": true})
		if strings.Contains(got, secret) {
			t.Errorf("%q", got)
		}
	})
}

func TestText(t *testing.T) {
	for _, text := range []string{"kind: Secret", `"secretGenerator":`, "name: DB_PASSWORD", "MY_PWD: x", "apiKey: x"} {
		if !Text([]byte(text)) {
			t.Errorf("%q may be secret", text)
		}
	}
	if Text([]byte("kind: ConfigMap\nmetadata: {name: cwd}\n")) {
		t.Error("nothing secret is in it")
	}
}
