package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// trapFlags are those of `kustomize build`.
type trapFlags struct{ AlphaPlugins, Exec bool }

// trapKustomization is what matters of one.
type trapKustomization struct {
	Namespace    string   `json:"namespace"`
	Resources    []string `json:"resources"`
	Bases        []string `json:"bases"`
	Components   []string `json:"components"`
	Generators   []string `json:"generators"`
	Transformers []string `json:"transformers"`
	Validators   []string `json:"validators"`
}

// trapLayer is a kustomization with its place in a build.
type trapLayer struct {
	trapKustomization
	dir string
	// outer is set below the outermost one; moved where one of those above sets a
	// namespace for all that it gets.
	outer, moved bool
}

// trapReader goes through the layers of a build.
type trapReader struct {
	flags trapFlags
	seen  map[string]bool
	lines []verdictLine
	found int
}

// findTraps goes through the kustomization in dir and all below it, and returns how many functions it
// has.
func findTraps(ctx context.Context, dir string, flags trapFlags) (lines []verdictLine, functions int, err error) {
	r := &trapReader{flags: flags, seen: map[string]bool{}}
	dir = filepath.Clean(dir)
	if err := r.layer(trapLayer{dir: dir}); err != nil {
		return nil, 0, err
	}
	if err := r.build(ctx, dir); err != nil {
		return nil, 0, err
	}
	if len(r.lines) == 0 {
		r.lines = append(r.lines, passed("kustomize", "%s, and no trap", countedFunctions(r.found)))
	}
	return r.lines, r.found, nil
}

// build reports where the kustomization would become something else if kustomize knew Kruise's
// kinds. What it is built of may be read, as it was here; an entry that is not there, or elsewhere, has
// been reported.
func (r *trapReader) build(ctx context.Context, dir string) error {
	for _, l := range r.lines {
		if l.Topic == remoteTopic || l.Topic == filesTopic {
			return nil
		}
	}
	undecided, err := load.Undecided(ctx, dir, r.root(dir))
	if err := ctx.Err(); err != nil {
		return err
	}
	if fault, ok := errors.AsType[*resource.Error](err); ok {
		hint := fault.Hint
		r.lines = append(r.lines, failedVerdict("build", hint, "%v", fault))
	} else if err != nil {
		return err
	}
	for _, place := range undecided {
		r.lines = append(r.lines, warned("schema", place.Hint, "%v", place))
	}
	return nil
}

// root is the folder that holds all layers.
func (r *trapReader) root(dir string) string {
	root := dir
	for below := range r.seen {
		for {
			if rel, err := filepath.Rel(root, below); err == nil && (rel == "." || filepath.IsLocal(rel)) {
				break
			}
			root = filepath.Join(root, "..")
		}
	}
	return root
}

// The topics of entries that kustomize does not find here.
const (
	remoteTopic = "remote"
	filesTopic  = "files"
)

func countedFunctions(functions int) string {
	if functions == 1 {
		return "1 function"
	}
	return fmt.Sprintf("%d functions", functions)
}

var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// readKustomization reads the kustomization of a folder.
func readKustomization(dir string) (trapKustomization, error) {
	var k trapKustomization
	for _, name := range kustomizationNames {
		b, err := load.File(filepath.Join(dir, name), nil, 0)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return k, err
		}
		if err = yaml.Unmarshal(b, &k); err != nil {
			return k, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
		}
		return k, nil
	}
	return k, fmt.Errorf("%s: no kustomization.yaml", dir)
}

func (r *trapReader) layer(l trapLayer) error {
	var err error
	if l.trapKustomization, err = readKustomization(l.dir); err != nil {
		return err
	}
	for _, list := range []struct {
		field   string
		entries []string
	}{{"generators", l.Generators}, {"transformers", l.Transformers}, {"validators", l.Validators}, {"resources", l.Resources}} {
		for _, entry := range list.entries {
			if err := r.entry(l, list.field, entry); err != nil {
				return err
			}
		}
	}
	return r.below(l)
}

