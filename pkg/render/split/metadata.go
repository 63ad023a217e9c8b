package split

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// annotationLimit is what the API server lets all annotations of an object add
// up to, in bytes.
const annotationLimit = 256 << 10

// prefixes and suffixes are how kustomize remembers which of its layers an
// object has passed; without them it does not find the names that the object
// refers to (docs/facts/kustomize.md#roles).
var layers = []string{"internal.config.kubernetes.io/prefixes", "internal.config.kubernetes.io/suffixes"}

// metadata of the workload of subset i
// (docs/kruise/distribution.md#what-a-subsets-workload-looks-like, points 1 to 3): the template's
// labels and annotations, never the UnitedDeployment's own.
func (x *expansion) metadata(i int) (*tree.Node, error) {
	subset := x.spec.Topology.Subsets[i].Name
	name := x.form.name(x.r.Name(), subset)
	if whole := x.r.Name() + "-" + subset; name != whole {
		x.report("uniteddeployment/name-shortened", "metadata.name", name+" in place of "+whole)
	}
	m := tree.Map("name", name)
	if ns := x.r.Namespace(); ns != "" {
		tree.Set(m, "namespace", tree.String(ns))
	}
	tree.Set(m, "labels", x.labels(subset))
	annotations := x.annotations(i)
	tree.Set(m, "annotations", annotations)
	size := 0
	for k, v := range tree.Strings(annotations) {
		size += len(k) + len(v)
	}
	if size > annotationLimit {
		return nil, x.r.Fault("spec", "split it into several UnitedDeployments",
			"the annotations of workload %s would have %d bytes, more than the %d that Kubernetes allows", name, size, annotationLimit)
	}
	return m, nil
}

func (x *expansion) labels(subset string) *tree.Node {
	m := copied(tree.Get(x.template, "metadata", "labels"))
	tree.Each(tree.Get(x.hub, "spec", "selector", "matchLabels"), func(k, v *tree.Node) {
		tree.Set(m, k.Value, tree.String(tree.Str(v)))
	})
	tree.Set(m, kruise.SubsetNameLabel, tree.String(subset))
	tree.Set(m, kruise.SourceLabel, tree.String(x.source))
	return m
}

func (x *expansion) annotations(i int) *tree.Node {
	m := copied(tree.Get(x.template, "metadata", "annotations"))
	for _, key := range layers {
		if v := x.r.Annotation(key); v != "" {
			tree.Set(m, key, tree.String(v))
		}
	}
	subset := tree.Items(tree.Get(x.hub, "spec", "topology", "subsets"))[i]
	tree.Set(m, kruise.SubsetPatchAnnotation, quoted(compact(tree.Get(subset, "patch"), true)))
	return m
}

// quoted returns the scalar of a JSON text, in the quotes that leave it
// readable.
func quoted(json string) *tree.Node {
	n := tree.String(json)
	if json != "" {
		n.Style = yaml.SingleQuotedStyle
	}
	return n
}

// copied clones a mapping for adding keys of any length.
func copied(n *tree.Node) *tree.Node {
	if !tree.IsMap(n) {
		return tree.Map()
	}
	c := tree.Clone(n)
	c.Style &^= yaml.FlowStyle
	return c
}
