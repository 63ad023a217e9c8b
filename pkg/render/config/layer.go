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
// then the layers, each over those before. others are names of options that the caller
// has taken out. The lists with and base grow from layer to layer; any other option is
// what the last one says. What concerns several options is for Judge, at the end.
func Layered(known Config, n *tree.Node, others []string, layers ...Layer) (*Config, error) {
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
