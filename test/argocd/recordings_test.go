package argocd

import (
	"archive/zip"
	"bufio"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// recording is an object of Kruise's as the real Kruise left it.
type recording struct {
	file string
	*unstructured.Unstructured
}

// recordings are all objects of Kruise's in testdata/conformance, equal ones once.
var recordings = sync.OnceValues(func() ([]recording, error) {
	zips, err := filepath.Glob("../../testdata/conformance/*.zip")
	if err != nil {
		return nil, err
	}
	var c collector
	for _, z := range zips {
		if err := c.archive(z); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(z), err)
		}
	}
	return c.found, nil
})

func recorded(t *testing.T) []recording {
	t.Helper()
	found, err := recordings()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

type collector struct {
	found []recording
	seen  map[string]bool
}

func (c *collector) archive(name string) error {
	r, err := zip.OpenReader(name)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	for _, f := range r.File {
		if path.Ext(f.Name) != ".yaml" {
			continue
		}
		docs, err := documents(r, f.Name)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if err := c.value(filepath.Base(name)+"/"+f.Name, docs); err != nil {
			return err
		}
		if !strings.HasPrefix(path.Base(f.Name), "expected") || len(docs) == 0 {
			continue
		}
		inputs, err := documents(r, path.Dir(f.Name)+"/input.yaml")
		if err != nil {
			return err
		}
		if err := c.expected(filepath.Base(name)+"/"+f.Name, docs[0], inputs); err != nil {
			return err
		}
	}
	return nil
}

// documents are those of a file of an archive.
func documents(r *zip.ReadCloser, name string) ([]any, error) {
	f, err := r.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	docs := utilyaml.NewYAMLReader(bufio.NewReader(f))
	var out []any
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		var v any
		if err := yaml.Unmarshal(doc, &v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
}

// expected joins statuses that are recorded by name with the objects as they were stored,
// or else as they were written.
func (c *collector) expected(file string, doc any, inputs []any) error {
	m, _ := doc.(map[string]any)
	statuses, _ := m["status"].(map[string]any)
	stored, _ := m["stored"].([]any)
	done := map[string]bool{}
	for _, v := range slices.Concat(stored, inputs) {
		o, _ := v.(map[string]any)
		u := unstructured.Unstructured{Object: o}
		for _, key := range []string{u.GetKind() + "/" + u.GetName(), u.GetName()} {
			status, ok := statuses[key].(map[string]any)
			if !ok || done[key] || !strings.Contains(u.GetAPIVersion(), ".kruise.io/") {
				continue
			}
			done[key] = true
			o["status"] = status
			if err := c.add(file, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// value looks for objects with a status in v.
func (c *collector) value(file string, v any) error {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if err := c.value(file, item); err != nil {
				return err
			}
		}
	case map[string]any:
		version, _ := v["apiVersion"].(string)
		status, _ := v["status"].(map[string]any)
		if strings.Contains(version, ".kruise.io/") && len(status) > 0 {
			return c.add(file, v)
		}
		for _, item := range v {
			if err := c.value(file, item); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *collector) add(file string, v map[string]any) error {
	b, err := (&unstructured.Unstructured{Object: v}).MarshalJSON()
	if err != nil {
		return err
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	if c.seen[string(b)] {
		return nil
	}
	c.seen[string(b)] = true
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(b); err != nil {
		return err
	}
	c.found = append(c.found, recording{file: file, Unstructured: o})
	return nil
}
