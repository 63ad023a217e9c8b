package fanout

import (
	"slices"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// render makes the copies. They share everything but the level of metadata:
// it must not be edited below.
func (d *distribution) render() []*resource.Resource {
	metadata := d.metadata()
	at := slices.IndexFunc(metadata.Content, func(n *tree.Node) bool { return n.Value == "namespace" }) + 1
	out := make([]*resource.Resource, len(d.namespaces))
	for i, ns := range d.namespaces {
		own := tree.Shallow(metadata)
		own.Content[at] = tree.String(ns)
		root := tree.Shallow(d.body)
		root.Style &^= yaml.FlowStyle
		tree.Set(root, "metadata", own)
		out[i] = resource.Derived(root, d.r)
	}
	return out
}

// kept are the fields of the template's metadata that a copy has: those of the
// API server's own keeping make no sense in another namespace.
var kept = []string{"labels", "annotations", "finalizers", "ownerReferences"}

// metadata is that of a copy, with an empty namespace.
func (d *distribution) metadata() *tree.Node {
	template := tree.Get(d.body, "metadata")
	out := tree.Map("name", d.name, "namespace", "")
	for _, key := range kept {
		if v := tree.Get(template, key); v != nil {
			tree.Set(out, key, v)
		}
	}
	d.extend(out, "labels", kruise.SourceLabel, kruise.SourceValue(kind, d.r.Name()))
	d.extend(out, "annotations", kruise.ResourceDistributedByAnnotation, d.r.Name())
	d.extend(out, "annotations", kruise.ResourceHashCodeAnnotation, d.hash)
	return out
}

// extend sets one text in the mapping field of metadata, on a copy of that.
func (d *distribution) extend(metadata *tree.Node, field, key, value string) {
	texts := tree.Map()
	if old := tree.Get(metadata, field); tree.IsMap(old) {
		texts = tree.Shallow(old)
		texts.Style &^= yaml.FlowStyle
	}
	tree.Set(texts, key, tree.String(value))
	tree.Set(metadata, field, texts)
}
