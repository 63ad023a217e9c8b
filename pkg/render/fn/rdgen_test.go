package fn_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/fn"
)

func TestGenerate_EqualsGolden(t *testing.T) {
	for _, dir := range golden.Cases(t, "testdata/*/config.yaml") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			config, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			out, err := fn.GenerateDistribution(parse(t, string(config)), below(dir))
			if err != nil {
				t.Fatal(err)
			}
			golden.Same(t, filepath.Join(dir, "expected.yaml"), written(t, out))
		})
	}
}

// below reads files of dir and nothing else.
func below(dir string) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		return root.ReadFile(path)
	}
}

const valid = "{metadata: {name: rd}, resource: {resourceKind: Secret, resourceName: s}, targets: {allNamespaces: true}}"

func TestGenerate_ReportsFaults(t *testing.T) {
	const prefix = "the field ResourceDistribution.targets.namespaceLabelSelector.matchExpressions."
	for _, c := range []struct{ name, path, value, field, want string }{
		{"no name", "metadata", "{}", "metadata.name", "a ResourceDistribution must have a name"},
		{"no kind", "resource.resourceKind", "Service", "resource.resourceKind", "resourceKind must be ConfigMap or Secret"},
		{"no resource name", "resource.resourceName", "", "resource.resourceName", "a ResourceDistribution must have a resource name"},
		{"no targets", "targets", "{}", "targets", "the targets field of the ResourceDistribution cannot be empty"},
		{"all namespaces false", "targets", "{allNamespaces: false}", "targets", "cannot be empty"},
		{"repeated", "resource.literals", "[k=topsecret, k=2]", "resource", "secret s illegally repeats the key `k`"},
		{"literal", "resource.literals", "[topsecret]", "resource.literals[0]", "loading KV pairs: invalid literal source, expected key=value"},
		{"literal without key", "resource.literals", "[a=1, =topsecret]", "resource.literals[1]", "loading KV pairs: invalid literal source"},
		{"file", "resource.files", "[gone.txt]", "resource.files[0]", "gone.txt: no such file"},
		{"file key", "resource.files", "['=f']", "resource.files[0]", "missing key name for file path f"},
		{"file path", "resource.files", "['f=']", "resource.files[0]", "missing file path for key name f"},
		{"file equals", "resource.files", "['f=g=h']", "resource.files[0]", "key names or file paths cannot contain '='"},
		{"env", "resource.envs", "[latin1.env]", "resource.envs[0]", "latin1.env: line 2 has invalid utf8 bytes"},
		{"key", "targets", "{namespaceLabelSelector: {matchExpressions: [{operator: In, values: [a]}]}}", "targets.namespaceLabelSelector.matchExpressions[0]", prefix + "key cannot be empty"},
		{"operator", "targets", "{namespaceLabelSelector: {matchExpressions: [{key: k, operator: Gt}]}}", "targets.namespaceLabelSelector.matchExpressions[0]", prefix + "operator is invalid"},
		{"no values", "targets", "{namespaceLabelSelector: {matchExpressions: [{key: k, operator: NotIn}]}}", "targets.namespaceLabelSelector.matchExpressions[0]", prefix + "values for In and NotIn cannot be empty"},
		{"values", "targets", "{namespaceLabelSelector: {matchExpressions: [{key: k, operator: Exists, values: [a]}]}}", "targets.namespaceLabelSelector.matchExpressions[0]", prefix + "values for Exist and DoesNotExist must be empty"},
		{"bad value", "targets", "{namespaceLabelSelector: {matchExpressions: [{key: k, operator: In, values: [a b]}]}}", "targets.namespaceLabelSelector.matchExpressions[0]", "values is invalid"},
		{"value twice", "targets", "{namespaceLabelSelector: {matchExpressions: [{key: k, operator: In, values: [a, a]}]}}", "targets.namespaceLabelSelector.matchExpressions[0]", "values cannot be repeated"},
		{"type", "resource.literals", "k=topsecret", "resource.literals", "is not allowed here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := parse(t, valid)
			tree.SetAt(config, parse(t, c.value), strings.Split(c.path, ".")...)
			_, err := fn.GenerateDistribution(config, below("testdata"))
			var te *tree.Error
			if !errors.As(err, &te) {
				t.Fatalf("got %v, want a *tree.Error", err)
			}
			if te.Path != c.field || !strings.Contains(te.Msg, c.want) {
				t.Errorf("got %s: %s, want %s: %s", te.Path, te.Msg, c.field, c.want)
			}
			if strings.Contains(err.Error(), "topsecret") {
				t.Errorf("the error holds a value: %v", err)
			}
		})
	}
}

