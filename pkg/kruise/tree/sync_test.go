package tree

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSync(t *testing.T) {
	for _, c := range []struct{ name, dst, want, text string }{
		{
			"nothing changes",
			"# head\nb: 'x' # of b\na:\n# of c\n- c: 0x10\n", "{a: [{c: 16}], b: x}",
			"# head\nb: 'x' # of b\na:\n# of c\n- c: 0x10\n",
		},
		{
			"a value changes, the rest stays",
			"b: \"x\" # of b\na: 1 # of a\n", "{a: 2, b: x}",
			"b: \"x\" # of b\na: 2\n",
		},
		{
			"keys go and come",
			"# of c\nc: 3\nb: 2\n", "{a: 1, c: 3, d: 4}",
			"# of c\nc: 3\na: 1\nd: 4\n",
		},
		{
			"elements are paired by name",
			"- name: a # first\n  v: 1\n- name: b # second\n  v: 2\n", "[{name: b, v: 2}, {name: c}, {name: a, v: 9}]",
			"- name: b # second\n  v: 2\n- name: c\n- name: a # first\n  v: 9\n",
		},
		{
			"an element between others",
			"- name: a # first\n- name: b # second\n", "[{name: new}, {name: a}, {name: b}]",
			"- name: new\n- name: a # first\n- name: b # second\n",
		},
		{
			"by mount path before key",
			"- mountPath: /x # x\n- mountPath: /y # y\n", "[{mountPath: /y}]",
			"- mountPath: /y # y\n",
		},
		{
			"without a merge key, by position",
			"- {weight: 1} # one\n- {weight: 2}\n", "[{weight: 1}, {weight: 3}]",
			"- {weight: 1} # one\n- {weight: 3}\n",
		},
		{
			"two of the same name",
			"- {name: a, v: 1}\n- {name: a, v: 2}\n", "[{name: a, v: 1}, {name: a, v: 2}]",
			"- {name: a, v: 1}\n- {name: a, v: 2}\n",
		},
		{
			"scalars keep their quotes",
			"- 'a' # first\n- \"b\"\n", "[a, b, c]",
			"- 'a' # first\n- \"b\"\n- c\n",
		},
		{"another shape", "a: [1]\n", "{a: {b: 1}}", "a:\n  b: 1\n"},
		{"a list for text", "a: x\n", "{a: [x]}", "a:\n- x\n"},
		{"null", "a: x\nb: null\n", "{a: null, b: null}", "a: null\nb: null\n"},
	} {
		want := Value(document(t, c.want))
		got := Sync(root(t, c.dst), want)
		if diff := cmp.Diff(want, Value(got)); diff != "" {
			t.Errorf("%s: the meaning differs: -want +got\n%s", c.name, diff)
		}
		if text := printed(t, got); text != c.text {
			t.Errorf("%s:\n%s", c.name, cmp.Diff(c.text, text))
		}
	}
}

func TestSync_OfNull(t *testing.T) {
	if got := Value(Sync(nil, map[string]any{"a": int64(1)})); !cmp.Equal(got, map[string]any{"a": int64(1)}) {
		t.Error(got)
	}
	if !IsNull(Sync(nil, nil)) || !IsNull(Sync(root(t, "{a: 1}"), nil)) {
		t.Error("null is wanted")
	}
}
