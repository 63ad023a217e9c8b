package render

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"
)

// functions are those of Helm's that fail.
var functions = template.FuncMap{
	"fail": func(text string) (string, error) { return "", errors.New(text) },
	"required": func(text string, v any) (any, error) {
		if v == nil || v == "" {
			return nil, errors.New(text)
		}
		return v, nil
	},
	"atoi":     func(s string) (int, error) { return 0, fmt.Errorf("strconv.Atoi: parsing %q: invalid syntax", s) },
	"fromYaml": func(s string) map[string]any { return map[string]any{"Error": "error unmarshaling JSON: " + s} },
	"lookup":   func(...string) (any, error) { return nil, errors.New("the server refuses Hunter2x") },
}

// TestHelmErrors_AreKeptWithoutValues: what a chart says when it fails is kept, without the values that it
// prints. The errors are those of the templates that Helm runs; the lines around them are
// Helm's format.
func TestHelmErrors_AreKeptWithoutValues(t *testing.T) {
	const mark = "Hunter2x"
	values := map[string]any{"Values": map[string]any{"password": mark, "list": []any{mark}, "deep": map[string]any{mark: mark}}}
	for body, want := range map[string]string{
		`{{ fail (printf "bad password: %s, choose another" .Values.password) }}`: "bad password: *** choose another",
		`{{ fail .Values.password }}`:                                                  "templates/web.yaml",
		`{{ required "password2 has to be set" .Values.none }}`:                        "has to be set",
		`{{ required .Values.password .Values.none }}`:                                 "",
		`{{ .Values.password.x }}`:                                                     "can't evaluate field",
		`{{ index .Values.list .Values.password }}`:                                    "error calling index",
		`{{ index .Values.list 9 }}`:                                                   "",
		`{{ template "Hunter2y" .Values.password }}`:                                   "",
		`{{ range $x := .Values.password.y }}{{ end }}`:                                "",
		`{{ .Values.password | atoi }}`:                                                "invalid syntax",
		`{{ lookup "v1" "Secret" "a" .Values.password }}`:                              "error calling lookup",
		`{{ len 5 }}{{ .Values.password }}`:                                            "",
		`{{ define "a" }}{{ fail .Values.password }}{{ end }}{{ template "a" . }}`:     "",
		"x: {{ .Values.password }\n":                                                   "",
		`{{ printf "%d" .Values.password | fail }}`:                                    "",
		`{{ eq .Values.password .Values.list }}{{ lt .Values.password .Values.deep }}`: "",
	} {
		w := chartWorkspace{dir: t.TempDir()}
		file := filepath.Join(w.dir, chartFolder, "templates", "web.yaml")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		parsed, err := template.New("web/templates/web.yaml").Funcs(functions).Parse(body)
		if err == nil {
			err = parsed.Execute(io.Discard, values)
		}
		if err == nil {
			t.Fatalf("%s does not fail", body)
		}
		for _, said := range []string{
			"Error: " + err.Error(),
			"Error: execution error at (web/templates/web.yaml:1:3): " + err.Error() + "\n\nUse --debug flag to render out invalid YAML\n",
			"Error: YAML parse error on web/templates/web.yaml: error converting YAML to JSON: yaml: line 2: could not find expected ':'\n" + err.Error(),
			"Error: values don't meet the specifications of the schema(s) in the following chart(s):\nweb:\n- password: Does not match pattern '" + mark + "'\n",
		} {
			got := w.helmError(said)
			if strings.Contains(got, mark) || strings.Contains(got, "Hunter2") && !strings.Contains(body, "Hunter2y") {
				t.Errorf("%s\n%s\nsaid as %s", body, said, got)
			}
			if !strings.Contains(got, want) && strings.HasPrefix(said, "Error: execution") {
				t.Errorf("%s: %q is not in %s", body, want, got)
			}
		}
	}
}
