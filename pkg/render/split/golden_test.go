package split_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/split"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

var update = flag.Bool("update", false, "write expected.yaml and findings.txt anew")

// TestGolden renders testdata/CASE/input.yaml; context.yaml, where there is
// one, holds objects of the cluster.
func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/*/input.yaml")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, input := range cases {
		dir := filepath.Dir(input)
		t.Run(filepath.Base(dir), func(t *testing.T) { golden(t, dir) })
	}
}

func golden(t *testing.T, dir string) {
	t.Helper()
	in := read(t, filepath.Join(dir, "input.yaml"))
	var context []*resource.Resource
	if path := filepath.Join(dir, "context.yaml"); exists(path) {
		context = read(t, path)
	}
	before := text(t, in)
	c := newContext(in, context)
	out, err := split.Run(c, in)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, filepath.Join(dir, "expected.yaml"), text(t, out))
	compare(t, filepath.Join(dir, "findings.txt"), table(c.Findings.Findings()))
	if diff := cmp.Diff(before, text(t, in)); diff != "" {
		t.Errorf("the input was changed (-before +after):\n%s", diff)
	}
}

func newContext(in, context []*resource.Resource) *stage.Context {
	return &stage.Context{
		Facts:    resource.NewFacts(in, context, "shop"),
		Findings: &finding.Reporter{},
		Lineage:  stage.NewLineage(),
		Driver:   stage.Native,
		Expand:   func(kind string) bool { return kind == "UnitedDeployment" },
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func read(t *testing.T, path string) []*resource.Resource {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(data))
}

func parse(t *testing.T, data string) []*resource.Resource {
	t.Helper()
	var out []*resource.Resource
	d := yaml.NewDecoder(strings.NewReader(data))
	for {
		var n yaml.Node
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, resource.Parsed(tree.Root(&n), nil, resource.Origin{File: "input.yaml", Line: n.Line, Seq: len(out)}))
	}
}

func text(t *testing.T, list []*resource.Resource) string {
	t.Helper()
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	for _, r := range list {
		if err := e.Encode(r.Node()); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func table(list []finding.Finding) string {
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "%s %s %s line %d %s\n\t%s\n", f.Severity, f.ID, f.Object, f.Line, f.Field, f.Message)
	}
	return b.String()
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
