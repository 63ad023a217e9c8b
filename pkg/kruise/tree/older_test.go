package tree

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"
	kubectl "sigs.k8s.io/yaml"
)

// words are scalars that one reader or another takes for something else than text.
var words = strings.Fields(`yes no on off y n Y N Yes YES No NO On ON Off OFF oN yEs true True TRUE tRue false
	0755 -0755 08 0o17 0O17 -0o17 0b1 0b102 -0b11 0b-11 0b+1 0b1e1 10b1 0x1F 0x1_F 0x11_ 0x1__ 01__0 4e100 1_000 1_ _1 1__0 12:30:45 1:30 190:20:30.15 12e3 1E3 +1 -1 -0
	0.10 1. .5 +.5 1.10 1.0 1e-7 1e21 123456789.5 16777217.0 9007199254740993 685_230.15 1e400
	2001-01-01 2001-01-01T00:00:00Z = 10Mi 1.2.3 web`)

// TestOlder holds what is read against kubectl's own reader, as a value and as a key.
func TestOlder(t *testing.T) {
	for _, word := range words {
		for _, text := range []string{word + ": x\n", "a: " + word + "\n", "a: [b, " + word + "]\n", "a: '" + word + "'\n", "\"" + word + "\": a\n", "a: !!str " + word + "\n"} {
			want, err := kubectl.YAMLToJSON([]byte(text))
			if err != nil {
				t.Fatal(text, err)
			}
			n := document(t, text)
			if _, err := Older(n); err != nil {
				t.Fatal(text, err)
			}
			got, err := json.Marshal(Value(n))
			if err != nil || string(got) != string(want) {
				t.Errorf("%q is read as %s, want %s", text, got, want)
			}
			if back, err := kubectl.YAMLToJSON([]byte(printed(t, n))); err != nil || string(back) != string(want) {
				t.Errorf("%q is printed as %s", text, back)
			}
		}
	}
}

func TestOlder_ReportsValuesOfYAML11(t *testing.T) {
	for text, want := range map[string]Reread{
		"spec: {list: [{value: Off}]}":   {Path: "spec.list[0].value", Was: "Off", Is: "false"},
		"data: {on: a}":                  {Path: "data.true", Was: "on", Is: "true", Key: true},
		"data: {a.b: no, c: \"no\"}":     {Path: "data[a.b]", Was: "no", Is: "false"},
		"data: {0755: a, 1: b, '01': 2}": {Path: "data.493", Was: "0755", Is: "493", Key: true},
	} {
		n := document(t, text)
		got, err := Older(n)
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if again, _ := Older(n); len(again) > 0 {
			t.Errorf("%s: %+v the second time", text, again)
		}
	}
}

func TestOlder_RefusesWhatKubectlCannotRead(t *testing.T) {
	for text, want := range map[string]string{
		"a: {yes: 1, 'true': 2}": `a: kubectl reads two keys as "true"`,
		"a: [.inf]":              "a[0]: .inf is not a number that JSON has: kubectl cannot read it",
		"a: -.Inf":               "a: -.Inf is not a number that JSON has: kubectl cannot read it",
		"a: .NaN":                "a: .NaN is not a number that JSON has: kubectl cannot read it",
	} {
		if _, err := Older(document(t, text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzOlder: words are read as kubectl's own reader reads them, or refused.
func FuzzOlder(f *testing.F) {
	for _, word := range words {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if len(word) > 32 || strings.Trim(word, "+-._:0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ~=") != "" {
			return // more than a word
		}
		for _, text := range []string{"a: " + word + "\n", word + ": x\n"} {
			want, err := kubectl.YAMLToJSON([]byte(text))
			parsed, perr := yaml.Parse(text)
			if err != nil || perr != nil {
				continue
			}
			n := parsed.YNode()
			if _, err := Older(n); err != nil {
				continue
			}
			if got, err := json.Marshal(Value(n)); err != nil || !alike(t, got, want) {
				t.Errorf("%q is read as %s, want %s", text, got, want)
			}
		}
	})
}

// alike compares numbers as floats: a [Value] has none above 2^63 that is exact.
func alike(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}
