package tree

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// What is written must be read as the same text by readers of YAML 1.1 and 1.2.
func TestString_IsReadAsTheSameText(t *testing.T) {
	for text, want := range map[string]string{
		"web": "web", "yes": `"yes"`, "No": `"No"`, "ON": `"ON"`, "off": `"off"`, "true": `"true"`, "False": `"False"`,
		"y": `"y"`, "N": `"N"`, "null": `"null"`, "~": `"~"`, "": `""`, "7": `"7"`, "1.5": `"1.5"`, "1e3": `"1e3"`, "0777": `"0777"`, "0o17": `"0o17"`,
		"0x1F": `"0x1F"`, "1_000": `"1_000"`, "12:30:45": `"12:30:45"`, "22:22": `"22:22"`, "-1:30.5": `"-1:30.5"`, "a:1": "a:1", "80:80": "80:80", "12:30:x": "12:30:x", "2026-01-02": `"2026-01-02"`, ".inf": `".inf"`, ".NaN": `".NaN"`, "<<": `"<<"`, "=": `"="`,
		"yesterday": "yesterday", "nullable": "nullable", "20%": "20%", "1.2.3": "1.2.3", "10Mi": "10Mi", "a b": "a b", "v1": "v1",
	} {
		got := printed(t, String(text))
		if got != want+"\n" {
			t.Errorf("%q is written as %s, want %s", text, got, want)
		}
		if back := Value(document(t, got)); back != text {
			t.Errorf("%q comes back as %v", text, back)
		}
	}
}

// FuzzString: what is taken for text at a glance is what the exact test takes for it.
func FuzzString(f *testing.F) {
	for _, s := range []string{
		"a", "y", "N", "Yes", "nO", "off", "oN", "null", "NULL", "True", "name", "web-1:2", "a:", ":a", "a: b", "a::b", "reg:5000/x@sha256:0a", "1:2", "10m", "16Mi", "1e3", "0x1g", "0b1",
		"0o7", "1_000", "2026-11-22", "2026-11-22T15:10:30Z", "12:30:45", "1.2.3", "1.5Gi", "1m:", "e", "inf", "nan", ".nan", "a.b", "-a", "t", "F", "no-", "0.5s", "1:30m", "5m0s",
		"", "a,b,c", "1,000", "y ", "a b", "a #b", "a: b", "/bin/sh", "/", "-c", "-1", "-inf", "--port=8080", "--", "---", "--- a", "./x", "$(HOME)/a", "{}", "[]", "[1, 2]", `{"a":1}`, `{"a":1,"a":2}`, `{"a":"b: c"}`,
		`{"a b":[true,null,1e5]}`, `[[[[]]]]`, `{"":""}`, `{"a" : "#"}`, "[ ]", "a{b}", "a[0]", "x\ty", "sh -c 'a && b'", `say "hi"`, "a:b: c", "1 G", "0x1,2", "12:30,5",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 64 {
			return
		}
		word := len(s) >= 6 && letters(s[:6]) // which the exact test takes for more, with ": " in it
		n := &Node{Kind: yaml.ScalarNode, Tag: yaml.NodeTagString, Value: s}
		if !word && plainSafe(s) && (yaml.IsYaml1_1NonString(n) || special.MatchString(s)) {
			t.Errorf("%q is more than text", s)
		}
		if flowSafe(s) && !yaml.IsYaml1_1NonString(n) {
			t.Errorf("%q is text", s)
		}
	})
}

// TestString_NeedsNoParser: names, images and amounts are distinguished from numbers without a parser.
func TestString_NeedsNoParser(t *testing.T) {
	for _, s := range []string{"env", "name", "image", "type", "nginx:1.25", "registry.example.com:5000/shop/app:1.2.3", "10m", "16Mi", "web-1", "app.kubernetes.io/name", "RollingUpdate", "", "a,b", "/bin/sh", "--port=8080", "$(HOME)/bin"} {
		if n := testing.AllocsPerRun(10, func() { String(s) }); n > 2 {
			t.Errorf("%q: %v allocations", s, n)
		}
	}
}

