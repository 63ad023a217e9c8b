package tree

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

func root(tb testing.TB, text string) *Node {
	tb.Helper()
	return Root(document(tb, text))
}

const sampler = `
text: plain
quoted: "7"
number: 7
hex: 0x10
huge: 99999999999999999999
float: 1.5
yes: true
no: False
null: ~
list: [a, {name: b}, 3]
map: {k: v, n: 1, z: null}
`

func TestReading(t *testing.T) {
	n := root(t, sampler)
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"Str of text", StrAt(n, "text"), "plain"},
		{"Str of a number as written", StrAt(n, "hex"), "0x10"},
		{"Str of null", StrAt(n, "null"), ""},
		{"Str of a list", StrAt(n, "list"), ""},
		{"Str through a list", StrAt(n, "list", "name"), ""},
		{"Str of nothing", StrAt(nil, "a"), ""},
		{"Get of null", Get(n, "null") == nil, true},
		{"Get of nothing", Get(n, "map", "missing", "deeper") == nil, true},
		{"Get without a path", Get(n) == n, true},
		{"Has of null", Has(n, "null"), true},
		{"Has of nothing", Has(n, "missing"), false},
		{"Has of nil", Has(nil, "a"), false},
		{"IsString of quoted", IsString(Get(n, "quoted")), true},
		{"IsString of a number", IsString(Get(n, "number")), false},
		{"IsString of nil", IsString(nil), false},
		{"IsScalar of null", IsScalar(field(n, "null")), true},
		{"IsMap", IsMap(Get(n, "map")) && !IsMap(nil) && !IsMap(Get(n, "list")), true},
		{"IsSeq", IsSeq(Get(n, "list")) && !IsSeq(nil) && !IsSeq(Get(n, "map")), true},
		{"IsNull", IsNull(nil) && IsNull(field(n, "null")) && IsNull(&Node{}) && !IsNull(n), true},
		{"IsBool", IsBool(Get(n, "no")) && !IsBool(Get(n, "text")) && !IsBool(nil), true},
		{"Bool true", Bool(Get(n, "yes")), true},
		{"Bool False", Bool(Get(n, "no")), false},
		{"Bool of text", Bool(Get(n, "text")), false},
		{"Bool of nil", Bool(nil), false},
		{"Items of a map", Items(Get(n, "map")) == nil, true},
		{"Items", len(Items(Get(n, "list"))), 3},
		{"Strings", Strings(Get(n, "map")), map[string]string{"k": "v", "n": "1", "z": ""}},
		{"Strings of a list", Strings(Get(n, "list")) == nil, true},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

func TestInt(t *testing.T) {
	n := root(t, sampler)
	for key, want := range map[string]int64{"number": 7, "hex": 16} {
		if got, ok := Int(Get(n, key)); got != want || !ok {
			t.Errorf("%s: %d %v", key, got, ok)
		}
	}
	for _, key := range []string{"text", "quoted", "huge", "float", "yes", "null", "list", "missing"} {
		if got, ok := Int(Get(n, key)); ok {
			t.Errorf("%s: %d", key, got)
		}
	}
}

func TestFind(t *testing.T) {
	n := root(t, sampler)
	if item, i := Find(Get(n, "list"), "name", "b"); i != 1 || StrAt(item, "name") != "b" {
		t.Error(item, i)
	}
	for _, list := range []*Node{Get(n, "list"), Get(n, "map"), nil} {
		if item, i := Find(list, "name", "other"); item != nil || i != -1 {
			t.Error(item, i)
		}
	}
}

func TestRoot(t *testing.T) {
	d := document(t, "a: 1")
	if Root(d) != d.Content[0] || Root(Root(d)) != d.Content[0] || Root(nil) != nil || Root(&Node{Kind: yaml.DocumentNode}) != nil {
		t.Error("the root of a document is its content")
	}
}

func TestAt(t *testing.T) {
	n := root(t, "spec:\n  containers:\n  - name: a\n    env:\n    - {name: X}\n  - name: b\nmetadata:\n  labels:\n    k8s.io/x: v\n")
	for _, c := range []struct {
		path  string
		line  int
		whole bool
	}{
		{"", 1, true},
		{"spec.containers[0].env[0].name", 5, true},
		{"spec.containers[1].name", 6, true},
		{"spec.containers[1].image", 6, false},
		{"spec.containers[2].name", 3, false},
		{"spec.containers[-1]", 3, false},
		{"spec.containers.name", 3, false},
		{"metadata.labels[k8s.io/x]", 9, true},
		{"metadata.labels[other]", 9, false},
		{"status.phase", 1, false},
	} {
		at, whole := At(n, c.path)
		if at.Line != c.line || whole != c.whole || LineOf(n, c.path) != c.line {
			t.Errorf("%s: line %d, whole %v", c.path, at.Line, whole)
		}
	}
	if LineOf(nil, "a.b") != 0 {
		t.Error("nothing has no line")
	}
}

func TestSteps(t *testing.T) {
	for path, want := range map[string][]string{
		"": nil, "a": {"a"}, "a.b[2].c": {"a", "b", "2", "c"},
		"metadata.labels[k8s.io/x]": {"metadata", "labels", "k8s.io/x"}, "[0][1]": {"0", "1"}, "a..b": {"a", "b"},
	} {
		if diff := cmp.Diff(want, Steps(path)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

func TestCount(t *testing.T) {
	n := Map("a", 1, "b", Seq(String("x"), Map()))
	if got, want := Count(n).Nodes, Weigh(n).Nodes; got != want || Count(nil) != (Weight{}) {
		t.Errorf("%d, want %d", got, want)
	}
}
