package tree

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

func TestValue(t *testing.T) {
	want := map[string]any{
		"text": "plain", "quoted": "7", "number": int64(7), "hex": int64(16), "huge": 1e20, "float": 1.5,
		"yes": true, "no": false, "null": nil,
		"list": []any{"a", map[string]any{"name": "b"}, int64(3)},
		"map":  map[string]any{"k": "v", "n": int64(1), "z": nil},
	}
	if diff := cmp.Diff(want, Value(document(t, sampler))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for text, want := range map[string]any{
		".inf": ".inf", "-.INF": "-.INF", ".nan": ".nan", "1e400": "1e400", "2026-01-02": "2026-01-02", "!!binary aGk=": "aGk=",
		"0o17": int64(15), "0b11": int64(3), "1_000": int64(1000), "-7": int64(-7), "+7": int64(7), "1.": int64(1), "6E0": int64(6), "-2.0": int64(-2), "yes": "yes", "# nothing": nil,
	} {
		if got := Value(document(t, text)); got != want {
			t.Errorf("%s: %T %v, want %T %v", text, got, got, want, want)
		}
	}
	if Value(nil) != nil {
		t.Error("nothing is null")
	}
}

func TestFromValue(t *testing.T) {
	for _, v := range []any{
		nil, "text", "yes", "", true, false, int64(0), int64(math.MinInt64), int64(math.MaxInt64), 1.5, 1e300, -0.25,
		[]any{},
		map[string]any{},
		[]any{nil, []any{"a"}},
		map[string]any{"z": int64(1), "a": map[string]any{"b": []any{"c"}}},
	} {
		if got := Value(FromValue(v)); !cmp.Equal(got, v) {
			t.Errorf("%#v comes back as %#v", v, got)
		}
		if got := Value(document(t, printed(t, FromValue(v)))); !cmp.Equal(got, v) {
			t.Errorf("%#v is read as %#v", v, got)
		}
	}
	type odd struct {
		Time  time.Time `json:"time"`
		Big   uint64    `json:"big"`
		Small float32   `json:"small"`
		Empty *int      `json:"empty,omitempty"`
		List  []string  `json:"list"`
	}
	got := Value(FromValue(odd{Time: time.Unix(0, 0).UTC(), Big: 1 << 60, Small: 0.5, List: []string{"a"}}))
	want := map[string]any{"time": "1970-01-01T00:00:00Z", "big": int64(1 << 60), "small": 0.5, "list": []any{"a"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for v, want := range map[any]any{7: int64(7), int32(7): int64(7), 3.0: int64(3), float64(1 << 60): float64(1 << 60)} {
		if got := Value(FromValue(v)); got != want {
			t.Errorf("%v: %T %v", v, got, got)
		}
	}
	n := String("x")
	if FromValue(n) != n {
		t.Error("a node is its own")
	}
	defer func() {
		if recover() == nil {
			t.Error("what cannot be marshalled is a programming error")
		}
	}()
	FromValue(func() {})
}

// TestShared: the nodes are those of [FromValue], the same of the same scalar.
func TestShared(t *testing.T) {
	value := map[string]any{"name": "name", "list": []any{"yes", int64(80), 80, int32(80), "80", nil, 1.5, true}, "typed": struct{ A []string }{[]string{"name"}}}
	var s Shared
	first, again := s.FromValue(value), s.FromValue(value)
	for _, n := range []*Node{first, again} {
		if diff := cmp.Diff(FromValue(value), n); diff != "" {
			t.Error(diff)
		}
	}
	if Get(first, "name") != Get(again, "name") || Get(first, "name") != below(t, first, "typed.A[0]") || below(t, first, "list[1]") != below(t, again, "list[3]") {
		t.Error("equal scalars are not one node")
	}
	if below(t, first, "list[1]") == below(t, first, "list[4]") || Get(first, "list") == Get(again, "list") {
		t.Error("more is one node than equal scalars")
	}
	if one, other := FromValue(value), FromValue(value); Get(one, "name") == Get(other, "name") {
		t.Error("nodes that may be changed are shared")
	}
}

func below(t *testing.T, n *Node, path string) *Node {
	t.Helper()
	at, ok := At(n, path)
	if !ok {
		t.Fatal(path)
	}
	return at
}

func TestFromValue_SortsKeys(t *testing.T) {
	if got := printed(t, FromValue(map[string]any{"b": int64(1), "a": int64(2), "C": int64(3)})); got != "C: 3\na: 2\nb: 1\n" {
		t.Error(got)
	}
}

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"{a: 1, b: 2}", "b: 2 # two\na: 1", true},
		{"{a: 1}", "{a: 1, b: 2}", false},
		{"{a: 1, b: 2}", "{a: 1, c: 2}", false},
		{"[1, 2]", "[2, 1]", false},
		{"[1, 2]", "[1]", false},
		{`{a: "1"}`, "{a: 1}", false},
		{`{a: 'x'}`, `{a: "x"}`, true},
		{"{a: 0x10}", "{a: 16}", true},
		{"{a: null}", "{a: ~}", true},
		{"{a: null}", "{}", false},
		{"{a: true}", "{a: True}", true},
		{"{a: [1]}", "{a: {b: 1}}", false},
		{"{a: text}", "{a: [text]}", false},
	} {
		if got := Equal(document(t, c.a), document(t, c.b)); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
	if !Equal(nil, Null()) || Equal(nil, String("")) || !Equal(nil, nil) {
		t.Error("nothing equals null alone")
	}
}

// TestEqual_TimesAreTexts: a time without quotes means the text, as in JSON.
func TestEqual_TimesAreTexts(t *testing.T) {
	parsed := func(text string) *Node {
		var n yaml.Node
		if err := yaml.Unmarshal([]byte(text), &n); err != nil {
			t.Fatal(err)
		}
		return &n
	}
	for text, want := range map[string]bool{
		"a: '2006-01-02T15:04:05Z'": true, "a: 2006-01-02T15:04:05Z # c": true, "a: '2006-01-02T15:04:06Z'": false, "a: 2006": false,
	} {
		if got := Equal(parsed("a: 2006-01-02T15:04:05Z"), parsed(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
