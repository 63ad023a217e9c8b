package render

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// The identity of a RenderConfig, and the prefix of annotations on a Kruise
// object that are options.
const (
	ConfigGroup      = "kubectl-kruise.dev"
	ConfigVersion    = "v1alpha1"
	ConfigKind       = "RenderConfig"
	ConfigAnnotation = ConfigGroup + "/"
)

// Validation makes a function a validator, whose only result are findings.
type Validation string

// The forms of output that orchestrators want of a validator.
const (
	// ValidateOff: the output is what was rendered.
	ValidateOff Validation = ""
	// ValidateEcho returns the input, as kpt wants it.
	ValidateEcho Validation = "echo"
	// ValidateEmpty returns no items. Only for kustomize's validators field, which
	// refuses an echo (docs/facts/kustomize.md#what-kustomize-makes-of-a-functions-output);
	// anywhere else it deletes everything.
	ValidateEmpty Validation = "empty"
)

// Config is the content of a function config: of the RenderConfig API
// (kubectl-kruise.dev/v1alpha1), of the same options as texts in a ConfigMap, or as annotations on
// a Kruise object. One table of options serves all three, and unknown options are refused. No file
// is opened here: what a config names is read by a function that the caller hands in. The zero value
// renders everything to native objects.
type Config struct {
	// Options are those for the engine. What it reads of other objects is not in them yet, see
	// [Config.Read].
	Options

	// With are objects that exist in the cluster: used, never emitted.
	With []ConfigSource
	// Base is the state before, see render.Options.
	Base []ConfigSource
	// Strict makes a loss an error.
	Strict bool
	// KruiseSchema says whether Kruise's schema takes part in the build of a kustomization, by who
	// builds it; nil leaves that to the kustomization.
	KruiseSchema *bool
	// AllowEmpty permits a result without items where the input had some.
	AllowEmpty bool
	// Validate discards the output.
	Validate Validation
}

// ReadConfig returns the options in a function config: a RenderConfig, a ConfigMap,
// or any other object with options as annotations; nil is the default. It
// reports all faults, joined, each a *tree.Error.
func ReadConfig(n *tree.Node) (*Config, error) {
	n = tree.Root(n)
	c := &Config{}
	r := newReader(n)
	r.read(c)
	r.judge(c)
	return c, errors.Join(r.errs...)
}

// read does not judge what concerns several options: there may be more to come.
func (r *reader) read(c *Config) {
	switch r.path {
	case "":
	case inSpec:
		r.renderConfig(c)
	case inData:
		r.texts(c, tree.Get(r.root, "data"), "")
	default:
		r.texts(c, tree.Get(r.root, "metadata", "annotations"), ConfigAnnotation)
	}
}

// Where the options of a function config are: formats that turn a name into a field path.
const (
	inSpec        = "spec.%s"
	inData        = "data.%s"
	inAnnotations = "metadata.annotations[" + ConfigAnnotation + "%s]"
)

// FieldOf is the path of an option in a function config.
func FieldOf(n *tree.Node, option string) string { return fmt.Sprintf(pathOf(tree.Root(n)), option) }

func pathOf(n *tree.Node) string {
	switch group := resource.GroupOf(tree.StrAt(n, "apiVersion")); {
	case tree.IsNull(n):
		return ""
	case group == ConfigGroup && tree.StrAt(n, "kind") == ConfigKind:
		return inSpec
	case tree.StrAt(n, "kind") == "ConfigMap" && tree.StrAt(n, "apiVersion") == "v1":
		return inData
	default:
		return inAnnotations
	}
}

func (r *reader) renderConfig(c *Config) {
	if v := tree.StrAt(r.root, "apiVersion"); v != ConfigGroup+"/"+ConfigVersion {
		r.errs = append(r.errs, tree.Errorf(r.root, "apiVersion", "this version reads "+ConfigGroup+"/"+ConfigVersion, "unknown version %q of %s", v, ConfigKind))
		return
	}
	tree.Each(r.root, func(k, _ *tree.Node) {
		switch k.Value {
		case "apiVersion", "kind", "metadata", "spec":
		default:
			r.errs = append(r.errs, tree.Errorf(r.root, k.Value, "options belong under spec", "unknown field %q", k.Value))
		}
	})
	spec := tree.Get(r.root, "spec")
	if spec != nil && !tree.IsMap(spec) {
		r.errs = append(r.errs, tree.Errorf(r.root, "spec", "", "is not a mapping"))
	}
	tree.Each(spec, func(k, v *tree.Node) { r.set(c, k.Value, v) })
}

