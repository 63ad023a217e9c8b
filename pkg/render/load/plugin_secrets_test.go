package load

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/isolated"
)

var every = flag.Bool("every", false, "try all values in all fields of kustomize, instead of a sixth of them")

// TestPlugins_AreAll: the plugins of these tests are those of the version in go.mod.
func TestPlugins_AreAll(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kustomize/api").Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "builtins", "builtins.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.TypeSpec); ok && strings.HasSuffix(s.Name.Name, "Plugin") {
			all = append(all, strings.TrimSuffix(s.Name.Name, "Plugin"))
		}
		return true
	})
	slices.Sort(all)
	if have := slices.Sorted(maps.Keys(plugins)); !slices.Equal(all, have) {
		t.Errorf("kustomize has the plugins %v, the tests have %v", all, have)
	}
}

// mark is what a value is known by that may be secret, marks are the ways in which it may
// be repeated: as it is, in base64, and as numbers of bytes.
const mark = "Hunter2x"

var marks = []string{mark, "SHVudGVyMn", "72 117 110"}

// wrong are values of wrong types and shapes, each with the mark in it.
var wrong = []string{
	"MARK", "[MARK]", "{MARK: MARK}", "[{MARK: MARK}]", "[[MARK]]", "'{\"MARK\": \"MARK'", "['MARK=MARK', MARK]", "[{name: b, namespace: MARK x, literals: MARK}]",
	"'[{\"op\": \"MARK\", \"path\": \"/data/x\", \"value\": \"MARK\"}]'", "'[{\"op\": \"test\", \"path\": \"/data/x\", \"value\": \"MARK\"}]'",
	"'[{\"op\": \"replace\", \"path\": \"/data/MARK/z\", \"value\": {\"MARK\": [\"MARK\"]}}]'",
	"\"a: MARK\\nb: [MARK\\n\"", "'{apiVersion: v1, kind: Secret, metadata: {name: a}, data: MARK}'", "'{apiVersion: v1, kind: Secret, metadata: {name: z}, stringData: {a: MARK}}'",
	"!!binary SHVudGVyMng=", "!!int MARK", "*MARK", "\"MARK\\xff\"", "https://MARK:MARK@localhost/MARK", "\"MARK\\ttab\"", "- MARK", "@MARK", "|\n  MARK\n MARK",
}

// named are fields whose values are names of objects, fields and files, which errors tell:
// a mark there is no secret.
func named(f field) bool {
	last := f.steps[len(f.steps)-1]
	if last == "[]" && len(f.steps) > 1 {
		last = f.steps[len(f.steps)-2]
	}
	return f.file || selecting[last] || referring[last] || f.steps[0] == "metadata"
}

// withMark is a document with a wrong value in place of a field of text.
func (f field) withMark(value string) string {
	return f.document(strings.ReplaceAll(value, "MARK", mark), false, f.more...)
}

// TestPlugins_ErrorsKeepSecrets gives each builtin plugin of kustomize, and a kustomization, in
// each field a value of each wrong shape, beside a Secret: what is said repeats none of it.
func TestPlugins_ErrorsKeepSecrets(t *testing.T) {
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, annotations: {token: Hunter2x}}\ndata: {x: Hunter2x, y: [Hunter2x]}\nstringData: {a: Hunter2x, url: 'https://u:Hunter2x@h/Hunter2x'}\n"
	root := t.TempDir()
	var jobs []job
	var cases []string
	for n, f := range knownFields(t) {
		for i, value := range wrong {
			if named(f) && i < len(wrong)-1 && i%4 != 3 || !*every && (n+i)%6 > 0 {
				continue
			}
			text := f.withMark(value)
			if named(f) { // the mark is in what is beside it only
				text = strings.ReplaceAll(f.document("[{x: [y]}]", false, f.more...), mark, "")
			}
			files := map[string]string{"a.yaml": secret, "kustomization.yaml": text}
			if f.plugin != "" {
				files["kustomization.yaml"], files["p.yaml"] = "resources: [a.yaml]\n"+place(f.plugin)+": [p.yaml]\n", text
			}
			dir := filepath.Join(root, fmt.Sprint(len(jobs)))
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			jobs, cases = append(jobs, job{Name: dir, Dir: dir, Root: root}), append(cases, f.String()+"\n"+text)
		}
	}
	out, said, err := isolated.Run(t.Context(), builds, root, jobs, isolated.Limits{MemoryBytes: 2 << 30, Time: 5 * time.Minute, OutputBytes: 1 << 28})
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	var answers []string
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(jobs) {
		t.Fatalf("%d answers, %v", len(answers), err)
	}
	failed := map[string]int{}
	for i, text := range answers {
		if !strings.HasPrefix(text, "error: ") { // objects may hold what they were given
			continue
		}
		plugin, _, _ := strings.Cut(cases[i], ":")
		failed[plugin]++
		for _, m := range marks {
			if strings.Contains(text, m) {
				t.Errorf("%s\n%s", cases[i], text)
				break
			}
		}
	}
	for plugin := range plugins {
		if failed[plugin] == 0 && plugin != "HashTransformer" { // it has no fields
			t.Errorf("%s never fails: the values are not wrong enough", plugin)
		}
	}
}
