package argocd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Source is how the manifests come about that are rendered.
type Source string

// The sources. Auto takes a chart for one where there is a Chart.yaml, a
// kustomization where there is one of its files, and else all manifests of the
// directory.
const (
	Auto      Source = "auto"
	Directory Source = "directory"
	Kustomize Source = "kustomize"
	Helm      Source = "helm"
)

// Settings are how an application is rendered: the options of a RenderConfig, and
// what only an application has.
type Settings struct {
	render.Config
	Source Source
	// Recurse looks into the folders of a directory, too.
	Recurse bool
	// HelmValues are files of values within the repository, in order.
	HelmValues []string
	// SyncWaves puts what others need into earlier waves.
	SyncWaves bool
	// AcceptAnnotations has annotations of objects accept findings, also where the option strict is
	// set. Where the Application sets strict, only the Application can set this.
	AcceptAnnotations bool
	// StrictByApplication is set where the Application, and not the repository, sets strict.
	StrictByApplication bool
}

// Settings reads the RenderConfig of the application, nil without one, and what the Application
// sets: its variables over the file, its parameters over both. All faults are reported, joined;
// those with a line are in the file. Judge checks rules about several options: the form of
// parameters is shown before all of them are known (docs/facts/argocd.md#environment).
func (e Environment) Settings(file *tree.Node) (*Settings, error) {
	s := &Settings{Source: Auto, AcceptAnnotations: true}
	root := tree.Root(file)
	if err := renderConfig(root); err != nil {
		return s, err
	}
	ours, theirs := parted(root)
	variables, parameters := e.layers()
	errs := []error{s.take(root, "spec.%s", ours)}
	if s.StrictByApplication = variables.sets("strict") || parameters.sets("strict"); s.StrictByApplication {
		s.AcceptAnnotations = false
	}
	errs = append(errs, s.take(nil, variables.Path, variables.ours), s.take(nil, parameters.Path, parameters.ours))
	known, err := e.known()
	read, faults := render.LayeredConfig(known, theirs, own, variables.ConfigLayer, parameters.ConfigLayer)
	s.Config = *read
	return s, errors.Join(append(errs, err, faults)...)
}

// renderConfig refuses any other object in place of a RenderConfig.
func renderConfig(n *tree.Node) error {
	if tree.IsNull(n) {
		return nil
	}
	const hint = "begin with apiVersion: " + render.ConfigGroup + "/" + render.ConfigVersion + " and kind: " + render.ConfigKind
	for _, f := range []struct{ field, have, want string }{
		{"kind", tree.StrAt(n, "kind"), render.ConfigKind},
		{"apiVersion", resource.GroupOf(tree.StrAt(n, "apiVersion")), render.ConfigGroup},
	} {
		if f.have != f.want {
			return tree.Errorf(n, f.field, hint, "is %q, which is no %s", tree.StrAt(n, f.field), render.ConfigKind)
		}
	}
	return nil
}

// known is what Argo CD passes about the cluster, which any option overrides.
func (e Environment) known() (render.Config, error) {
	c := render.Config{Options: render.Options{Namespace: e.Namespace, APIVersions: e.APIVersions}}
	if e.KubeVersion == "" {
		return c, nil
	}
	minor, err := stage.ParseKubernetes(e.KubeVersion)
	if err != nil {
		return c, tree.Errorf(nil, "KUBE_VERSION", "the parameter kubernetesVersion overrides it", "%v", err)
	}
	c.Kubernetes = minor
	return c, nil
}

// layer is a layer of options, those of this package apart from the engine's.
type layer struct {
	render.ConfigLayer
	ours map[string]*tree.Node
}

func newLayer(path string) layer {
	return layer{render.ConfigLayer{Path: path, Texts: map[string]string{}, Values: map[string]*tree.Node{}}, map[string]*tree.Node{}}
}

func (e Environment) layers() (variables, parameters layer) {
	variables, parameters = newLayer("option %s from the environment"), newLayer("parameter %s")
	for name, text := range e.Options {
		variables.text(name, text)
	}
	for _, p := range e.Parameters {
		parameters.add(p)
	}
	return variables, parameters
}

// sets reports whether the layer has an option of the engine.
func (l *layer) sets(name string) bool { return l.Texts[name] != "" || l.Values[name] != nil }

// add files the parameter's value.
func (l *layer) add(p Parameter) {
	values := l.Values
	if slices.Contains(own, p.Name) {
		values = l.ours
	}
	switch {
	case p.String != nil:
		l.text(p.Name, *p.String)
	case len(p.Array) > 0:
		values[p.Name] = list(p.Array)
	case len(p.Map) > 0:
		values[p.Name] = mapping(p.Map)
	}
}

// text files a value that was written as text, unless it is empty: forms send empty
// texts for what was not filled in.
func (l *layer) text(name, value string) {
	if value = strings.TrimSpace(value); value == "" {
		return
	}
	if slices.Contains(own, name) {
		l.ours[name] = fromText(name, value)
		return
	}
	l.Texts[name] = value
}

func list(texts []string) *tree.Node {
	out := tree.Seq()
	for _, t := range texts {
		if t != "" {
			out.Content = append(out.Content, tree.String(t))
		}
	}
	return out
}

func mapping(m map[string]string) *tree.Node {
	out := map[string]any{}
	for key, value := range m {
		out[key] = value
	}
	return tree.FromValue(out)
}

// given is how Argo CD names the variables of an application; prefix is what those that
// are options begin with.
const (
	given  = "ARGOCD_ENV_"
	prefix = "KRUISE_"
)

// Stray returns a line for each variable of the application, among NAME=VALUE, that has the prefix
// of an option but no option's name. The lines have no values, which may be secret.
func Stray(environ []string) []string {
	var known, lines []string
	for _, name := range names() {
		known = append(known, variable(name))
	}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		name, ours := strings.CutPrefix(name, given)
		if !ours || !strings.HasPrefix(strings.ToUpper(name), prefix) || slices.Contains(known, name) {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s is not an option: %s", name, meant(name, known)))
	}
	slices.Sort(lines)
	return lines
}

func meant(name string, known []string) string {
	if near := tree.Nearest(name, slices.Values(known)); near != "" {
		return "did you mean " + near + "?"
	}
	return "one of " + strings.Join(known, ", ")
}
