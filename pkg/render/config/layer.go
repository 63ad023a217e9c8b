package config

import (
	"errors"
	"maps"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Layer is a set of options from elsewhere than a function config: parameters of a
// deployment tool, or its environment.
type Layer struct {
	// Path is a format that makes an option's name what messages call it.
	Path string
	// Values by name of the option; Texts are written as in a ConfigMap, and come
	// first.
	Values map[string]*tree.Node
	Texts  map[string]string
}

// Layered reads a function config as Read does, over what is known without it, and
// then the layers, each over those before. What concerns several options is judged
// once, at the end. The lists with and base grow from layer to layer; any other
// option is what the last one says.
func Layered(known Config, n *tree.Node, layers ...Layer) (*Config, error) {
	c := &known
	errs := c.read(tree.Root(n))
	for _, l := range layers {
		r := reader{root: tree.Map(), path: l.Path}
		for _, name := range slices.Sorted(maps.Keys(l.Texts)) {
			r.set(c, name, fromText(name, l.Texts[name]))
		}
		for _, name := range slices.Sorted(maps.Keys(l.Values)) {
			r.set(c, name, l.Values[name])
		}
		errs = append(errs, r.errs...)
	}
	r := reader{root: tree.Root(n), path: inSpec}
	r.judge(c)
	return c, errors.Join(append(errs, r.errs...)...)
}
