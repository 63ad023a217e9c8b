package load

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSplit_CutsDocuments checks which text of a file is parsed as a document, and on which
// line it begins.
func TestSplit_CutsDocuments(t *testing.T) {
	type doc struct {
		Text string
		Line int
	}
	for name, c := range map[string]struct {
		in   string
		want []doc
	}{
		"empty":                     {"", nil},
		"comments only":             {"# a\n\n# b\n", nil},
		"markers only":              {"---\n---\n...\n---\n", nil},
		"one":                       {"a: 1\n", []doc{{"a: 1\n", 1}}},
		"no final newline":          {"a: 1", []doc{{"a: 1", 1}}},
		"two":                       {"a: 1\n---\nb: 2\n", []doc{{"a: 1\n", 1}, {"---\nb: 2\n", 2}}},
		"leading marker":            {"---\na: 1\n---\nb: 2", []doc{{"---\na: 1\n", 1}, {"---\nb: 2", 3}}},
		"comment before marker":     {"# licence\n---\na: 1\n", []doc{{"# licence\n---\na: 1\n", 1}}},
		"comment behind marker":     {"a: 1\n--- # two\nb: 2\n", []doc{{"a: 1\n", 1}, {"--- # two\nb: 2\n", 2}}},
		"marker with tab":           {"a: 1\n---\t\nb: 2\n", []doc{{"a: 1\n", 1}, {"---\t\nb: 2\n", 2}}},
		"content on the marker":     {"--- {a: 1}\n--- {b: 2}\n", []doc{{"--- {a: 1}\n", 1}, {"--- {b: 2}\n", 2}}},
		"no marker: four dashes":    {"a: 1\n----: 2\n", []doc{{"a: 1\n----: 2\n", 1}}},
		"no marker: indented":       {"a: |\n  x\n  ---\n  y\n", []doc{{"a: |\n  x\n  ---\n  y\n", 1}}},
		"empty documents between":   {"a: 1\n---\n---\n# c\n---\nb: 2\n", []doc{{"a: 1\n", 1}, {"---\nb: 2\n", 5}}},
		"empty documents at end":    {"a: 1\n---\n# c\n", []doc{{"a: 1\n", 1}}},
		"document end":              {"a: 1\n...\nb: 2\n", []doc{{"a: 1\n...\n", 1}, {"b: 2\n", 3}}},
		"end, comment, marker":      {"a: 1\n...\n# c\n---\nb: 2\n", []doc{{"a: 1\n...\n", 1}, {"# c\n---\nb: 2\n", 3}}},
		"stray ends":                {"...\n...\na: 1\n", []doc{{"a: 1\n", 3}}},
		"CRLF":                      {"a: 1\r\n---\r\nb: 2\r\n", []doc{{"a: 1\r\n", 1}, {"---\r\nb: 2\r\n", 2}}},
		"byte order mark":           {"\xef\xbb\xbf---\na: 1\n", []doc{{"---\na: 1\n", 1}}},
		"directive":                 {"%YAML 1.2\n---\na: 1\n", []doc{{"---\na: 1\n", 2}}},
		"directive later":           {"a: 1\n...\n%YAML 1.1\n---\nb: 2\n", []doc{{"a: 1\n...\n", 1}, {"---\nb: 2\n", 4}}},
		"percent inside":            {"a: |-\n  x\n%: 1\n", []doc{{"a: |-\n  x\n%: 1\n", 1}}},
		"JSON":                      {"{\"a\": 1}\n", []doc{{"{\"a\": 1}", 1}}},
		"JSON, several":             {"{\"a\": 1}\n{\n\"b\": 2}{}", []doc{{"{\"a\": 1}", 1}, {"\n{\n\"b\": 2}", 1}, {"{}", 3}}},
		"JSON with markers":         {"{\"a\": 1}\n---\n{\"b\": 2}\n", []doc{{"{\"a\": 1}", 1}, {"{\"b\": 2}", 3}}},
		"JSON that is not":          {"{\"a\": 1}}\n", []doc{{"{\"a\": 1}}\n", 1}}},
		"flow YAML is not JSON":     {"{a: 1}\n", []doc{{"{a: 1}\n", 1}}},
		"white space before marker": {"\n \n---\na: 1\n", []doc{{"\n \n---\na: 1\n", 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			docs, err := split("f", []byte(c.in), 100)
			if err != nil {
				t.Fatal(err)
			}
			var got []doc
			var all []byte
			for _, d := range docs {
				got = append(got, doc{string(d.text), d.line})
				all = append(all, d.raw...)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if len(docs) > 0 && string(all) != c.in {
				t.Errorf("the raws make %q, not the input %q", all, c.in)
			}
		})
	}
}

func TestSplit_RefusesUnknownDirectives(t *testing.T) {
	for _, in := range []string{"%TAG ! tag:x,2000:\n---\na: 1\n", "%YAML 2.0\n---\na: 1\n", "%\n---\na: 1\n", "%YAML\n---\na: 1\n"} {
		if _, err := split("f", []byte(in), 100); err == nil {
			t.Errorf("%q: accepted", in)
		}
	}
}

// TestSplit_KeepsAllBytesOfTheCorpus makes sure that no byte of an odd file gets lost or doubled
// on the way to its documents.
func TestSplit_KeepsAllBytesOfTheCorpus(t *testing.T) {
	for _, path := range corpus(t) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		docs, err := split(path, b, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var all []byte
		for _, d := range docs {
			all = append(all, d.raw...)
		}
		if !bytes.Equal(all, b) {
			t.Errorf("%s: the documents do not make up the file", path)
		}
	}
}

func corpus(tb testing.TB) []string {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "emit", "testdata", "exact", "*"))
	if err != nil || len(paths) == 0 {
		tb.Fatal("no corpus", err)
	}
	return paths
}

// TestLoad_KnowsTheLinesOfValues: each of many JSON values knows its line, and none costs a look at all
// those before it.
func TestLoad_KnowsTheLinesOfValues(t *testing.T) {
	const n = 50_000
	docs, err := split("f", []byte("---\n"+strings.Repeat("{\n}\n", n)), n)
	if err != nil || len(docs) != n {
		t.Fatal(len(docs), err)
	}
	for i, d := range docs {
		if want := max(2, 2*i+1); d.line != want {
			t.Fatalf("value %d begins on line %d, want %d", i, d.line, want)
		}
	}
}