// All faults come at once.
func TestGenerate_ReportsAllFaults(t *testing.T) {
	_, err := fn.GenerateDistribution(parse(t, "{resource: {}}"), nil)
	for _, want := range []string{"metadata.name", "resource.resourceKind", "resource.resourceName", "targets"} {
		if err == nil || !strings.Contains(err.Error(), want+": ") {
			t.Errorf("no word of %s in %v", want, err)
		}
	}
	if _, err := fn.GenerateDistribution(parse(t, "[]"), nil); err == nil {
		t.Error("a list was taken")
	}
}

func TestIgnored(t *testing.T) {
	config := parse(t, "{metadata: {name: rd, labels: {a: b}}, resource: {env: x, literal: [k=v]}, options: {immutable: true}, extra: 1}")
	var got []string
	for _, e := range fn.IgnoredFields(config) {
		got = append(got, e.Path+" ("+e.Hint+")")
	}
	want := []string{
		"extra ()",
		"options.immutable (write resource.resourceOptions.immutable)",
		"resource.env (write resource.envs, a list)",
		"resource.literal (write resource.literals, a list)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzGenerate: no input panics, and the bytes of a Secret survive.
func FuzzGenerate(f *testing.F) {
	const end = "\x1e"
	texts := []string{
		valid + end + "k=v" + end + "value",
		"{metadata: {name: [x]}, resource: 7}" + end + "a=b=c" + end + "\xff\n",
		"[]" + end + end + strings.Repeat("long ", 40),
	}
	distort.Fuzz(f, texts, func(t *testing.T, all string) {
		t.Helper()
		part := append(strings.Split(all, end), "", "")
		text, source, content := part[0], part[1], []byte(part[2])
		read := func(string) ([]byte, error) { return content, nil }
		var n tree.Node
		if yaml.Unmarshal([]byte(text), &n) == nil {
			if _, err := tree.Expand(&n, 0, tree.Limits{Nodes: 1000, Depth: 50}); err == nil {
				_, _ = fn.GenerateDistribution(&n, read)
				fn.IgnoredFields(&n)
			}
		}
		if !utf8.ValidString(source) {
			return
		}
		config := parse(t, valid)
		tree.SetAt(config, tree.Seq(tree.String(source)), "resource", "envs")
		_, _ = fn.GenerateDistribution(config, read)
		tree.SetAt(config, tree.Seq(), "resource", "envs")
		tree.SetAt(config, tree.Seq(tree.String("key=path")), "resource", "files")
		out, err := fn.GenerateDistribution(config, read)
		if err != nil {
			t.Fatal(err)
		}
		again := parse(t, written(t, out))
		got, err := base64.StdEncoding.DecodeString(tree.StrAt(again, "spec", "resource", "data", "key"))
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%q became %q: %v", content, got, err)
		}
	})
}

func parse(t *testing.T, text string) *tree.Node {
	t.Helper()
	var n tree.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	if root := tree.Root(&n); root != nil {
		return root
	}
	return tree.String("")
}

func written(t *testing.T, n *tree.Node) string {
	t.Helper()
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	if err := errors.Join(e.Encode(n), e.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
