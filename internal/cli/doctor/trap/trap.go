// Package trap finds what kustomize does without a word, or with a puzzling one, to
// functions: it reads kustomizations and what was built of them, and runs nothing.
package trap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/doctor/verdict"
)

// Flags are those of `kustomize build`.
type Flags struct{ AlphaPlugins, Exec bool }

// kustomization is what matters of one.
type kustomization struct {
	Namespace    string   `json:"namespace"`
	Resources    []string `json:"resources"`
	Bases        []string `json:"bases"`
	Components   []string `json:"components"`
	Generators   []string `json:"generators"`
	Transformers []string `json:"transformers"`
	Validators   []string `json:"validators"`
}

// layer is a kustomization where it stands in a build.
type layer struct {
	kustomization
	dir string
	// outer is set below the outermost one; moved where one of those above sets a
	// namespace for all that it gets.
	outer, moved bool
}

// reader goes through the layers of a build.
type reader struct {
	flags Flags
	look  func(string) (string, error)
	seen  map[string]bool
	lines []verdict.Line
	found int
}

// Look goes through the kustomization in dir and all below it. look finds a program on
// the PATH.
func Look(dir string, flags Flags, look func(string) (string, error)) ([]verdict.Line, error) {
	r := &reader{flags: flags, look: look, seen: map[string]bool{}}
	if err := r.layer(layer{dir: filepath.Clean(dir)}); err != nil {
		return nil, err
	}
	if len(r.lines) == 0 {
		r.lines = append(r.lines, verdict.Good("kustomize", "%s, and no trap", counted(r.found)))
	}
	return r.lines, nil
}

func counted(functions int) string {
	if functions == 1 {
		return "1 function"
	}
	return fmt.Sprintf("%d functions", functions)
}

var files = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// read reads the kustomization of a folder.
func read(dir string) (kustomization, error) {
	var k kustomization
	for _, name := range files {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = yaml.Unmarshal(b, &k)
		}
		if err != nil {
			return k, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
		}
		return k, nil
	}
	return k, fmt.Errorf("%s: no kustomization.yaml", dir)
}

func (r *reader) layer(l layer) error {
	var err error
	if l.kustomization, err = read(l.dir); err != nil {
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
func (r *reader) below(l layer) error {
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
		if err := r.layer(layer{dir: dir, outer: true, moved: l.moved || l.Namespace != ""}); err != nil {
			return err
		}
	}
	return nil
}

// remote are entries that kustomize fetches from elsewhere.
var remote = regexp.MustCompile(`://|^git@|^git::|^[a-z0-9.-]+\.[a-z]{2,}[/:].*//|[?&](ref|version)=|^(github\.com|gitlab\.com|bitbucket\.org)/`)

// absent is an entry that is no file here: kustomize fails, or fetches it.
func (r *reader) absent(l layer, entry string) {
	if remote.MatchString(entry) {
		r.lines = append(r.lines, verdict.Odd("remote", "its functions run here, too: build only what you trust", "%s: %s is fetched, and was not looked at", filepath.ToSlash(l.dir), entry))
		return
	}
	r.lines = append(r.lines, verdict.Bad("files", "entries count from the folder of the kustomization", "%s: kustomize stops, there is no %s", filepath.ToSlash(l.dir), entry))
}

// entry looks at the configs that an entry of a field holds: a file, a folder with a
// kustomization of its own, or YAML in place.
func (r *reader) entry(l layer, field, entry string) error {
	path := filepath.Join(l.dir, entry)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		if field == "resources" {
			return nil
		}
		k, err := read(path)
		if err != nil {
			return err
		}
		for _, e := range k.Resources {
			if err := r.entry(layer{kustomization: l.kustomization, dir: path, outer: l.outer, moved: l.moved}, field, e); err != nil {
				return err
			}
		}
		return nil
	case err == nil:
		b, err := os.ReadFile(path)
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

func (r *reader) configs(l layer, field, place string, text []byte) error {
	documents, err := decode(text)
	if err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	for _, d := range documents {
		c, ok := function(d, place)
		if !ok {
			continue
		}
		r.found++
		r.lines = append(r.lines, r.judge(l, field, c)...)
	}
	return nil
}

// decode parses documents of YAML.
func decode(text []byte) ([]map[string]any, error) {
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
