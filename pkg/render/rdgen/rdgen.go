// Package rdgen makes a ResourceDistribution from the configuration of the
// older ResourceDistributionGenerator (docs/facts/older-plugin.md#resourcedistributiongenerator):
// literals, env files and files become the data of a ConfigMap or Secret, short lists become
// targets. It is a pure function; files come through a reader that the caller hands in and that
// decides what may be read.
package rdgen

import (
	"errors"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Kind is the kind of the configuration.
const Kind = "ResourceDistributionGenerator"

// Generate returns the ResourceDistribution (apps.kruise.io/v1alpha1, as the
// older generator writes it) that config describes. read is called with the
// paths of config.resource.files and .envs as they are written there; it must
// resolve them below the working directory and refuse any other place. All
// faults are reported, joined, each a *tree.Error; none holds a value.
func Generate(config *tree.Node, read func(path string) ([]byte, error)) (*tree.Node, error) {
	config = tree.Root(config)
	if !tree.IsMap(config) {
		return nil, tree.Errorf(config, "", "", "a %s must be a mapping", Kind)
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
