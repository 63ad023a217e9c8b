package load

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/kustomize/api/builtins" //nolint:staticcheck // kustomize exports its plugins nowhere else
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/isolated"
)

// builds is isolated work of this test: many builds in one process.
const builds = "test-builds"

func init() {
	isolated.Serve(builds, func(request []byte, answer io.Writer) error {
		var jobs []job
		if err := json.Unmarshal(request, &jobs); err != nil {
			return err
		}
		debug.SetGCPercent(400) // as in other test binaries
		out := make([]string, len(jobs))
		for i, j := range jobs {
			built, err := j.buildWithKustomize()
			if out[i] = string(built.Text); err != nil {
				out[i] = "error: " + err.Error()
			}
		}
		return json.NewEncoder(answer).Encode(out)
	})
}

// world is what nothing may touch: a web server and a git on PATH.
type world struct {
	url string
	// ran is a file that git writes.
	ran  string
	hits func() int
}

const answer = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-elsewhere}\n"

func newWorld(t *testing.T) *world {
	t.Helper()
	hits := make(chan struct{}, 10_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits <- struct{}{}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	w := &world{url: server.URL, ran: filepath.Join(dir, "ran"), hits: func() int { return len(hits) }}
	script := "#!/bin/sh\necho ran > '" + w.ran + "'\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return w
}

func (w *world) touched() string {
	_, err := os.Stat(w.ran)
	return fmt.Sprintf("%d requests, git ran: %v", w.hits(), err == nil)
}

const untouched = "0 requests, git ran: false"

// names are remote places, as kustomize takes them.
func (w *world) names() map[string]string {
	host := strings.TrimPrefix(w.url, "http://")
	return map[string]string{
		"URL":        w.url + "/x.yaml",
		"git::":      "git::" + w.url + "/owner/repository",
		"SSH":        "ssh://git@" + host + "/owner/repository",
		"scp":        "git@localhost:owner/repository",
		"repository": w.url + "/owner/repository.git//sub?ref=main",
		"file":       "file://" + filepath.Dir(w.ran) + "/repository.git",
	}
}

// TestListener_IsReachable: kustomize itself does reach what the tests below look at.
func TestListener_IsReachable(t *testing.T) {
	w := newWorld(t)
	dir := Files(t, map[string]string{"kustomization.yaml": "resources: ['" + w.url + "/x.yaml']\n"})
	if text, err := runKustomize(filesys.MakeFsOnDisk(), dir); err != nil || !strings.Contains(string(text), "from-elsewhere") {
		t.Fatal(err)
	}
	dir = Files(t, map[string]string{"kustomization.yaml": "resources: ['ssh://git@localhost/owner/repository']\n"})
	if _, err := runKustomize(filesys.MakeFsOnDisk(), dir); err == nil {
		t.Fatal("no error")
	}
	if w.touched() != "1 requests, git ran: true" {
		t.Error(w.touched())
	}
}

// plugins are the types of kustomize's own plugins.
var plugins = map[string]any{
	"AnnotationsTransformer":         builtins.AnnotationsTransformerPlugin{},
	"ConfigMapGenerator":             builtins.ConfigMapGeneratorPlugin{},
	"HashTransformer":                builtins.HashTransformerPlugin{},
	"HelmChartInflationGenerator":    builtins.HelmChartInflationGeneratorPlugin{},
	"IAMPolicyGenerator":             builtins.IAMPolicyGeneratorPlugin{},
	"ImageTagTransformer":            builtins.ImageTagTransformerPlugin{},
	"LabelTransformer":               builtins.LabelTransformerPlugin{},
	"NamespaceTransformer":           builtins.NamespaceTransformerPlugin{},
	"PatchJson6902Transformer":       builtins.PatchJson6902TransformerPlugin{},
	"PatchStrategicMergeTransformer": builtins.PatchStrategicMergeTransformerPlugin{},
	"PatchTransformer":               builtins.PatchTransformerPlugin{},
	"PrefixTransformer":              builtins.PrefixTransformerPlugin{},
	"ReplacementTransformer":         builtins.ReplacementTransformerPlugin{},
	"ReplicaCountTransformer":        builtins.ReplicaCountTransformerPlugin{},
	"SecretGenerator":                builtins.SecretGeneratorPlugin{},
	"SuffixTransformer":              builtins.SuffixTransformerPlugin{},
	"ValueAddTransformer":            builtins.ValueAddTransformerPlugin{},
}

// leaf is a field of text somewhere in a type: its steps, "[]" for an element of a list
// and "{}" for a value of a mapping.
type leaf struct {
	steps []string
	// named are the steps of mappings that have a name, by their depth.
	named map[int]bool
}

// textFields walks a Go type.
func textFields(t reflect.Type, at leaf) []leaf {
	if len(at.steps) > 12 {
		return nil
	}
	step := func(s string) leaf {
		return leaf{append(slices.Clone(at.steps), s), at.named}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return textFields(t.Elem(), at)
	case reflect.Slice:
		return textFields(t.Elem(), step("[]"))
	case reflect.Map:
		return textFields(t.Elem(), step("path"))
	case reflect.String:
		return []leaf{at}
	case reflect.Struct:
		if _, ok := t.FieldByName("Name"); ok {
			named := map[int]bool{len(at.steps): true}
			for depth := range at.named {
				named[depth] = true
			}
			at.named = named
		}
		var out []leaf
		for f := range t.Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case !f.IsExported() || name == "-":
			case name == "" && (f.Anonymous || strings.Contains(options, "inline")):
				out = append(out, textFields(f.Type, at)...)
			default:
				if name == "" {
					name = f.Name
				}
				out = append(out, textFields(f.Type, step(name))...)
			}
		}
		return out
	}
	return nil
}