// below goes through the layers that a layer is made of.
func (r *trapReader) below(l trapLayer) error {
	for _, entry := range append(l.Bases, l.Components...) {
		if _, err := os.Stat(filepath.Join(l.dir, entry)); err != nil {
			r.absent(l, entry)
		}
	}
	for _, below := range append(append(l.Resources, l.Bases...), l.Components...) {
		dir := filepath.Join(l.dir, below)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() || r.seen[dir] {
			continue
		}
		r.seen[dir] = true
		if err := r.layer(trapLayer{dir: dir, outer: true, moved: l.moved || l.Namespace != ""}); err != nil {
			return err
		}
	}
	return nil
}

// absent is an entry that is no file here: kustomize fails, or fetches it.
func (r *trapReader) absent(l trapLayer, entry string) {
	if load.Remote(entry) {
		r.lines = append(r.lines, warned(remoteTopic, "its functions run here, too: build only what you trust", "%s: %s is fetched, and was not looked at", filepath.ToSlash(l.dir), entry))
		return
	}
	r.lines = append(r.lines, failedVerdict(filesTopic, "entries count from the folder of the kustomization", "%s: kustomize stops, there is no %s", filepath.ToSlash(l.dir), entry))
}

// entry looks at the configs that an entry of a field holds: a file, a folder with a
// kustomization of its own, or YAML in place.
func (r *trapReader) entry(l trapLayer, field, entry string) error {
	path := filepath.Join(l.dir, entry)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		if field == "resources" {
			return nil
		}
		k, err := readKustomization(path)
		if err != nil {
			return err
		}
		for _, e := range k.Resources {
			if err := r.entry(trapLayer{trapKustomization: l.trapKustomization, dir: path, outer: l.outer, moved: l.moved}, field, e); err != nil {
				return err
			}
		}
		return nil
	case err == nil:
		b, err := load.File(path, nil, 0)
		if err != nil {
			return err
		}
		return r.configs(l, field, path, b)
	case field != "resources" && bytes.ContainsRune([]byte(entry), '\n'):
		return r.configs(l, field, filepath.Join(l.dir, field), []byte(entry))
	default:
		r.absent(l, entry)
	}
	return nil
}

func (r *trapReader) configs(l trapLayer, field, place string, text []byte) error {
	documents, err := decodeYAML(text)
	if err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	for _, d := range documents {
		c, ok := functionOf(d, place)
		if !ok {
			continue
		}
		r.found++
		r.lines = append(r.lines, r.judge(l, field, c)...)
	}
	return nil
}

// decodeYAML parses documents of YAML.
func decodeYAML(text []byte) ([]map[string]any, error) {
	var out []map[string]any
	for d := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var m map[string]any
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if m != nil {
			out = append(out, m)
		}
	}
}

// functionAnnotations are those that declare a function, the newest first.
var functionAnnotations = []string{"config.kubernetes.io/function", "config.k8s.io/function"}

// functionConfig is the config of a function.
type functionConfig struct {
	object unstructured.Unstructured
	place  string
	// text is the declaration.
	text string
}

// functionProgram is what a declaration runs. kustomize decodes it strictly, so we do.
type functionProgram struct {
	Exec *struct {
		Path string   `json:"path"`
		Args []string `json:"args"`
		Envs []string `json:"envs"`
	} `json:"exec"`
	Container map[string]any `json:"container"`
	Network   any            `json:"network"`
	Mounts    any            `json:"mounts"`
	Starlark  any            `json:"starlark"`
}

func functionOf(object map[string]any, place string) (functionConfig, bool) {
	c := functionConfig{object: unstructured.Unstructured{Object: object}, place: place}
	for _, a := range functionAnnotations {
		if text := c.object.GetAnnotations()[a]; text != "" {
			c.text = text
			return c, true
		}
	}
	return c, false
}

func (c functionConfig) String() string {
	return fmt.Sprintf("%s: %s %s", filepath.ToSlash(c.place), c.object.GetKind(), c.object.GetName())
}