func TestMap(t *testing.T) {
	n := Map("a", "x", "b", 1, "c", int64(2), "d", true, "e", Null(), "f", Seq(String("y")))
	want := map[string]any{"a": "x", "b": int64(1), "c": int64(2), "d": true, "e": nil, "f": []any{"y"}}
	if diff := cmp.Diff(want, Value(n)); diff != "" {
		t.Error(diff)
	}
	defer func() {
		if recover() == nil {
			t.Error("a literal of another type is a programming error")
		}
	}()
	Map("a", 1.5)
}

func TestEdits_ChangeTheTree(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		edit           func(n *Node)
	}{
		{"Set keeps the place", "{a: 1, b: 2, c: 3}", "{a: 1, b: x, c: 3}", func(n *Node) { Set(n, "b", String("x")) }},
		{"Set appends", "{a: 1}", "{a: 1, b: x}", func(n *Node) { Set(n, "b", String("x")) }},
		{"SetAt makes the way", "{a: 1}", "{a: 1, b: {c: {d: x}}}", func(n *Node) { SetAt(n, String("x"), "b", "c", "d") }},
		{"SetAt replaces what is not a mapping", "{b: 1}", "{b: {c: x}}", func(n *Node) { SetAt(n, String("x"), "b", "c") }},
		{"InsertAfter", "{a: 1, b: 2}", "{a: 1, x: w, b: 2}", func(n *Node) { InsertAfter(n, "a", "x", String("w")) }},
		{"InsertAfter the last", "{a: 1}", "{a: 1, x: w}", func(n *Node) { InsertAfter(n, "a", "x", String("w")) }},
		{"InsertAfter nothing", "{a: 1}", "{a: 1, x: w}", func(n *Node) { InsertAfter(n, "q", "x", String("w")) }},
		{"InsertAfter of a key that is there", "{x: 1, a: 2}", "{x: w, a: 2}", func(n *Node) { InsertAfter(n, "a", "x", String("w")) }},
		{"Delete", "{a: 1, b: 2}", "{b: 2}", func(n *Node) { Delete(n, "a") }},
		{"Delete of nothing", "{a: 1}", "{a: 1}", func(n *Node) { Delete(n, "b") }},
		{"DeleteAt", "{a: {b: 1, c: 2}}", "{a: {c: 2}}", func(n *Node) { DeleteAt(n, "a", "b") }},
		{"DeleteAt of nothing", "{a: 1}", "{a: 1}", func(n *Node) { DeleteAt(n, "b", "c"); DeleteAt(n, "a", "c") }},
		{"Ensure", "{a: null, b: [1]}", "{a: {x: {}}, b: {}}", func(n *Node) { Ensure(n, "a", "x"); Ensure(n, "b") }},
		{"EnsureSeq", "{a: {b: [1]}}", "{a: {b: [1], c: []}, d: []}", func(n *Node) { EnsureSeq(n, "a", "b"); EnsureSeq(n, "a", "c"); EnsureSeq(n, "d") }},
		{"SortKeys at one level", "{c: {z: 1, y: 2}, a: 1}", "{a: 1, c: {z: 1, y: 2}}", SortKeys},
	} {
		n := root(t, c.in)
		c.edit(n)
		n.Style = yaml.FlowStyle
		if got := printed(t, n); got != printed(t, root(t, c.want)) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	SortKeys(nil)
	SortKeys(Seq())
	if Delete(nil, "a") != nil || Delete(Seq(), "a") != nil {
		t.Error("there is nothing to delete in what is not a mapping")
	}
}

// Deleting must not write into a copy that shares its elements.
func TestDelete_LeavesCopiesAlone(t *testing.T) {
	n := root(t, "{a: {b: 1}, c: 2, d: [3]}")
	shallow, deep := Shallow(n), Clone(n)
	Delete(shallow, "a")
	Set(shallow, "c", String("x"))
	SetAt(deep, String("y"), "a", "b")
	if diff := cmp.Diff(Value(root(t, "{a: {b: 1}, c: 2, d: [3]}")), Value(n)); diff != "" {
		t.Errorf("the original was changed: %s", diff)
	}
	if Get(shallow, "d") != Get(n, "d") || Get(deep, "d") == Get(n, "d") {
		t.Error("a shallow copy shares its children, a clone does not")
	}
	if Clone(nil) != nil || Shallow(nil) != nil {
		t.Error("nothing has no copy")
	}
}
