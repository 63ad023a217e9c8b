package load_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// config is a manifest of its own name.
func config(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n"
}

// folder writes files into a temporary directory, makes it the working
// directory, so that messages are the same everywhere, and returns its path.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := load.Files(t, files)
	t.Chdir(dir)
	return dir
}

// places lists objects as file:line name.
func places(rs []*resource.Resource) []string {
	var out []string
	for i, r := range rs {
		s := fmt.Sprintf("%s:%d %s", r.Origin.File, r.Origin.Line, r.Name())
		if r.Origin.Seq != i {
			s += fmt.Sprintf(" seq %d", r.Origin.Seq)
		}
		out = append(out, s)
	}
	return out
}

// faults lists the lines and hints of an error.
func faults(err error) []string {
	if err == nil {
		return nil
	}
	all := []error{err}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		all = many.Unwrap()
	}
	var out []string
	for _, e := range all {
		line := e.Error()
		re, ok := errors.AsType[*resource.Error](e)
		if !ok {
			line = "no *resource.Error: " + line
		} else if re.Hint != "" {
			line += " | " + re.Hint
		}
		out = append(out, line)
	}
	return out
}

func TestLoad_ReadsSources(t *testing.T) {
	files := map[string]string{
		"b.yaml": config("b1") + "---\n" + config("b2"), "a.yml": config("a"), "c.json": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`,
		"notes.txt": "no manifest", "sub/d.yaml": config("d"), "sub/deep/e.yaml": config("e"), "other.yaml": config("other"),
		"dir/x.yaml": config("x"), "dir/sub/w.yaml": config("w"), "dir/z.yaml": "# nothing\n",
	}
	for name, c := range map[string]struct {
		opt  load.Options
		want []string
	}{
		"files in the order named": {load.Options{Files: []string{"b.yaml", "a.yml"}}, []string{"b.yaml:1 b1", "b.yaml:6 b2", "a.yml:1 a"}},
		"a directory":              {load.Options{Files: []string{"dir"}}, []string{"dir/x.yaml:1 x"}},
		"a file left to others":    {load.Options{Files: []string{"./dir/"}, Recursive: true, Except: []string{"dir/./x.yaml"}}, []string{"dir/sub/w.yaml:1 w"}},
		"recursive":                {load.Options{Files: []string{"./dir/"}, Recursive: true}, []string{"dir/sub/w.yaml:1 w", "dir/x.yaml:1 x"}},
		"standard input":           {load.Options{Files: []string{"-", "a.yml"}, Stdin: strings.NewReader(config("in"))}, []string{"-:1 in", "a.yml:1 a"}},
		"all endings":              {load.Options{Files: []string{"."}}, []string{"a.yml:1 a", "b.yaml:1 b1", "b.yaml:6 b2", "c.json:1 c", "other.yaml:1 other"}},
		"any ending when named":    {load.Options{Files: []string{"c.json"}}, []string{"c.json:1 c"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder(t, files)
			got, err := load.Load(t.Context(), c.opt)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, places(got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestLoad_RefusesSources(t *testing.T) {
	files := map[string]string{
		"a.yaml": config("a"), "same.yaml": config("a"), "empty.yaml": "# nothing\n", "empty/readme.md": "", "nested/sub/a.yaml": config("a"),
		"kust/kustomization.yaml": "resources: []\n", "kust/a.yaml": config("k"), "utf16.yaml": "\xff\xfea\x00", "nul.yaml": "a: 1\nb: \x00\n", "latin.yaml": "a: 1\nb: \xe9\n",
	}
	for name, c := range map[string]struct {
		opt  load.Options
		want []string
	}{
		"missing":             {load.Options{Files: []string{"none.yaml"}}, []string{"none.yaml: no such file or directory"}},
		"pattern":             {load.Options{Files: []string{"*.yml"}}, []string{"*.yml: no such file or directory | patterns are the shell's business: do not quote them"}},
		"no name":             {load.Options{Files: []string{""}}, []string{"the name of a file is empty | name a file, a directory or - after -f"}},
		"twice":               {load.Options{Files: []string{"a.yaml", "./a.yaml"}}, []string{"./a.yaml: is named twice | name it once"}},
		"stdin twice":         {load.Options{Files: []string{"-", "-"}, Stdin: strings.NewReader(config("x"))}, []string{"-: is named twice | name it once"}},
		"no stdin":            {load.Options{Files: []string{"-"}}, []string{"-: standard input is not to be had: something else reads it"}},
		"URL":                 {load.Options{Files: []string{"https://example.org/a.yaml"}}, []string{"https://example.org/a.yaml: is a URL | download it, look at it, and name the file: rendering opens no connection"}},
		"device":              {load.Options{Files: []string{os.DevNull}}, []string{"/dev/null: is no regular file (a device, a pipe or a socket) | pipe the text in and name it -"}},
		"no objects":          {load.Options{Files: []string{"empty.yaml"}}, []string{"empty.yaml: no objects in the input"}},
		"no sources":          {load.Options{}, []string{"no objects in the input | name files with -f, or a kustomization with -k"}},
		"directory without":   {load.Options{Files: []string{"empty"}}, []string{"empty: holds no .yaml, .yml or .json file"}},
		"only in folders":     {load.Options{Files: []string{"nested"}}, []string{"nested: holds no .yaml, .yml or .json file | add -R to look into its folders"}},
		"kustomization":       {load.Options{Files: []string{"kust"}}, []string{"kust/kustomization.yaml: the directory has a kustomization, which -f does not build | use -k kust"}},
		"UTF-16":              {load.Options{Files: []string{"utf16.yaml"}}, []string{"utf16.yaml: is UTF-16 text | save it as UTF-8"}},
		"binary":              {load.Options{Files: []string{"nul.yaml"}}, []string{"nul.yaml:2: is a binary file: it holds a NUL byte | manifests are UTF-8 text"}},
		"other encoding":      {load.Options{Files: []string{"latin.yaml"}}, []string{"latin.yaml:2: is not UTF-8 text | manifests are UTF-8 text"}},
		"large file":          {load.Options{Files: []string{"a.yaml"}, MaxFileBytes: 10}, []string{"a.yaml: is larger than 10 bytes | split it into several files"}},
		"many objects":        {load.Options{Files: []string{"-"}, Stdin: strings.NewReader(config("x") + "---\n" + config("y")), MaxObjects: 1}, []string{"the input holds more than 1 object | read parts of it apart, or raise the limit of objects"}},
		"many in a List":      {load.Options{Files: []string{"-"}, Stdin: strings.NewReader(`{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "b"}}]}`), MaxObjects: 1}, []string{"the input holds more than 1 object | read parts of it apart, or raise the limit of objects"}},
		"many values":         {load.Options{Files: []string{"-"}, Stdin: strings.NewReader(config("x") + "data: {a: [" + strings.Repeat("x,", 100) + "]}\n"), MaxNodes: 90}, []string{"-:1: the document has more than 90 values | split it into several documents"}},
		"large stdin":         {load.Options{Files: []string{"-"}, Stdin: strings.NewReader(config("x")), MaxFileBytes: 10}, []string{"-: is larger than 10 bytes | split it into several files"}},
		"large document":      {load.Options{Files: []string{"a.yaml"}, MaxDocumentBytes: 10}, []string{"a.yaml:1: the document is larger than 10 bytes | split it into several documents"}},
		"duplicates":          {load.Options{Files: []string{"a.yaml", "same.yaml"}}, []string{"same.yaml:1: ConfigMap a: is in the input twice, first at a.yaml:1 | remove one of the two, or give it another name"}},
		"all faults, not one": {load.Options{Files: []string{"none.yaml", "nul.yaml", "latin.yaml"}}, []string{"none.yaml: no such file or directory", "nul.yaml:2: is a binary file: it holds a NUL byte | manifests are UTF-8 text", "latin.yaml:2: is not UTF-8 text | manifests are UTF-8 text"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder(t, files)
			_, err := load.Load(t.Context(), c.opt)
			if diff := cmp.Diff(c.want, faults(err)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestLoad_ReportsEmptyInput(t *testing.T) {
	if _, err := load.Load(t.Context(), load.Options{}); !errors.Is(err, load.ErrEmpty) {
		t.Errorf("%v is no ErrEmpty", err)
	}
}

// TestLoad_BuildsKustomization: the objects of a kustomization say where they come from.
func TestLoad_BuildsKustomization(t *testing.T) {
	folder(t, map[string]string{"k/kustomization.yaml": "resources: [a.yaml]\nnamePrefix: x-\n", "k/a.yaml": config("a")})
	got, err := load.Load(t.Context(), load.Options{Kustomize: "k"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"k/a.yaml:1 x-a"}, places(got)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if _, err := load.Load(t.Context(), load.Options{Kustomize: "none"}); len(faults(err)) != 1 {
		t.Errorf("a missing one: %v", err)
	}
}

func TestLoad_FollowsLinksBelowTheRoot(t *testing.T) {
	files := map[string]string{"in/a.yaml": config("a"), "in/data/b.yaml": config("b"), "out/c.yaml": config("c")}
	link := func(t *testing.T, target, name string) {
		t.Helper()
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		links map[string]string
		opt   load.Options
		want  []string
		fault []string
	}{
		"inside":             {map[string]string{"in/l.yaml": "data/b.yaml"}, load.Options{Files: []string{"in"}}, []string{"in/a.yaml:1 a", "in/l.yaml:1 b"}, nil},
		"leaving":            {map[string]string{"in/l.yaml": "../out/c.yaml"}, load.Options{Files: []string{"in"}}, nil, []string{"in/l.yaml: is a symlink that leaves the directory | name the file itself with -f if it belongs to the input"}},
		"leaving, unread":    {map[string]string{"in/l.txt": "../out/c.yaml"}, load.Options{Files: []string{"in"}}, []string{"in/a.yaml:1 a"}, nil},
		"folder leaving":     {map[string]string{"in/l": "../out"}, load.Options{Files: []string{"in"}, Recursive: true}, nil, []string{"in/l: is a symlink that leaves the directory | name the file itself with -f if it belongs to the input"}},
		"folder, not asked":  {map[string]string{"in/l": "../out"}, load.Options{Files: []string{"in"}}, []string{"in/a.yaml:1 a"}, nil},
		"folder inside":      {map[string]string{"in/l": "data"}, load.Options{Files: []string{"in"}, Recursive: true}, []string{"in/a.yaml:1 a", "in/data/b.yaml:1 b"}, nil},
		"circle":             {map[string]string{"in/l": "."}, load.Options{Files: []string{"in"}, Recursive: true}, []string{"in/a.yaml:1 a", "in/data/b.yaml:1 b"}, nil},
		"dangling":           {map[string]string{"in/l.yaml": "nowhere"}, load.Options{Files: []string{"in"}}, nil, []string{"in/l.yaml: no such file or directory"}},
		"dangling, unread":   {map[string]string{"in/l": "nowhere"}, load.Options{Files: []string{"in"}}, []string{"in/a.yaml:1 a"}, nil},
		"root is a link":     {map[string]string{"root": "in"}, load.Options{Files: []string{"root"}}, []string{"root/a.yaml:1 a"}, nil},
		"a file that is one": {map[string]string{"l.yaml": "out/c.yaml"}, load.Options{Files: []string{"l.yaml"}}, []string{"l.yaml:1 c"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			folder(t, files)
			for from, to := range c.links {
				link(t, to, from)
			}
			got, err := load.Load(t.Context(), c.opt)
			if diff := cmp.Diff(c.fault, faults(err)); diff != "" {
				t.Errorf("faults: -want +got\n%s", diff)
			}
			if diff := cmp.Diff(c.want, places(got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestLoad_RefusesNamedPipe holds that a pipe is refused before it is opened: no process writes to
// this one, so opening it would hang.
func TestLoad_RefusesNamedPipe(t *testing.T) {
	folder(t, nil)
	for _, name := range []string{"p", "dir/p.yaml"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(name, 0o644); err != nil {
			t.Skip(err)
		}
	}
	_, err := load.Load(t.Context(), load.Options{Files: []string{"p", "dir"}})
	if got := faults(err); len(got) != 2 || !strings.Contains(got[0], "p: is no regular file") || !strings.Contains(got[1], "dir/p.yaml: is no regular file") {
		t.Errorf("got %q", got)
	}
}

// TestLoad_ReadsPipeOfTheShell reads what a shell's <(command) hands over, though the command has
// ended by then.
func TestLoad_ReadsPipeOfTheShell(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString(config("a")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := load.Load(t.Context(), load.Options{Files: []string{fmt.Sprintf("/dev/fd/%d", r.Fd())}})
	if err != nil || len(got) != 1 || got[0].Name() != "a" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestLoad_ReportsUnreadableFiles(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	folder(t, map[string]string{"a.yaml": config("a")})
	if err := os.Chmod("a.yaml", 0); err != nil {
		t.Fatal(err)
	}
	_, err := load.Load(t.Context(), load.Options{Files: []string{"a.yaml"}})
	if diff := cmp.Diff([]string{"a.yaml: permission denied"}, faults(err)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestLoad_FindsDuplicatesByNamespace: what no namespace means decides who is who.
func TestLoad_FindsDuplicatesByNamespace(t *testing.T) {
	folder(t, map[string]string{"a.yaml": config("a") + "---\n" + config("a") + "  namespace: prod\n"})
	if _, err := load.Load(t.Context(), load.Options{Files: []string{"a.yaml"}}); err != nil {
		t.Errorf("refused without a namespace: %v", err)
	}
	if _, err := load.Load(t.Context(), load.Options{Files: []string{"a.yaml"}, Namespace: "prod"}); err == nil {
		t.Error("accepted although both live in prod")
	}
}

func TestLoad_GeneratedNamesMayRepeat(t *testing.T) {
	text := "apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: j-\n"
	folder(t, map[string]string{"a.yaml": text + "---\n" + text})
	if _, err := load.Load(t.Context(), load.Options{Files: []string{"a.yaml"}}); err != nil {
		t.Error(err)
	}
}

func TestContext_MayRepeatObjects(t *testing.T) {
	folder(t, map[string]string{"a.yaml": config("a"), "none.yaml": "apiVersion: v1\nkind: List\nitems: []\n"})
	got, err := load.Context(t.Context(), []string{"a.yaml", "none.yaml"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.yaml:1 a"}, places(got)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if _, err := load.Context(t.Context(), []string{"missing.yaml"}, nil); err == nil {
		t.Error("a missing file is accepted")
	}
}

func TestLoad_ReadsLists(t *testing.T) {
	item := func(name string) string { return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + "}}" }
	for name, c := range map[string]struct {
		in          string
		want, fault []string
	}{
		"List":              {"apiVersion: v1\nkind: List\nitems:\n- " + item("a") + "\n-\n  " + item("b") + "\n", []string{"f:4 a", "f:6 b"}, nil},
		"JSON":              {"{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}]}", []string{"f:2 a"}, nil},
		"typed":             {"apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: a}\n", []string{"f:4 a"}, nil},
		"nested":            {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - " + item("a") + "\n", []string{"f:7 a"}, nil},
		"empty":             {"apiVersion: v1\nkind: List\nitems: []\n", nil, nil},
		"without items":     {"apiVersion: v1\nkind: List\n", nil, nil},
		"null items":        {"apiVersion: v1\nkind: List\nitems:\n", nil, nil},
		"kind named so":     {"apiVersion: example.org/v1\nkind: AllowList\nmetadata: {name: a}\nspec: {}\n", []string{"f:1 a"}, nil},
		"in a later file":   {config("x") + "---\n# c\napiVersion: v1\nkind: List\nitems:\n- " + item("a") + "\n", []string{"f:1 x", "f:10 a"}, nil},
		"element no map":    {"apiVersion: v1\nkind: List\nitems:\n- a\n- " + item("b") + "\n", nil, []string{"f:4: List: items[0]: is no object"}},
		"element unnamed":   {"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap}\n", nil, []string{"f:4: ConfigMap: metadata: is missing | add metadata with a name"}},
		"metadata misspelt": {"apiVersion: v1\nkind: ConfigMap\nmetadta: {name: a}\n", nil, []string{"f:3: ConfigMap: metadta: unknown field | did you mean metadata?"}},
		"untyped elements":  {"apiVersion: v1\nkind: List\nitems:\n- metadata: {name: a}\n", nil, []string{"f:4: apiVersion: is missing | such as apiVersion: apps/v1", "f:4: kind: is missing | such as kind: Deployment"}},
		"ResourceList":      {"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n", nil, []string{"f:1: ResourceList: a ResourceList is what functions read and write | hand it to the fn command on standard input"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := load.Parse("f", []byte(c.in))
			if diff := cmp.Diff(c.fault, faults(err)); diff != "" {
				t.Errorf("faults: -want +got\n%s", diff)
			}
			if c.fault == nil {
				if diff := cmp.Diff(c.want, places(got)); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			}
			for _, r := range got {
				if r.Raw() != nil && r.Kind() == "ConfigMap" && strings.Contains(name, "List") {
					t.Error("an element of a list has bytes of its own")
				}
			}
		})
	}
}

// TestLoad_KeepsTheOrder reads many files: what comes out does not depend on which
// goroutine is first.
func TestLoad_KeepsTheOrder(t *testing.T) {
	files, want := map[string]string{}, []string{}
	for i := range 200 {
		name := fmt.Sprintf("d/f%03d.yaml", i)
		files[name] = config(fmt.Sprintf("a%d", i)) + "---\n" + config(fmt.Sprintf("b%d", i))
		want = append(want, fmt.Sprintf("%s:1 a%d", name, i), fmt.Sprintf("%s:6 b%d", name, i))
	}
	folder(t, files)
	got, err := load.Load(t.Context(), load.Options{Files: []string{"d"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, places(got)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