// judge are all traps that a config is in.
func (r *trapReader) judge(l trapLayer, field string, c functionConfig) []verdictLine {
	if field == "resources" {
		return []verdictLine{warned("function", "list it under transformers: or generators:", "%s is an object like any other under resources: no function runs", c)}
	}
	var p functionProgram
	if err := yaml.UnmarshalStrict([]byte(c.text), &p); err != nil {
		return []verdictLine{failedVerdict("function", "its declaration may hold exec: {path, args, envs} or container: {…}", "%s: %v", c, err)}
	}
	out := r.flagged(p, c)
	if p.Exec != nil && p.Container == nil {
		out = append(out, r.exec(l, p, c)...)
	}
	out = append(out, validationLines(field, c)...)
	return append(out, distributionLines(l, field, c)...)
}

// flagged is what the flags of `kustomize build` do to a function.
func (r *trapReader) flagged(p functionProgram, c functionConfig) []verdictLine {
	switch exec := p.Exec != nil && p.Container == nil; {
	case !r.flags.AlphaPlugins:
		return []verdictLine{failedVerdict("flags", "kustomize build --enable-alpha-plugins --enable-exec; kubectl kustomize and apply -k cannot", "%s: kustomize stops, external plugins are disabled", c)}
	case exec && !r.flags.Exec:
		return []verdictLine{failedVerdict("flags", "add --enable-exec", "%s: kustomize leaves the function out and says nothing", c)}
	}
	return nil
}

// exec is whether the program can be found, and by which kustomize.
func (r *trapReader) exec(l trapLayer, p functionProgram, c functionConfig) []verdictLine {
	var out []verdictLine
	if strings.ContainsRune(p.Exec.Path, '/') {
		// kustomize resolves it from the kustomization that lists the config.
		path := p.Exec.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(l.dir, path)
		}
		if info, err := os.Stat(path); err != nil || info.Mode()&0o111 == 0 {
			out = append(out, failedVerdict("exec", "the path counts from the kustomization that lists the config", "%s: %s is not a program", c, path))
		}
	} else if _, err := exec.LookPath(p.Exec.Path); err != nil {
		out = append(out, failedVerdict("exec", "put it on the PATH of the build", "%s: there is no %s", c, p.Exec.Path))
	}
	if len(p.Exec.Args)+len(p.Exec.Envs) > 0 {
		out = append(out, warned("exec", "path: kubectl-kruise alone works everywhere", "%s: kustomize before 5.7 fails on args and envs", c))
	}
	return out
}

// validationLines is where a function that reports alone may stand.
func validationLines(field string, c functionConfig) []verdictLine {
	mode, _, _ := unstructured.NestedString(c.object.Object, "spec", "validate")
	if mode == "" {
		mode, _, _ = unstructured.NestedString(c.object.Object, "data", "validate")
	}
	switch {
	case mode == "empty" && field != "validators":
		return []verdictLine{failedVerdict("validate", "list it under validators:", "%s returns nothing, and under %s: that deletes every object", c, field)}
	case mode != "empty" && field == "validators":
		return []verdictLine{failedVerdict("validate", "set validate: empty, which is right under validators: alone", "%s: kustomize fails every validator that returns what it got", c)}
	}
	return nil
}

// distributionLines is where copies for several namespaces may be made.
func distributionLines(l trapLayer, field string, c functionConfig) []verdictLine {
	if gvk := c.object.GroupVersionKind(); gvk.Group != kruise.Group || gvk.Kind != kruise.KindResourceDistribution {
		return nil
	}
	const hint = "list it under transformers: of the outermost kustomization"
	switch {
	case l.moved || field == "generators" && l.Namespace != "":
		return []verdictLine{failedVerdict("namespaces", hint, "%s: a namespace: that comes later moves all copies into one, and kustomize fails", c)}
	case field == "generators":
		return []verdictLine{warned("namespaces", hint, "%s: a generator gets no objects, so it does not know which Namespaces there are", c)}
	}
	return nil
}