// texts reads options whose values are texts; keys without the prefix belong
// to another program.
func (r *reader) texts(c *Config, values *tree.Node, prefix string) {
	tree.Each(values, func(k, v *tree.Node) {
		name, ours := strings.CutPrefix(k.Value, prefix)
		if !ours || prefix != "" && engines[name] {
			return
		}
		if !tree.IsScalar(v) {
			r.fail(name, "put the value in quotes", "is not text")
			return
		}
		r.set(c, name, fromText(name, tree.Str(v)))
	})
}

// engines are annotations with our prefix that the engine itself writes.
var engines = map[string]bool{"nodes": true, "rollout": true, "strategy": true, "source": true}

// reader applies options to a Config and gathers faults.
type reader struct {
	root *tree.Node
	// path is a format that makes an option's name a field path.
	path string
	// others are options that another program reads, to name them in hints, too.
	others []string
	errs   []error
}

func newReader(n *tree.Node) reader { return reader{root: n, path: pathOf(n)} }

func (r *reader) fail(name, hint, format string, args ...any) {
	r.errs = append(r.errs, tree.Errorf(r.root, fmt.Sprintf(r.path, name), hint, format, args...))
}

func (r *reader) set(c *Config, name string, v *tree.Node) {
	o, ok := options[name]
	switch {
	case !ok:
		r.fail(name, nearest(name, r.others), "unknown option %q", name)
	case tree.IsNull(v):
	case !o.shape.fits(v):
		r.fail(name, "", "must be %s", o.shape)
	default:
		if hint, err := o.set(c, v); err != nil {
			r.fail(name, hint, "%v", err)
		}
	}
}

// judge checks what concerns several options.
func (r *reader) judge(c *Config) {
	if kind, value := c.UnusedOption(); kind != "" && r.path != inAnnotations { // a Kruise object with options is expanded itself
		option := map[string]string{kruise.KindSidecarSet: "sidecarSetAs", kruise.KindWorkloadSpread: "spreadAs"}[kind]
		r.fail(option, "name "+kind+" in expand, too", "%s changes nothing: target kruise keeps every %s", value, kind)
	}
	if c.OmitStrategy && c.Driver == stage.Client {
		r.fail("omitStrategy", "leave it out, or render for driver native", "driver client reads the annotation")
	}
	if c.Target == Auto && len(c.APIVersions) == 0 && len(c.With) == 0 {
		r.fail("target", "list what the cluster serves in apiVersions, such as apps.kruise.io/v1beta1; for argocd, in $KUBE_API_VERSIONS", "auto needs apiVersions or with: no cluster is contacted")
	}
}

// ConfigLayer is a set of options from elsewhere than a function config: parameters of a
// deployment tool, or its environment.
type ConfigLayer struct {
	// Path is a format that makes an option's name what messages call it.
	Path string
	// Values by name of the option; Texts are written as in a ConfigMap, and come
	// first.
	Values map[string]*tree.Node
	Texts  map[string]string
}

// LayeredConfig reads a function config as ReadConfig does, over what is known without it, and then the
// layers, each over those before. others are names of options that the caller has taken out. The
// lists with and base grow from layer to layer; any other option has the value of the last layer.
// Judge checks rules about several options, at the end.
func LayeredConfig(known Config, n *tree.Node, others []string, layers ...ConfigLayer) (*Config, error) {
	c := &known
	r := newReader(tree.Root(n))
	r.others = others
	r.read(c)
	errs := r.errs
	for _, l := range layers {
		r := reader{root: tree.Map(), path: l.Path, others: others}
		for _, name := range slices.Sorted(maps.Keys(l.Texts)) {
			r.set(c, name, fromText(name, l.Texts[name]))
		}
		for _, name := range slices.Sorted(maps.Keys(l.Values)) {
			r.set(c, name, l.Values[name])
		}
		errs = append(errs, r.errs...)
	}
	return c, errors.Join(errs...)
}

// Judge checks what concerns several options of a config that was read from n, and more.
func (c *Config) Judge(n *tree.Node) error {
	r := reader{root: tree.Root(n), path: inSpec}
	r.judge(c)
	return errors.Join(r.errs...)
}
