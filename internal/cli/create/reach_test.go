package create

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// ours is where types are whose fields have flags; those of other packages are reached
// as a whole.
var ours = []string{"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise", "k8s.io/api/batch/v1"}

// leaves are the fields below a type that a flag should reach, with [] for elements.
func leaves(t reflect.Type, path string) []string {
	switch t.Kind() {
	case reflect.Pointer:
		return leaves(t.Elem(), path)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Struct && slices.Contains(ours, t.Elem().PkgPath()) {
			return leaves(t.Elem(), path+"[]")
		}
		return []string{path}
	case reflect.Struct:
	default:
		return []string{path}
	}
	if !slices.Contains(ours, t.PkgPath()) {
		return []string{path}
	}
	var out []string
	for f := range t.Fields() {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name != "":
			out = append(out, leaves(f.Type, path+"."+name)...)
		case strings.Contains(rest, "inline") && slices.Contains(ours, f.Type.PkgPath()):
			out = append(out, leaves(f.Type, path)...)
		}
	}
	return out
}

// elements writes every index of a path as [].
func elements(path string) string {
	path, _, _ = strings.Cut(path, "=")
	return strings.NewReplacer(".*.", "[].", "[0]", "[]").Replace(path)
}

// below reports whether a field is another one, or is a part of it.
func below(leaf, path string) bool {
	return leaf == path || strings.HasPrefix(leaf, path+".") || strings.HasPrefix(leaf, path+"[]")
}

// whole are the shapes whose flag fills all that is below its field.
var whole = []Shape{Selector, Names, Terms, Pairs, Texts}

// reached reports whether a kind has a flag for a field, of its own or by path.
func (k kindOf) reached(kind, leaf string) bool {
	for _, row := range k.rows {
		if path := elements(row.Path); leaf == path || slices.Contains(whole, row.Shape) && below(leaf, path) {
			return true
		}
	}
	for _, value := range pathExamples[kind] {
		// A part of an example counts for the whole part that it is in.
		if path := elements(value); below(leaf, path) || below(path, leaf) {
			return true
		}
	}
	if slices.ContainsFunc(k.kept, func(path string) bool { return below(leaf, path) }) {
		return true
	}
	return slices.ContainsFunc(k.more, func(m [3]string) bool { return below(leaf, m[2]) })
}

// TestFlags_ReachEveryField: a field of a kind without a flag fails here.
func TestFlags_ReachEveryField(t *testing.T) {
	for name, k := range kinds() {
		for _, leaf := range leaves(specOf(t, k.typed), "spec") {
			if !k.reached(name, leaf) {
				t.Errorf("%s: no flag reaches %s: give it a row, or one in byPath", name, leaf)
			}
		}
	}
}

func specOf(t *testing.T, object any) reflect.Type {
	t.Helper()
	f, ok := reflect.TypeOf(object).Elem().FieldByName("Spec")
	if !ok {
		t.Fatalf("%T has no spec", object)
	}
	return f.Type
}

// made is what a command line makes without a cluster.
func made(t *testing.T, args ...string) *tree.Node {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	var out bytes.Buffer
	c := NewCreate(factory.New(factory.Streams{Out: &out, Err: &out}))
	root := &cobra.Command{Use: "kruise", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(c)
	root.SetArgs(append(append([]string{"create"}, args...), "--dry-run=client", "--kruise-version=next", "-o", "json"))
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	var object any
	if err := json.Unmarshal(out.Bytes(), &object); err != nil {
		t.Fatal(err)
	}
	return tree.FromValue(object)
}

// words are a text of each shape.
var words = map[Shape]string{
	Text: "x", Number: "7", Amount: "2", Truth: "true", Texts: "x", Names: "x",
	Pairs: "a=b", Terms: "a=b", Selector: "a=b", Containers: "x=y:1",
}

// text is one that a flag takes.
func (k kindOf) text(row Field) string {
	if text, ok := k.texts[row.Flag]; ok {
		return text
	}
	if len(row.Legal) > 0 {
		return row.Legal[len(row.Legal)-1]
	}
	return words[row.Shape]
}

// TestFlags_FillOnlyTheirField: each flag by itself fills its field, and no other.
func TestFlags_FillOnlyTheirField(t *testing.T) {
	for name, k := range kinds() {
		t.Run(name, func(t *testing.T) {
			for _, row := range append(slices.Clip(k.rows), metadataFields...) {
				got := made(t, k.line("--"+row.Flag+"="+k.text(row))...)
				v := first(got, row.Path)
				if v == nil {
					t.Errorf("--%s=%s: %s is not there", row.Flag, k.text(row), row.Path)
					continue
				}
				if row.Shape == Text || row.Shape == Number || row.Shape == Amount || row.Shape == Truth {
					if v.Value != k.text(row) {
						t.Errorf("--%s=%s: %s is %s", row.Flag, k.text(row), row.Path, v.Value)
					}
				}
			}
			for _, m := range k.more {
				if first(made(t, k.line("--"+m[0]+"="+m[1])...), m[2]) == nil {
					t.Errorf("--%s=%s: %s is not there", m[0], m[1], m[2])
				}
			}
		})
	}
}

// TestSet_SetsByPath: what the help says that --set sets is set.
func TestSet_SetsByPath(t *testing.T) {
	for name, k := range kinds() {
		for _, value := range pathExamples[name] {
			path, given, _ := strings.Cut(value, "=")
			want, err := yaml.YAMLToJSON([]byte(given))
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(tree.Value(first(made(t, k.line("--set="+value)...), path)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s: %s\n%s", name, value, diff)
			}
		}
	}
}

// first is the field that a path leads to, in the first element of each list.
func first(n *tree.Node, path string) *tree.Node {
	for _, step := range tree.Steps(strings.ReplaceAll(path, ".*", "[0]")) {
		if tree.IsSeq(n) {
			items := tree.Items(n)
			if len(items) == 0 {
				return nil
			}
			n = items[0]
			continue
		}
		n = tree.Get(n, step)
	}
	return n
}
