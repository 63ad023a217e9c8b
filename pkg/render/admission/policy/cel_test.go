package policy

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func parse(t *testing.T, text string) *tree.Node {
	t.Helper()
	var n tree.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return tree.Root(&n)
}

// TestLiteral: values of one type are written directly, others in dyn().
func TestLiteral(t *testing.T) {
	for _, tt := range []struct{ yaml, want string }{
		{`"a \"b\"\n"`, `"a \"b\"\n"`},
		{`7`, `7`},
		{`1.5`, `1.5e+00`},
		{`true`, `true`},
		{`null`, `null`},
		{`[]`, `[]`},
		{`{}`, `{}`},
		{`[a, b]`, `["a", "b"]`},
		{`[a, 1]`, `[dyn("a"), dyn(1)]`},
		{`{b: x, name: n, a: "y"}`, `{"name": "n", "a": "y", "b": "x"}`},
		{`{a: 1, b: x}`, `{"a": dyn(1), "b": dyn("x")}`},
		{`{a: {}, b: {c: d}}`, `{"a": dyn({}), "b": dyn({"c": "d"})}`},
		{`{a: null, b: null}`, `{"a": dyn(null), "b": dyn(null)}`},
		{`[{name: A, value: b}, {name: B, valueFrom: {x: {y: z}}}]`, `[dyn({"name": "A", "value": "b"}), dyn({"name": dyn("B"), "valueFrom": dyn({"x": {"y": "z"}})})]`},
		{`[[a], [1]]`, `[dyn(["a"]), dyn([1])]`},
	} {
		if got := Literal(parse(t, tt.yaml)); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.yaml, got, tt.want)
		}
	}
}

// TestLiteral_BreaksLongLines: what is long takes several lines.
func TestLiteral_BreaksLongLines(t *testing.T) {
	long := strings.Repeat("x", 60)
	got := Literal(tree.Map("name", "n", "args", tree.Seq(tree.String(long), tree.String(long))))
	want := "{\n  \"name\": dyn(\"n\"),\n  \"args\": dyn([\n    \"" + long + "\",\n    \"" + long + "\"\n  ])\n}"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestObject(t *testing.T) {
	got := Object(parse(t, `{name: n, env: [{name: A}]}`), map[string]string{"env": "variables.env"})
	if want := `{"name": dyn("n"), "env": dyn(variables.env)}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMatches(t *testing.T) {
	for _, tt := range []struct{ selector, want string }{
		{"", "true"},
		{"a=b", `o.metadata.?labels[?"a"].optMap(v, v in ["b"]).orValue(false)`},
		{"a in (b, c)", `o.metadata.?labels[?"a"].optMap(v, v in ["b", "c"]).orValue(false)`},
		{"a notin (b)", `!o.metadata.?labels[?"a"].optMap(v, v in ["b"]).orValue(false)`},
		{"a", `o.metadata.?labels[?"a"].hasValue()`},
		{"!a", `!o.metadata.?labels[?"a"].hasValue()`},
		{"a,!b", `o.metadata.?labels[?"a"].hasValue() && !o.metadata.?labels[?"b"].hasValue()`},
	} {
		s, err := labels.Parse(tt.selector)
		if err != nil {
			t.Fatal(err)
		}
		if got := Matches(s, "o"); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.selector, got, tt.want)
		}
	}
	if got := Matches(labels.Nothing(), "o"); got != "false" {
		t.Errorf("nothing: %s", got)
	}
}

func TestTexts_AreEscaped(t *testing.T) {
	for got, want := range map[string]string{
		Pointer("metadata", "annotations", "a.b/c~d"): "/metadata/annotations/a.b~1c~0d",
		Quote("a\"b\\c\n\u0001\xff"):                  `"a\"b\\c\n\x01�"`,
		Strings([]string{"a", `"`}):                   `["a", "\""]`,
		Strings(nil):                                  `[]`,
		Identifier("sidecar", "log-agent"):            "sidecar_log_agent",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestPatch(t *testing.T) {
	var p Patch
	p.Annotations()
	p.Annotate("a/b", `"c"`)
	p.When("x", Op("remove", `"/y"`, ""))
	p.List("volumes")
	want := `(!has(object.metadata.annotations) ? [JSONPatch{op: "add", path: "/metadata/annotations", value: {}}] : []) +
[JSONPatch{op: "add", path: "/metadata/annotations/a~1b", value: "c"}] +
(x ? [JSONPatch{op: "remove", path: "/y"}] : []) +
(!has(object.spec.volumes) ? [JSONPatch{op: "add", path: "/spec/volumes", value: []}] : [])`
	if got := p.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	p.Unless("z")
	if got := p.String(); got != "z ? [] : (\n"+want+")" {
		t.Errorf("unless:\n%s", got)
	}
}
