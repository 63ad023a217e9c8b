package trap

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/doctor/verdict"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// annotations are those that declare a function, the newest first.
var annotations = []string{"config.kubernetes.io/function", "config.k8s.io/function"}

// config is the config of a function.
type config struct {
	object unstructured.Unstructured
	place  string
	// text is the declaration.
	text string
}

// program is what a declaration runs. kustomize decodes it strictly, so we do.
type program struct {
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

func function(object map[string]any, place string) (config, bool) {
	c := config{object: unstructured.Unstructured{Object: object}, place: place}
	for _, a := range annotations {
		if text := c.object.GetAnnotations()[a]; text != "" {
			c.text = text
			return c, true
		}
	}
	return c, false
}

func (c config) String() string {
	return fmt.Sprintf("%s: %s %s", filepath.ToSlash(c.place), c.object.GetKind(), c.object.GetName())
}

// judge are all traps that a config is in.
func (r *reader) judge(l layer, field string, c config) []verdict.Line {
	if field == "resources" {
		return []verdict.Line{verdict.Odd("function", "list it under transformers: or generators:", "%s is an object like any other under resources: no function runs", c)}
	}
	var p program
	if err := yaml.UnmarshalStrict([]byte(c.text), &p); err != nil {
		return []verdict.Line{verdict.Bad("function", "its declaration may hold exec: {path, args, envs} or container: {…}", "%s: %v", c, err)}
	}
	out := r.flagged(p, c)
	if p.Exec != nil && p.Container == nil {
		out = append(out, r.exec(l, p, c)...)
	}
	out = append(out, validation(field, c)...)
	return append(out, distribution(l, field, c)...)
}

// flagged is what the flags of `kustomize build` do to a function.
func (r *reader) flagged(p program, c config) []verdict.Line {
	switch exec := p.Exec != nil && p.Container == nil; {
	case !r.flags.AlphaPlugins:
		return []verdict.Line{verdict.Bad("flags", "kustomize build --enable-alpha-plugins --enable-exec; kubectl kustomize and apply -k cannot", "%s: kustomize stops, external plugins are disabled", c)}
	case exec && !r.flags.Exec:
		return []verdict.Line{verdict.Bad("flags", "add --enable-exec", "%s: kustomize leaves the function out and says nothing", c)}
	}
	return nil
}

// exec is whether the program can be found, and by which kustomize.
func (r *reader) exec(l layer, p program, c config) []verdict.Line {
	var out []verdict.Line
	if strings.ContainsRune(p.Exec.Path, '/') {
		// kustomize resolves it from the kustomization that lists the config.
		path := p.Exec.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(l.dir, path)
		}
		if info, err := os.Stat(path); err != nil || info.Mode()&0o111 == 0 {
			out = append(out, verdict.Bad("exec", "the path counts from the kustomization that lists the config", "%s: %s is not a program", c, path))
		}
	} else if _, err := r.look(p.Exec.Path); err != nil {
		out = append(out, verdict.Bad("exec", "put it on the PATH of the build", "%s: there is no %s", c, p.Exec.Path))
	}
	if len(p.Exec.Args)+len(p.Exec.Envs) > 0 {
		out = append(out, verdict.Odd("exec", "path: kubectl-kruise alone works everywhere", "%s: kustomize before 5.7 fails on args and envs", c))
	}
	return out
}

// validation is where a function that reports alone may stand.
func validation(field string, c config) []verdict.Line {
	mode, _, _ := unstructured.NestedString(c.object.Object, "spec", "validate")
	if mode == "" {
		mode, _, _ = unstructured.NestedString(c.object.Object, "data", "validate")
	}
	switch {
	case mode == "empty" && field != "validators":
		return []verdict.Line{verdict.Bad("validate", "list it under validators:", "%s returns nothing, and under %s: that deletes every object", c, field)}
	case mode != "empty" && field == "validators":
		return []verdict.Line{verdict.Bad("validate", "set validate: empty, which is right under validators: alone", "%s: kustomize fails every validator that returns what it got", c)}
	}
	return nil
}

// distribution is where copies for several namespaces may be made.
func distribution(l layer, field string, c config) []verdict.Line {
	if gvk := c.object.GroupVersionKind(); gvk.Group != kruise.Group || gvk.Kind != kruise.KindResourceDistribution {
		return nil
	}
	const hint = "list it under transformers: of the outermost kustomization"
	switch {
	case l.moved || field == "generators" && l.Namespace != "":
		return []verdict.Line{verdict.Bad("namespaces", hint, "%s: a namespace: that comes later moves all copies into one, and kustomize fails", c)}
	case field == "generators":
		return []verdict.Line{verdict.Odd("namespaces", hint, "%s: a generator gets no objects, so it does not know which Namespaces there are", c)}
	}
	return nil
}
