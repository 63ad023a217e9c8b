package fn

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// distributionGenerator is the kind of the configuration.
const distributionGenerator = "ResourceDistributionGenerator"

// GenerateDistribution returns the ResourceDistribution (apps.kruise.io/v1alpha1, as the
// older generator writes it) that config describes (docs/facts/older-plugin.md#resourcedistributiongenerator):
// literals, env files and files become the data of a ConfigMap or Secret, short lists become targets. read is called with the
// paths of config.resource.files and .envs as they are written there; it must
// resolve them below the working directory and refuse any other place. All
// faults are reported, joined, each a *tree.Error; none holds a value.
func GenerateDistribution(config *tree.Node, read func(path string) ([]byte, error)) (*tree.Node, error) {
	config = tree.Root(config)
	if !tree.IsMap(config) {
		return nil, tree.Errorf(config, "", "", "a %s must be a mapping", distributionGenerator)
	}
	var c settings
	if _, err := tree.Decode(config, &c); err != nil {
		return nil, err
	}
	if err := errors.Join(c.identity(config), c.checkTargets(config)); err != nil {
		return nil, err
	}
	resource, err := c.resource(config, read)
	if err != nil {
		return nil, err
	}
	return tree.Map(
		"apiVersion", kruise.Group+"/v1alpha1",
		"kind", kruise.KindResourceDistribution,
		"spec", tree.Map("resource", resource, "targets", c.targets(config)),
		"metadata", c.metadata(config),
	), nil
}

// metadata is that of the ResourceDistribution: options and the name, nothing
// else of the configuration's own metadata.
func (c settings) metadata(config *tree.Node) *tree.Node {
	return metadata(c.Metadata.Name, tree.Get(config, "options"))
}

// metadata takes labels and annotations from options.
func metadata(name string, options *tree.Node) *tree.Node {
	m := tree.Map()
	for _, key := range []string{"annotations", "labels"} {
		if texts := textMap(tree.Get(options, key)); texts != nil {
			tree.Set(m, key, texts)
		}
	}
	tree.Set(m, "name", tree.String(name))
	return m
}

// textMap returns n with sorted keys and every value as text, the way it was
// written; nil when there is nothing in it.
func textMap(n *tree.Node) *tree.Node {
	out := tree.Map()
	tree.Each(n, func(k, v *tree.Node) { tree.Set(out, k.Value, tree.String(tree.Str(v))) })
	if len(out.Content) == 0 {
		return nil
	}
	tree.SortKeys(out)
	return out
}

// settings is the configuration as far as it has a meaning. Values of labels
// may be any scalar; they are read from the tree.
type settings struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Resource struct {
		Kind     string   `json:"resourceKind"`
		Name     string   `json:"resourceName"`
		Literals []string `json:"literals"`
		Files    []string `json:"files"`
		Envs     []string `json:"envs"`
		Type     string   `json:"type"`
		Options  struct {
			Labels      map[string]any `json:"labels"`
			Annotations map[string]any `json:"annotations"`
			Immutable   bool           `json:"immutable"`
		} `json:"resourceOptions"`
	} `json:"resource"`
	Options struct {
		Labels      map[string]any `json:"labels"`
		Annotations map[string]any `json:"annotations"`
	} `json:"options"`
	Targets targets `json:"targets"`
}

type targets struct {
	All      bool           `json:"allNamespaces"`
	Included []string       `json:"includedNamespaces"`
	Excluded []string       `json:"excludedNamespaces"`
	Selector *labelSelector `json:"namespaceLabelSelector"`
}

type labelSelector struct {
	MatchLabels      map[string]any `json:"matchLabels"`
	MatchExpressions []requirement  `json:"matchExpressions"`
}

type requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

const (
	configMap = "ConfigMap"
	secret    = "Secret"
)

func (c settings) identity(config *tree.Node) error {
	var errs []error
	if c.Metadata.Name == "" {
		errs = append(errs, tree.Errorf(config, "metadata.name", "", "a ResourceDistribution must have a name"))
	}
	if c.Resource.Kind != configMap && c.Resource.Kind != secret {
		errs = append(errs, tree.Errorf(config, "resource.resourceKind", "", "resourceKind must be ConfigMap or Secret"))
	}
	if c.Resource.Name == "" {
		errs = append(errs, tree.Errorf(config, "resource.resourceName", "", "a ResourceDistribution must have a resource name"))
	}
	return errors.Join(errs...)
}

// IgnoredFields lists the fields of config that do nothing, as faults to warn about:
// the older generator accepts any field, so scripts may rely on that.
func IgnoredFields(config *tree.Node) []*tree.Error {
	config = tree.Root(config)
	var c settings
	unknown, err := tree.Decode(config, &c)
	if err != nil {
		return nil // Generate reports it
	}
	var out []*tree.Error
	for _, path := range unknown {
		if !strings.HasPrefix(path, "metadata.") {
			out = append(out, tree.Errorf(config, path, instead[path], "field has no effect"))
		}
	}
	slices.SortFunc(out, func(a, b *tree.Error) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// instead names the field that was probably meant.
var instead = map[string]string{
	"resource.env":                           "write resource.envs, a list",
	"resource.file":                          "write resource.files, a list",
	"resource.literal":                       "write resource.literals, a list",
	"resource.options":                       "write resource.resourceOptions",
	"options.immutable":                      "write resource.resourceOptions.immutable",
	"options.disableNameSuffixHash":          "names never get a hash here; remove it",
	"resource.disableNameSuffixHash":         "names never get a hash here; remove it",
	"resource.options.disableNameSuffixHash": "names never get a hash here; remove it",
	"disableNameSuffixHash":                  "names never get a hash here; remove it",
	"targets.namespaceSelector":              "write targets.namespaceLabelSelector",
}
