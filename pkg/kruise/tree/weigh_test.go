package tree

import (
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// What is weighed is what is written: never less than nine tenths, for shapes that
// make the text much longer than its values.
func TestWeigh_IsTheTextThatIsWritten(t *testing.T) {
	deep := Seq(String("x"), String("x"), String("x"), String("x"))
	for range 60 {
		deep = Seq(deep)
	}
	shared := Map("name", "a", "value", strings.Repeat("b", 100))
	for name, n := range map[string]*Node{
		"plain":   Map("kind", "ConfigMap", "metadata", Map("name", "a")),
		"shared":  Seq(shared, shared, shared),
		"deep":    deep,
		"control": Map("a", strings.Repeat("\x01", 500)),
		"lines":   Map("a", Map("b", Map("c", strings.Repeat("a\n", 500)))),
	} {
		text, err := yaml.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		if got := Weigh(n); got.Bytes < int64(len(text))*9/10 || got.Bytes > int64(len(text))*3+20 {
			t.Errorf("%s: %d bytes, but %d are written", name, got.Bytes, len(text))
		}
	}
	if got := Weigh(Seq(shared, shared)); got.Nodes != 11 {
		t.Errorf("%d nodes, want 11: those of shared parts count each time", got.Nodes)
	}
	if Weigh(nil) != (Weight{}) {
		t.Error("nothing weighs nothing")
	}
}