// document is a YAML document in flow style that has a value at a leaf. With merge, the
// last field comes from a merge key.
func (l leaf) document(value string, merge bool, more ...string) string {
	text := value
	for i, v := range slices.Backward(l.steps) {
		if v == "[]" {
			text = "[" + text + "]"
			continue
		}
		field := v + ": " + text
		if merge {
			field, merge = "<<: {"+field+"}", false
		}
		if l.named[i] && v != "name" && i > 0 {
			field = "name: a, " + field
		}
		if i == 0 {
			return "{" + strings.Join(append(more, field), ", ") + "}\n"
		}
		text = "{" + field + "}"
	}
	return text
}

// encodings are the ways to write a text.
func (l leaf) encodings(value string, more ...string) map[string]string {
	quoted := fmt.Sprintf("%q", value)
	anchored := append([]string{`metadata: {name: a, annotations: {a: &x ` + quoted + `}}`},
		slices.DeleteFunc(slices.Clone(more), func(m string) bool { return strings.HasPrefix(m, "metadata:") })...)
	return map[string]string{
		"plain":     l.document(quoted, false, more...),
		"alias":     l.document("*x", false, anchored...),
		"merge key": l.document(quoted, true, more...),
		"binary":    l.document("!!binary "+base64.StdEncoding.EncodeToString([]byte(value)), false, more...),
		"block":     l.block(value, more),
	}
}

// block writes the value as a block scalar, which flow style cannot hold: the document is
// written in block style, a line for each step.
func (l leaf) block(value string, more []string) string {
	var b strings.Builder
	for _, m := range more {
		b.WriteString(m + "\n")
	}
	prefix := ""
	for i, s := range l.steps {
		pad := strings.Repeat("  ", i)
		if s == "[]" {
			prefix += "- "
			continue
		}
		if l.named[i] && s != "name" && i > 0 {
			fmt.Fprintf(&b, "%s%sname: a\n", pad[:len(pad)-len(prefix)], prefix)
			prefix = strings.Repeat(" ", len(prefix))
		}
		fmt.Fprintf(&b, "%s%s%s:\n", pad[:len(pad)-len(prefix)], prefix, s)
		prefix = ""
	}
	out := strings.TrimSuffix(b.String(), "\n")
	if prefix != "" {
		return out + "\n" + strings.Repeat("  ", len(l.steps)-1) + prefix + "|-\n" + strings.Repeat("  ", len(l.steps)+1) + value + "\n"
	}
	return out + " |-\n" + strings.Repeat("  ", len(l.steps)) + value + "\n"
}

