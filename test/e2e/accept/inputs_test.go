package accept

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// input is what one render reads: values, since the resources made of them
// belong to the render.
type input struct {
	name    string
	stream  []map[string]any
	context []map[string]any
}

// inputs are all that there is to render.
func inputs(t *testing.T) []input {
	t.Helper()
	return slices.Concat(recorded(t), injected(t), fixtures(t), examples(t))
}

// unfit are fixtures that hold on purpose what no API server takes.
var unfit = map[string]string{"split/testdata/deployment-elastic": "label values that need quoting"}

// strange are the inputs under names that are legal for Kruise's kinds, and
// long or dotted.
func strange(inputs []input) []input {
	return slices.Concat(renamed(inputs, "dots", ".v1.2"), renamed(inputs, "long", strings.Repeat("-long", 30)))
}

// renamed are the inputs with Kruise objects of other names. References to them
// lead nowhere then, which is no matter here.
func renamed(inputs []input, how, suffix string) []input {
	var out []input
	for _, in := range inputs {
		var stream []map[string]any
		for _, d := range in.stream {
			if r := parsed([]map[string]any{d})[0]; strings.HasSuffix(r.Group(), "kruise.io") && r.Kind() != "NodeImage" {
				meta := maps.Clone(d["metadata"].(map[string]any))
				meta["name"] = strings.TrimRight((r.Name() + suffix)[:min(len(r.Name()+suffix), 100)], "-.")
				d = maps.Clone(d)
				d["metadata"] = meta
			}
			stream = append(stream, d)
		}
		out = append(out, input{in.name + ", " + how, stream, in.context})
	}
	return out
}

// recorded are the inputs of all recordings that Kruise lets through: each as
// it was applied first, and as it was after each step.
func recorded(t *testing.T) []input {
	t.Helper()
	var all []input
	for _, area := range []string{"subsets", "distribution", "jobs", "spread", "state"} {
		for _, c := range conformance.List(t, area) {
			all = append(all, steps(t, c)...)
		}
	}
	for _, c := range conformance.List(t, "lint") {
		verdict := read(t, c, "verdict.yaml")
		if verdict[0]["allowed"] == true && verdict[0]["operation"] != "delete" {
			all = append(all, input{name: "lint/" + c.Name, stream: read(t, c, "object.yaml"), context: read(t, c, "setup.yaml")})
		}
	}
	return all
}

// steps are the accepted states of a case: what is applied later replaces what
// has its kind and name.
func steps(t *testing.T, c conformance.Case) []input {
	t.Helper()
	name := c.Area + "/" + c.Name
	now, expected := read(t, c, "input.yaml"), read(t, c, "expected.yaml")
	if expected[0]["result"] == "rejected" {
		return nil
	}
	all := []input{{name: name, stream: now}}
	list, _ := expected[0]["steps"].([]any)
	for _, step := range list {
		next := replaced(now, read(t, c, fmt.Sprint(step)+".yaml"))
		if after := read(t, c, fmt.Sprintf("expected-after-%v.yaml", step)); after[0]["result"] == "rejected" {
			continue
		}
		now = next
		all = append(all, input{name: name + "/" + fmt.Sprint(step), stream: now})
	}
	return all
}

// injected are the accepted pods and workloads of the recordings of injection,
// with the stored revisions that they need.
func injected(t *testing.T) []input {
	t.Helper()
	taken := errors.New("taken")
	var all []input
	for _, c := range conformance.List(t, "injection") {
		err := conformance.Injection(c, func(stream, context []map[string]any) ([]map[string]any, error) {
			if !c.Has("denied.txt") {
				all = append(all, input{"injection/" + c.Name, stream, context})
			}
			return nil, taken
		})
		if err != nil && !errors.Is(err, taken) {
			t.Fatal(err)
		}
	}
	return all
}

// fixtures are the inputs of the stages' own tests.
func fixtures(t *testing.T) []input {
	t.Helper()
	files, err := filepath.Glob("../../../pkg/render/*/testdata/*/input.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	protected, err := filepath.Glob("../../../pkg/render/admission/testdata/protect/*/input.yaml")
	if err != nil || len(protected) == 0 {
		t.Fatalf("no fixtures of deletion protection: %v", err)
	}
	var all []input
	for _, file := range slices.Concat(files, protected) {
		name, _ := strings.CutPrefix(filepath.ToSlash(filepath.Dir(file)), "../../../pkg/render/")
		if unfit[name] == "" {
			all = append(all, input{name, documents(t, file), documents(t, filepath.Join(filepath.Dir(file), "context.yaml"))})
		}
	}
	return all
}

// examples are those of the project, built by kustomize where they are such.
func examples(t *testing.T) []input {
	t.Helper()
	const top = "../../../examples/"
	var all []input
	for _, pattern := range []string{"*/app.yaml", "*/new.yaml", "*/kustomization.yaml", "*/overlays/*/kustomization.yaml"} {
		files, err := filepath.Glob(top + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no example is %s: %v", pattern, err)
		}
		for _, file := range files {
			dir := filepath.Dir(file)
			all = append(all, input{
				name:   strings.TrimPrefix(filepath.ToSlash(file), "../../../"),
				stream: loaded(t, file), context: documents(t, filepath.Join(dir, "with.yaml")),
			})
		}
	}
	return all
}

// loaded reads what a command reads for a file or a kustomization.
func loaded(t *testing.T, file string) []map[string]any {
	t.Helper()
	opt := load.Options{Files: []string{file}}
	if filepath.Base(file) == "kustomization.yaml" {
		opt = load.Options{Kustomize: filepath.Dir(file)}
	}
	stream, err := load.Load(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]map[string]any, len(stream))
	for i, r := range stream {
		out[i], _ = tree.Value(r.Node()).(map[string]any)
	}
	return out
}

// documents reads the objects of a file; no file has none.
func documents(t *testing.T, file string) []map[string]any {
	t.Helper()
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	docs, err := conformance.Docs(text)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, d := range docs {
		present(d)
	}
	return docs
}

// present takes out what a fixture has of the future, to see that it is kept.
func present(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if strings.HasSuffix(key, "utureField") {
				delete(v, key)
			}
			present(value)
		}
	case []any:
		for _, item := range v {
			present(item)
		}
	}
}

// read returns the objects in a file of a case; things that a user does are none.
func read(t *testing.T, c conformance.Case, file string) []map[string]any {
	t.Helper()
	if !c.Has(file) {
		return nil
	}
	text, err := c.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := conformance.Docs(text)
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for _, d := range docs {
		if version, _ := d["apiVersion"].(string); !strings.HasPrefix(version, "conformance/") {
			out = append(out, d)
		}
	}
	return out
}

func replaced(now, by []map[string]any) []map[string]any {
	at := map[string]int{}
	out := append([]map[string]any(nil), now...)
	for i, d := range out {
		at[identity(d)] = i
	}
	for _, d := range by {
		if i, ok := at[identity(d)]; ok {
			out[i] = d
		} else {
			out = append(out, d)
		}
	}
	return out
}

func identity(d map[string]any) string {
	return resource.Parsed(tree.FromValue(d), nil, resource.Origin{}).ID().String()
}

func parsed(docs []map[string]any) []*resource.Resource {
	out := make([]*resource.Resource, len(docs))
	for i, d := range docs {
		out[i] = resource.Parsed(tree.FromValue(d), nil, resource.Origin{Seq: i})
	}
	return out
}
