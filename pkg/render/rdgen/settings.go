package rdgen

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

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

// Ignored lists the fields of config that do nothing, as faults to warn about:
// the older generator accepts any field, so scripts may rely on that.
func Ignored(config *tree.Node) []*tree.Error {
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