// TestKustomize_NoFieldOpensAConnection: no field of kustomize's types makes a request or runs
// git, with any value in any spelling.
func TestKustomize_NoFieldOpensAConnection(t *testing.T) {
	w := newWorld(t)
	root := t.TempDir()
	var jobs []job
	var cases []string
	add := func(name string, files map[string]string) {
		dir := filepath.Join(root, fmt.Sprint(len(jobs)))
		files["a.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		jobs, cases = append(jobs, job{Name: dir, Dir: dir, Root: root}), append(cases, name)
	}
	for _, f := range knownFields(t) {
		for form, value := range w.names() {
			for how, text := range f.encodings(value, f.more...) {
				// Each field in one form; those that name files in all.
				if !f.file && (how != "plain" || form != "URL") || f.file && how != "plain" && form != "URL" && form != "SSH" && form != "git::" {
					continue
				}
				files := map[string]string{"kustomization.yaml": text}
				if f.plugin != "" {
					files = map[string]string{"kustomization.yaml": "resources: [a.yaml]\n" + place(f.plugin) + ": [p.yaml]\n", "p.yaml": text}
				}
				add(strings.Join([]string{f.String(), form, how}, " "), files)
			}
		}
	}
	t.Logf("%d builds", len(jobs))
	answers := w.built(t, root, jobs)
	remote := map[string]bool{}
	for i, text := range answers {
		if strings.Contains(text, "from-elsewhere") {
			t.Errorf("%s: got what is elsewhere", cases[i])
		}
		if strings.Contains(text, "is a remote place") {
			remote[strings.Fields(cases[i])[0]] = true
		}
	}
	for _, field := range []string{"resources.[]", "bases.[]", "components.[]", "crds.[]", "configurations.[]", "generators.[]", "transformers.[]", "validators.[]", "openapi.path", "patches.[].path", "replacements.[].path", "configMapGenerator.[].files.[]", "secretGenerator.[].envs.[]", "PatchTransformer:path", "ConfigMapGenerator:files.[]", "SecretGenerator:envs.[]", "ReplacementTransformer:replacements.[].path", "PatchJson6902Transformer:path"} {
		if !remote[field] {
			t.Errorf("%s is no remote place in any build: the documents are wrong", field)
		}
	}
	if w.touched() != untouched {
		t.Error(w.touched())
	}
}

func place(plugin string) string {
	if strings.HasSuffix(plugin, "Generator") {
		return "generators"
	}
	return "transformers"
}

// field is one of a kustomization, or of a plugin.
type field struct {
	leaf
	plugin string
	// file indicates that it names files.
	file bool
	// more are fields that the document has besides.
	more []string
}

func (f field) String() string {
	return strings.TrimPrefix(f.plugin+":"+strings.Join(f.steps, "."), ":")
}

// knownFields are all fields of text of kustomize's types. testdata/fields.txt lists them, and
// says which name files: a field of a later kustomize fails the test until it is reviewed.
func knownFields(t *testing.T) (out []field) {
	t.Helper()
	text, err := os.ReadFile("testdata/fields.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		name, mark, _ := strings.Cut(strings.TrimSpace(line), " ")
		known[name] = mark == "file"
	}
	for _, l := range textFields(reflect.TypeFor[types.Kustomization](), leaf{}) {
		f := field{leaf: l}
		if l.steps[0] != "resources" {
			f.more = []string{"resources: [a.yaml]"}
		}
		out = append(out, f)
	}
	for kind, plugin := range plugins {
		for _, l := range textFields(reflect.TypeOf(plugin), leaf{}) {
			f := field{leaf: l, plugin: kind, more: []string{"apiVersion: builtin", "kind: " + kind}}
			if l.steps[0] != "metadata" {
				f.more = append(f.more, "metadata: {name: a}")
			}
			out = append(out, f)
		}
	}
	for i := range out {
		file, ok := known[out[i].String()]
		if !ok {
			t.Errorf("%s is not in testdata/fields.txt: say there whether it names files", out[i])
		}
		out[i].file = file
		delete(known, out[i].String())
	}
	for name := range known {
		t.Errorf("testdata/fields.txt has %s, which kustomize has not", name)
	}
	return out
}

// built builds jobs by kustomize in one process, and some by this program's own builder.
func (w *world) built(t *testing.T, root string, jobs []job) []string {
	t.Helper()
	for i, j := range jobs {
		if i%3 > 0 { // it knows no remote places; a part of them shows that
			continue
		}
		before := w.touched()
		_, _, _ = j.buildInProcess(t.Context())
		if after := w.touched(); after != before {
			t.Fatalf("build %d touches the world: %s", i, after)
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
	return answers
}

// TestKustomize_OpensNoConnection: what kustomize has made requests for, each of which a survey
// of the files did not see.
func TestKustomize_OpensNoConnection(t *testing.T) {
	w := newWorld(t)
	const patch = "resources: [g.yaml]\npatches:\n- target: {kind: ConfigMapGenerator}\n  patch: '[{op: add, path: /files, value: [\"k=URL\"]}]'\n"
	generator := "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nfiles: ['k=URL']\n"
	for name, files := range map[string]map[string]string{
		"a binary resource":             {"kustomization.yaml": "resources: [!!binary BASE64]\n"},
		"a binary name of a generator":  {"kustomization.yaml": "generators: [g.yaml]\n", "g.yaml": "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nfiles: [!!binary BASE64]\n"},
		"a generator that is patched":   {"kustomization.yaml": "generators: [g]\n", "g/kustomization.yaml": patch, "g/g.yaml": "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\n"},
		"a List of generators":          {"kustomization.yaml": "generators: [l.yaml]\n", "l.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: a}, files: ['k=URL']}\n"},
		"a List in a folder":            {"kustomization.yaml": "generators: [g]\n", "g/kustomization.yaml": "resources: [l.yaml]\n", "g/l.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: a}, files: ['k=URL']}\n"},
		"a transformer that is patched": {"kustomization.yaml": "resources: [a.yaml]\ntransformers: [g]\n", "a.yaml": answer, "g/kustomization.yaml": "resources: [g.yaml]\npatches: [{target: {kind: PatchTransformer}, patch: '[{op: add, path: /path, value: \"URL\"}]'}]\n", "g/g.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\n"},
		"a validator in a component":    {"kustomization.yaml": "resources: [a.yaml]\ncomponents: [c]\n", "a.yaml": answer, "c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nvalidators: ['URL']\n"},
		"an inline generator":           {"kustomization.yaml": "generators:\n- |\n  apiVersion: builtin\n  kind: ConfigMapGenerator\n  metadata: {name: a}\n  envs: ['URL']\n"},
		"a base behind a link":          {"kustomization.yaml": "resources: [link]\n", "deep/base/kustomization.yaml": "generators: [g.yaml]\n", "deep/base/g.yaml": generator},
		"a name of several documents":   {"kustomization.yaml": "resources: [a.yaml]\n---\nresources: ['URL']\n", "a.yaml": answer},
		"git by a file URL":             {"kustomization.yaml": "resources: ['file://" + filepath.Dir(w.ran) + "/x.git']\n"},
		"git of an owner":               {"kustomization.yaml": "resources: ['git@localhost:a/b']\n"},
		"a chart":                       {"kustomization.yaml": "helmCharts: [{name: a, repo: 'URL', version: '1'}]\n"},
		"a chart generator":             {"kustomization.yaml": "generators: [g.yaml]\n", "g.yaml": "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: a}\nname: a\nrepo: 'URL'\n"},
		"a function":                    {"kustomization.yaml": "generators: [g.yaml]\n", "g.yaml": "apiVersion: a/v1\nkind: A\nmetadata: {name: a, annotations: {config.kubernetes.io/function: 'exec: {path: git}'}}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for file, text := range files {
				files[file] = strings.NewReplacer("URL", w.url+"/x.yaml", "BASE64", base64.StdEncoding.EncodeToString([]byte(w.url+"/x.yaml"))).Replace(text)
			}
			dir := Files(t, files)
			if strings.Contains(name, "link") {
				if err := os.Symlink("deep/base", filepath.Join(dir, "link")); err != nil {
					t.Skip(err)
				}
			}
			text, err := Kustomize(dir)
			if err == nil && !strings.Contains(name, "several") || strings.Contains(string(text), "from-elsewhere") && !strings.Contains(name, "several") {
				t.Errorf("%v\n%s", err, text)
			}
			if w.touched() != untouched {
				t.Error(w.touched())
			}
		})
	}
}

// TestKustomize_KeepsItsPlugins: what needs no world is built, links inside included.
func TestKustomize_KeepsItsPlugins(t *testing.T) {
	dir := Files(t, map[string]string{
		"kustomization.yaml": "resources: [link]\ngenerators: [g.yaml]\ntransformers: [t]\nvalidators: [t]\ncrds: [crd.yaml]\nopenapi: {path: schema.json}\nconfigurations: [c.yaml]\n",
		"g.yaml":             "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: made}\nfiles: [data/x]\n",
		"data/x":             "it", "schema.json": "{}", "crd.yaml": "{}", "c.yaml": "namePrefix: []\n",
		"t/kustomization.yaml":         "resources: [t.yaml]\n",
		"t/t.yaml":                     "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: l}\nlabels: {team: shop}\nfieldSpecs: [{path: metadata/labels, create: true}]\n",
		"deep/base/kustomization.yaml": "resources: [a.yaml]\n", "deep/base/a.yaml": answer,
	})
	if err := os.Symlink("deep/base", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	text, err := Kustomize(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"x: it", "name: from-elsewhere", "team: shop"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
