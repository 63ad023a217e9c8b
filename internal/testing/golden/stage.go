package golden

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Stage runs a stage that puts new resources in the place of old ones, and
// compares as [Compare] does. The trees of the input must stay as they are.
func Stage(t *testing.T, dir string, c *stage.Context, in []*resource.Resource,
	run func(*stage.Context, []*resource.Resource) ([]*resource.Resource, error),
) {
	t.Helper()
	before := trees(t, in)
	out, err := run(c, in)
	if err != nil {
		t.Fatal(err)
	}
	Compare(t, dir, c, out)
	if diff := cmp.Diff(before, trees(t, in)); diff != "" {
		t.Errorf("the input was changed (-before +after):\n%s", diff)
	}
}

// Compare compares what a stage made with expected.yaml of dir, and what it
// reported with findings.txt.
func Compare(t *testing.T, dir string, c *stage.Context, out []*resource.Resource) {
	t.Helper()
	Same(t, filepath.Join(dir, "expected.yaml"), Text(t, out))
	Same(t, filepath.Join(dir, "findings.txt"), Findings(c.Findings.Findings()))
}

// Read loads the file of a case, as input.yaml of any folder; no file is no
// resources.
func Read(t *testing.T, dir, file string) []*resource.Resource {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, file))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, file, string(data))
}

// Parse loads a stream that stands in the test.
func Parse(t *testing.T, stream string) []*resource.Resource {
	t.Helper()
	return parse(t, "input.yaml", stream)
}

func parse(t *testing.T, name, stream string) []*resource.Resource {
	t.Helper()
	out, err := load.Parse(name, []byte(stream))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Text is what leaves the program for list.
func Text(t *testing.T, list []*resource.Resource) string {
	t.Helper()
	var b bytes.Buffer
	if err := emit.Stream(&b, list, stage.Limits{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// trees shows the resources without the bytes that they came from, which hide
// a change that was not announced.
func trees(t *testing.T, list []*resource.Resource) string {
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

// Findings shows findings, two lines each.
func Findings(list []finding.Finding) string {
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "%s %s %s line %d %s\n\t%s\n", f.Severity, f.ID, f.Object, f.Line, f.Field, f.Message)
	}
	return b.String()
}
