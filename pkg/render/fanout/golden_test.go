package fanout_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/fanout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

var update = flag.Bool("update", false, "write expected.yaml and findings.txt anew")

// TestGolden fans testdata/CASE/input.yaml out; context.yaml, where there is
// one, holds objects of the cluster.
func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*/input.yaml")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, input := range inputs {
		dir := filepath.Dir(input)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var context []*resource.Resource
			if path := filepath.Join(dir, "context.yaml"); exists(path) {
				context = parse(t, path)
			}
			in := parse(t, input)
			c := newContext(in, context)
			out, err := fanout.Run(c, in)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, filepath.Join(dir, "expected.yaml"), text(t, out))
			compare(t, filepath.Join(dir, "findings.txt"), table(c.Findings.Findings()))
		})
	}
}

func newContext(in, context []*resource.Resource) *stage.Context {
	return &stage.Context{
		Facts:    resource.NewFacts(in, context, ""),
		Findings: &finding.Reporter{},
		Lineage:  stage.NewLineage(),
		Expand:   func(kind string) bool { return kind == "ResourceDistribution" },
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func parse(t *testing.T, path string) []*resource.Resource {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out, err := load.Parse(filepath.Base(path), data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func text(t *testing.T, list []*resource.Resource) string {
	t.Helper()
	var b bytes.Buffer
	if err := emit.Stream(&b, list); err != nil {
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
