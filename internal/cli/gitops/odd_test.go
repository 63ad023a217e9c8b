package gitops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const (
	oddHead = "apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata: {name: web}\nspec:\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n"
	oddMain = "      - name: main\n        image: web:1\n"
	oddLog  = "      - name: log\n        image: log:1\n"
	service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
)

// TestWrite_OddTexts: whatever a file looks like, the one value or field changes in it, or nothing
// at all.
func TestWrite_OddTexts(t *testing.T) {
	image, variable := [2]string{"web:1", "web:2"}, [2]string{`image: "web:1",`, `image: "web:1", env: [{name: A, value: b}],`}
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	more := []string{oddMain, oddMain + "        env:\n        - name: A\n          value: b\n"}
	const json = `{"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "metadata": {"name": "web"}, "spec": {"template": {"metadata": {}, "spec": {"containers": [{"name": "main", "image": "web:1"}]}}}}`
	for name, c := range map[string]struct {
		text   string
		change [2]string // what becomes of live
		want   []string  // pairs: what becomes of the text; none where it is refused
	}{
		"an anchor on the value":              {oddHead + "      - name: main\n        image: &i web:1\n" + oddLog + "        env: [{name: A, value: *i}]\n", image, nil},
		"an anchor elsewhere on the value":    {oddHead + "      - name: first\n        image: &i web:1\n      - name: main\n        image: *i\n", image, nil},
		"an item that an alias repeats":       {oddHead + "      - &m\n        name: main\n        image: web:1\n      initContainers:\n      - *m\n", image, nil},
		"an item that another merges":         {oddHead + "      - &m\n        name: main\n        image: web:1\n      - <<: *m\n        name: second\n", image, nil},
		"a value of a merge key":              {"x: &d {image: \"web:1\"}\n" + oddHead + "      - name: main\n        <<: *d\n", image, nil},
		"an alias beside a field":             {oddHead + oddMain + "        command: &c [a]\n      - name: log\n        command: *c\n", variable, nil},
		"a key twice":                         {oddHead + oddMain + "        image: web:1\n", image, nil},
		"an object twice":                     {oddHead + oddMain + "---\n" + oddHead + oddMain, image, nil},
		"CR LF":                               {crlf(oddHead + oddMain + oddLog), image, image[:]},
		"a field, CR LF":                      {crlf(oddHead + oddMain + "---\n" + service), variable, nil},
		"a field, byte order mark":            {"\ufeff" + oddHead + oddMain, variable, nil},
		"byte order mark":                     {"\ufeff" + oddHead + oddMain, image, image[:]},
		"a directive":                         {"%YAML 1.1\n---\n" + oddHead + oddMain + "...\n", image, image[:]},
		"a field, directive":                  {"%YAML 1.1\n---\n" + oddHead + oddMain + "...\n", variable, nil},
		"a field, a document of comments":     {oddHead + oddMain + "---\n# the end\n", variable, nil},
		"a tab":                               {oddHead + "      - name: main\n        image: web:1\t# by tab\n", image, image[:]},
		"spaces":                              {oddHead + "      -   name:   main\n          image:   web:1   \n", image, image[:]},
		"folded":                              {oddHead + "      - name: main\n        image: >-\n          web:1\n", image, image[:]},
		"a tag":                               {oddHead + "      - name: main\n        image: !!str web:1\n", image, image[:]},
		"an escape":                           {oddHead + "      - name: main\n        image: \"web\\u003a1\"\n", image, nil},
		"no line end":                         {oddHead + "      - name: main\n        image: web:1", image, image[:]},
		"a value on a line of its own":        {oddHead + "      - {name: main,\n         image:\n           web:1,\n         env: []}\n", image, image[:]},
		"a long key":                          {oddHead + "      - ? name\n        : main\n        ? image\n        : web:1\n", image, image[:]},
		"other line ends in a comment":        {oddHead + "      # \u2028\n      - name: main\n        image: web:1\n      - name: next\n        image: web:1\n", image, nil},
		"other line ends in a value":          {strings.Replace(oddHead, "labels:", "annotations: {a: \"x\u2028   y\"}, labels:", 1) + oddMain + "      - name: next\n        image: web:1\n", image, nil},
		"CR in a comment":                     {oddHead + "      # \r      # a\n" + oddMain, image, nil},
		"an emoji before it":                  {oddHead + "      - {name: main, command: [\"😀é\u0301\"], image: 'web:1'}\n", image, image[:]},
		"JSON":                                {json, image, nil},
		"a field, JSON":                       {json, variable, nil},
		"a digest":                            {oddHead + "      - name: main\n        image: web:1@sha256:" + strings.Repeat("0", 64) + "\n", image, []string{"web:1@sha256:" + strings.Repeat("0", 64), "web:2"}},
		"a comment in the value":              {oddHead + oddMain, [2]string{"web:1", "web:2 #x"}, []string{"web:1", "'web:2 #x'"}},
		"an alias in the value":               {oddHead + oddMain, [2]string{"web:1", "*x"}, []string{"web:1", "'*x'"}},
		"a field in the value":                {oddHead + "      - {name: main, image: web:1}\n", [2]string{"web:1", `a\nb: c`}, nil},
		"a quote in the value":                {oddHead + "      - {name: main, image: 'web:1'}\n", [2]string{"web:1", "it's"}, []string{"web:1", "it''s"}},
		"a field":                             {oddHead + oddMain + oddLog, variable, more},
		"a field, comments":                   {"# head\n" + oddHead + "      # before\n" + oddMain + oddLog + "# end\n---\n# the door\n" + service, variable, more},
		"a field, texts of lines":             {oddHead + oddMain + oddLog + "        command:\n        - |\n          echo a\n\n          # no comment\n", variable, more},
		"a field, a text that comes out else": {oddHead + oddMain + oddLog + "        command:\n        - |\n          ends in a blank \n", variable, nil},
		"a list that the cluster lacks":       {oddHead + oddMain + "        env:\n        - name: B\n          value: b\n", variable, []string{"          value: b\n", "          value: b\n        - name: A\n          value: b\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t, c.text)
			m, err := FindManifest(path, web)
			if err == nil {
				_, err = m.Write(ManifestChange{parsed(t, live), parsed(t, strings.Replace(live, c.change[0], c.change[1], 1)), nil})
			}
			if (err != nil) != (c.want == nil) {
				t.Errorf("error %v", err)
			}
			want := c.text
			if len(c.want) == 2 {
				want = strings.Replace(want, c.want[0], c.want[1], 1)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != want {
				t.Errorf("%v %s", err, cmp.Diff(want, string(got)))
			}
		})
	}
}

// TestWrite_OddKustomizations: what a kustomization would undo, or what would come out
// otherwise, is refused before anything is written.
func TestWrite_OddKustomizations(t *testing.T) {
	const (
		one   = "-- kustomization.yaml --\nresources: [web.yaml]\n"
		base  = "-- web.yaml --\n" + oddHead + oddMain + oddLog
		patch = "apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: main, image: \"web:1\"}]}}}\n"
	)
	image, digest := [2]string{"web:1", "web:2"}, [2]string{"web:1", "web@sha256:" + strings.Repeat("0", 64)}
	for name, c := range map[string]struct {
		files  string
		change [2]string
		want   string // of the error; "" where only the value changes
	}{
		"none":                              {one + base, image, ""},
		"a JSON patch of the image":         {one + "patches:\n- target: {kind: CloneSet}\n  patch: '[{op: replace, path: /spec/template/spec/containers/1/image, value: x}]'\n" + base, image, "a JSON patch sets spec.template.spec.containers.1.image"},
		"a JSON patch around it":            {one + "patchesJson6902:\n- target: {kind: CloneSet, name: w.b}\n  path: p.yaml\n" + base + "-- p.yaml --\n- {op: add, path: /spec/template, value: {}}\n", image, "a JSON patch sets"},
		"a JSON patch of another field":     {one + "patches:\n- target: {kind: CloneSet}\n  patch: '[{op: add, path: /spec/template/metadata/labels/a, value: x}]'\n" + base, image, ""},
		"a JSON patch of another object":    {one + "patches:\n- target: {kind: CloneSet, name: we}\n  patch: '[{op: remove, path: /spec/template}]'\n" + base, image, ""},
		"a replacement of the image":        {one + "replacements:\n- source: {kind: ConfigMap, fieldPath: data.a}\n  targets: [{select: {kind: CloneSet}, fieldPaths: ['spec.template.spec.containers.[name=main].image']}]\n" + base, image, "a replacement sets"},
		"a replacement in a file":           {one + "replacements: [{path: r.yaml}]\n" + base + "-- r.yaml --\n- source: {kind: ConfigMap}\n  targets: [{select: {name: web}, fieldPaths: [spec.template.spec.containers.*.image]}]\n", image, "a replacement sets"},
		"a replacement of another field":    {one + "replacements: [{source: {kind: ConfigMap}, targets: [{select: {kind: CloneSet}, fieldPaths: [spec.replicas]}]}]\n" + base, image, ""},
		"a patch of names":                  {one + "patches: [{path: p.yaml, target: {kind: Clone.et, name: 'w.*'}}]\n" + strings.ReplaceAll(base, "web:1", "web:0") + "-- p.yaml --\n" + patch, image, ""},
		"two patches in a file":             {one + "patches: [{path: p.yaml}]\n" + base + "-- p.yaml --\n" + service + "---\n" + patch, image, "second document"},
		"two patches in a literal":          {one + "patchesStrategicMerge:\n- |\n  " + strings.ReplaceAll(service+"---\n"+patch, "\n", "\n  ") + "\n" + base, image, "second document"},
		"an image by a merge key":           {"-- kustomization.yaml --\nx: &i {name: web, newTag: '1'}\nresources: [web.yaml]\nimages: [{<<: *i}]\n" + base, image, "without changing more"},
		"an image's key twice":              {one + "images: [{name: web, newTag: '1', newTag: '1'}]\n" + base, image, "twice"},
		"another field, CR LF":              {strings.ReplaceAll(one+"images:\n- name: web\n  newTag: '1'\n", "\n", "\r\n") + base, digest, "without changing more"},
		"another field, and a long literal": {one + "images:\n- name: web\n  newTag: '1'\ncommonAnnotations:\n  a: |\n    ends in a blank \n" + base, digest, "without changing more"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := unpacked(t, c.files)
			m, err := FindManifest(dir, web)
			if err == nil {
				_, err = m.Write(ManifestChange{parsed(t, live), parsed(t, strings.Replace(live, c.change[0], c.change[1], 1)), tree.Int64(0)})
			}
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			want := c.files
			if c.want == "" {
				want = strings.ReplaceAll(want, c.change[0], c.change[1])
			}
			for _, f := range txtar.Parse([]byte(want)).Files {
				if got, err := os.ReadFile(filepath.Join(dir, f.Name)); err != nil || string(got) != string(f.Data) {
					t.Errorf("%s: %v %s", f.Name, err, cmp.Diff(string(f.Data), string(got)))
				}
			}
		})
	}
}
