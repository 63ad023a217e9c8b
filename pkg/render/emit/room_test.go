package emit

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestOutput_HoldsNoMoreThanTheLimit: in every form, objects that share one text are refused by
// what they would be together, before any of it is written.
func TestOutput_HoldsNoMoreThanTheLimit(t *testing.T) {
	shared := tree.String(strings.Repeat("x", 1000))
	var rs []*resource.Resource
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		n := tree.Map("apiVersion", "v1", "kind", "ConfigMap", "metadata", tree.Map("name", name), "data", tree.Map("a", shared))
		rs = append(rs, resource.Parsed(n, nil, resource.Origin{}))
	}
	dir := t.TempDir()
	for form, write := range map[string]func(io.Writer, stage.Limits) error{
		"yaml": func(w io.Writer, l stage.Limits) error { return Stream(w, rs, l) },
		"json": func(w io.Writer, l stage.Limits) error { return JSONStream(w, rs, l) },
		"directory": func(_ io.Writer, l stage.Limits) error {
			_, err := Dir(t.Context(), filepath.Join(dir, "yaml"), rs, DirOptions{Limits: l})
			return err
		},
		"directory of json": func(_ io.Writer, l stage.Limits) error {
			_, err := Dir(t.Context(), filepath.Join(dir, "json"), rs, DirOptions{Format: JSON, Limits: l})
			return err
		},
		"kustomization": func(_ io.Writer, l stage.Limits) error {
			_, err := Dir(t.Context(), filepath.Join(dir, "kustomization"), rs, DirOptions{Kustomization: true, Limits: l})
			return err
		},
		"folders": func(_ io.Writer, l stage.Limits) error {
			body := []byte(strings.Repeat("x", 2600))
			_, err := Folders(t.Context(), filepath.Join(dir, "folders"), []Document{{"a/a.yaml", body}, {"b/b.yaml", body}}, l)
			return err
		},
		"tree": func(w io.Writer, l stage.Limits) error {
			text, err := Tree(tree.Map("items", tree.Seq(shared, shared, shared, shared, shared)), l)
			_, _ = w.Write(text)
			return err
		},
	} {
		var out bytes.Buffer
		err := write(&out, stage.Limits{OutputBytes: 5000})
		if err == nil || !strings.Contains(err.Error(), "the output would hold more than 4.9 KiB of text") {
			t.Errorf("%s: %v", form, err)
		}
		if left, _ := os.ReadDir(dir); out.Len() > 0 || len(left) > 0 {
			t.Errorf("%s: %d bytes and %d folders are written", form, out.Len(), len(left))
		}
	}
	for form, write := range map[string]func(io.Writer, stage.Limits) error{
		"yaml": func(w io.Writer, l stage.Limits) error { return Stream(w, rs, l) },
		"json": func(w io.Writer, l stage.Limits) error { return JSONStream(w, rs, l) },
	} {
		var out bytes.Buffer
		if err := write(&out, stage.Limits{OutputBytes: 7500}); err != nil || out.Len() < 5000 {
			t.Errorf("%s: %d bytes, %v", form, out.Len(), err)
		}
	}
}

// TestOutput_StopsWhereTheRoomEnds: what is beyond the limit is never encoded.
func TestOutput_StopsWhereTheRoomEnds(t *testing.T) {
	n := tree.Map("a", strings.Repeat("x", 100))
	rs := make([]*resource.Resource, 1000)
	for i := range rs {
		rs[i] = resource.Parsed(n, nil, resource.Origin{})
	}
	encoded := make(chan struct{}, len(rs))
	_, err := encodeAll(rs, stage.Limits{OutputBytes: 1000}, yamlBytes, func(*resource.Resource) ([]byte, error) { encoded <- struct{}{}; return nil, nil })
	if err == nil || len(encoded) > 10 {
		t.Errorf("%d of 1,000 objects are encoded, where 10 have room: %v", len(encoded), err)
	}
}

// TestJSONLength_IsTheTextThatIsWritten: never less, and for shapes that make the text much longer
// than its values no more than a tenth above it.
func TestJSONLength_IsTheTextThatIsWritten(t *testing.T) {
	deep := tree.Seq(tree.String("x"), tree.String("y"))
	for range 100 {
		deep = tree.Seq(deep)
	}
	flow := tree.Seq(tree.Int64(1), tree.Int64(22))
	flow.Style = yaml.FlowStyle
	for name, n := range map[string]*tree.Node{
		"plain":   tree.Map("kind", "ConfigMap", "metadata", tree.Map("name", "a", "labels", tree.Map())),
		"deep":    tree.Map("deep", deep),
		"control": tree.Map("a", strings.Repeat("\x01\x1f", 500)),
		"quotes":  tree.Map("a", strings.Repeat("\"\\\n\t\r", 500)),
		"flow":    tree.Map("a", flow),
		"letters": tree.Map("a", strings.Repeat("ü<>&", 500)),
	} {
		for _, level := range []int{0, 2} {
			r := resource.Parsed(n, nil, resource.Origin{})
			text, err := jsonText(r, level)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := jsonBytes(level)(r), int64(len(text)); got < want || got > want*11/10+40 {
				t.Errorf("%s at %d: %d bytes, but %d are written", name, level, got, want)
			}
		}
	}
}
