package render

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// option is one line of the table: what a value looks like and where it goes.
// set returns a hint with its error.
type option struct {
	shape shape
	set   func(c *Config, v *tree.Node) (hint string, err error)
}

var options = map[string]option{
	"target":       choice(func(c *Config) *Target { return &c.Target }, Native, Kruise, Auto),
	"driver":       choice(func(c *Config) *stage.Driver { return &c.Driver }, stage.Native, stage.Client),
	"spreadAs":     choice(func(c *Config) *stage.SpreadAs { return &c.SpreadAs }, stage.SpreadSplit, stage.SpreadConstraints),
	"sidecarSetAs": choice(func(c *Config) *stage.SidecarSetAs { return &c.SidecarSetAs }, stage.Injection, stage.Admission),
	"expand": {list, func(c *Config, v *tree.Node) (string, error) {
		for _, kind := range tree.Items(v) {
			if !slices.ContainsFunc(Expandable, func(k string) bool { return strings.EqualFold(k, kind.Value) }) {
				return "this version expands " + strings.Join(Expandable, ", "), fmt.Errorf("cannot expand %q", kind.Value)
			}
		}
		c.Expand = texts(v)
		return "", nil
	}},
	"apiVersions": {list, func(c *Config, v *tree.Node) (string, error) {
		c.APIVersions = texts(v)
		return "", nil
	}},
	"helperImage": {text, func(c *Config, v *tree.Node) (string, error) {
		c.HelperImage = v.Value
		return "", nil
	}},
	"namespace": {text, func(c *Config, v *tree.Node) (string, error) {
		c.Namespace = v.Value
		return "", nil
	}},
	"kubernetesVersion": {text, func(c *Config, v *tree.Node) (hint string, err error) {
		c.Kubernetes, err = stage.ParseKubernetes(v.Value)
		return "", err
	}},
	"kruise": {text, func(c *Config, v *tree.Node) (hint string, err error) {
		c.Kruise, err = kruise.ParseRelease(v.Value)
		return "", err
	}},
	"templatePaths": {table, func(c *Config, v *tree.Node) (string, error) {
		const hint = "for instance batch.example.com/Runner: spec.template"
		paths := tree.Strings(v)
		for _, kind := range slices.Sorted(maps.Keys(paths)) {
			if !strings.Contains(kind, "/") {
				return hint, fmt.Errorf("%q is not a GROUP/KIND", kind)
			}
		}
		c.TemplatePaths = paths
		return "", nil
	}},
	"with":             sourcesOption(func(c *Config) *[]ConfigSource { return &c.With }),
	"base":             sourcesOption(func(c *Config) *[]ConfigSource { return &c.Base }),
	"protectAll":       flagOption(func(c *Config) *bool { return &c.ProtectAll }),
	"omitStrategy":     flagOption(func(c *Config) *bool { return &c.OmitStrategy }),
	"allowPreviewAPIs": flagOption(func(c *Config) *bool { return &c.PreviewAPIs }),
	"strict":           flagOption(func(c *Config) *bool { return &c.Strict }),
	"allowEmpty":       flagOption(func(c *Config) *bool { return &c.AllowEmpty }),
	"explain":          flagOption(func(c *Config) *bool { return &c.Explain }),
	"kruiseSchema": {flag, func(c *Config, v *tree.Node) (string, error) {
		takesPart := tree.Bool(v)
		c.KruiseSchema = &takesPart
		return "", nil
	}},
	"validate": choice(func(c *Config) *Validation { return &c.Validate }, ValidateEcho, ValidateEmpty),
}

func sourcesOption(field func(*Config) *[]ConfigSource) option {
	return option{sources, func(c *Config, v *tree.Node) (string, error) {
		for _, s := range tree.Items(v) {
			if tree.IsMap(s) {
				*field(c) = append(*field(c), ConfigSource{Object: s})
			} else {
				*field(c) = append(*field(c), ConfigSource{File: s.Value})
			}
		}
		return "", nil
	}}
}

func flagOption(field func(*Config) *bool) option {
	return option{flag, func(c *Config, v *tree.Node) (string, error) {
		*field(c) = tree.Bool(v)
		return "", nil
	}}
}

// choice is an option with a few legal texts.
func choice[T ~string](field func(*Config) *T, legal ...T) option {
	return option{text, func(c *Config, v *tree.Node) (string, error) {
		if !slices.Contains(legal, T(v.Value)) {
			words := make([]string, len(legal))
			for i, l := range legal {
				words[i] = string(l)
			}
			return "one of: " + strings.Join(words, ", "), fmt.Errorf("unknown value %q", v.Value)
		}
		*field(c) = T(v.Value)
		return "", nil
	}}
}

func texts(v *tree.Node) []string {
	var out []string
	for _, n := range tree.Items(v) {
		out = append(out, n.Value)
	}
	return out
}

// OptionNames returns the names of all options, sorted.
func OptionNames() []string { return slices.Sorted(maps.Keys(options)) }

// nearest is a hint for a name that is not an option.
func nearest(name string, others []string) string {
	known := slices.Sorted(slices.Values(append(OptionNames(), others...)))
	for _, k := range known {
		if same(k, name) {
			return "did you mean " + k + "?"
		}
	}
	return "one of: " + strings.Join(known, ", ")
}

// same compares names as people mix them up: template-paths, Template_Path.
func same(a, b string) bool {
	plain := strings.NewReplacer("-", "", "_", "")
	a, b = strings.ToLower(plain.Replace(a)), strings.ToLower(plain.Replace(b))
	return strings.TrimSuffix(a, "s") == strings.TrimSuffix(b, "s")
}

var errNoReader = errors.New("no files can be read here")

// shape is what the value of an option looks like.
type shape string

// The shapes, as messages call them.
const (
	text    shape = "text"
	flag    shape = "true or false"
	list    shape = "a list of texts"
	table   shape = "a mapping of texts"
	sources shape = "a list of objects and of file names"
)

func (s shape) fits(v *tree.Node) bool {
	switch s {
	case text:
		return isText(v)
	case flag:
		return tree.IsBool(v)
	case list:
		return all(v, isText)
	case table:
		fits := tree.IsMap(v)
		tree.Each(v, func(_, value *tree.Node) { fits = fits && isText(value) })
		return fits
	default:
		return all(v, func(n *tree.Node) bool { return tree.IsMap(n) || isText(n) })
	}
}

func isText(n *tree.Node) bool { return tree.IsString(n) && n.Value != "" }

func all(v *tree.Node, f func(*tree.Node) bool) bool {
	for _, n := range tree.Items(v) {
		if !f(n) {
			return false
		}
	}
	return tree.IsSeq(v)
}

// fromText reads the value of the named option as a ConfigMap or an annotation
// holds it: lists are separated by commas or white space, a mapping is a list of
// KEY=VALUE. What cannot be read stays text, which then does not fit.
func fromText(name, s string) *tree.Node {
	s = strings.TrimSpace(s)
	switch options[name].shape {
	case flag:
		if s == "true" || s == "false" {
			return tree.Boolean(s == "true")
		}
	case list, sources:
		out := tree.Seq()
		for _, word := range words(s) {
			out.Content = append(out.Content, tree.String(word))
		}
		return out
	case table:
		return pairs(s)
	}
	return tree.String(s)
}

func pairs(s string) *tree.Node {
	out := tree.Map()
	for _, word := range words(s) {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return tree.String(s)
		}
		tree.Set(out, key, tree.String(value))
	}
	return out
}

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' || r == '\r' })
}
