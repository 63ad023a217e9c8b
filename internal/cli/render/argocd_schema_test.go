//go:build unix

package render_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// archive packs files as Helm packs charts.
func archive(t *testing.T, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	files := tar.NewWriter(zip)
	if err := files.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	_, _ = files.Write([]byte(text))
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestChartSchemas_ReferOnlyToThemselves: Helm would fetch, or read from anywhere, what the
// schema of a chart refers to.
func TestChartSchemas_ReferOnlyToThemselves(t *testing.T) {
	const schema, remote = "apps/web/values.schema.json", `{"properties": {"a": {"$ref": "http://127.0.0.1:1/x.json"}}}`
	for name, c := range map[string]struct {
		file, text string
		refused    bool
	}{
		"a URL":                  {schema, remote, true},
		"a file of the machine":  {schema, `{"allOf": [{"$ref": "file:///etc/x.json"}]}`, true},
		"a relative name":        {schema, `{"$id": "http://127.0.0.1:1/a/", "$ref": "x.json"}`, true},
		"escaped":                {schema, `{"\u0024ref": "http:\/\/127.0.0.1:1/x.json"}`, true},
		"a dynamic one":          {schema, `{"$dynamicRef": "http://127.0.0.1:1/x.json#a"}`, true},
		"a schema of the schema": {schema, `{"$schema": "http://127.0.0.1:1/schema"}`, true},
		"behind the schema":      {schema, remote + "{}", true},
		"of a subchart":          {"apps/web/charts/sub/values.schema.json", remote, true},
		"of a packed subchart":   {"apps/web/charts/sub.tgz", archive(t, "sub/values.schema.json", remote), true},
		"of one in one":          {"apps/web/charts/sub.tgz", archive(t, "sub/charts/x.tgz", archive(t, `x\values.schema.json`, remote)), true},
		"too much, packed":       {"apps/web/charts/sub.tgz", archive(t, "sub/values.yaml", strings.Repeat("x", 101<<20)), true},
		"itself":                 {schema, `{"$schema": "http://json-schema.org/draft-07/schema#", "$id": "https://example.com/web", "$ref": "#/$defs/a", "$defs": {"a": {"properties": {"$ref": {"type": "string"}}}}}`, false},
		"a packed subchart":      {"apps/web/charts/sub.tgz", archive(t, "sub/values.schema.json", `{"$ref": "#"}`), false},
		"no schema":              {schema, `no JSON`, false},
	} {
		t.Run(name, func(t *testing.T) {
			beside(t, and(aChart, c.file, c.text), nil)
			out, complaint, code := run(t, argo, "argocd", "generate")
			if refused := code != 0; refused != c.refused || refused && out != "" {
				t.Errorf("exit code %d\n%s", code, complaint)
			}
		})
	}
}

// TestHelm_OutputIsBounded: what a chart writes is bounded.
func TestHelm_OutputIsBounded(t *testing.T) {
	top := beside(t, aChart, nil)
	if err := os.WriteFile(filepath.Join(top, "bin/helm"), []byte("#!/bin/sh\nwhile :; do cat chart/big; done\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("big", bytes.Repeat([]byte("# x\n"), 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, complaint, code := run(t, argo, "argocd", "generate"); code == 0 || out != "" || !strings.Contains(complaint, "the chart becomes too large") {
		t.Errorf("exit code %d\n%s", code, complaint)
	}
}
