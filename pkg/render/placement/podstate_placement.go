package placement

import (
	"maps"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Placement is what a pod gets to come back to where it was.
type Placement struct {
	// Selector is put into the node selector, over what the pod has there.
	Selector map[string]string
	// Preferred are appended to the preferred node affinity.
	Preferred []Preference
}

// Preference is one preferred term: each label of Labels, in this order, with its
// one value. Kruise keeps a term that no recorded key is left of
// (docs/kruise/distribution.md#observed-on-a-cluster).
type Preference struct {
	Weight int32
	Labels []Label
}

// Label is a node label.
type Label struct{ Key, Value string }

// Placed returns what a pod gets of which this state was recorded; ok is false
// where nothing is put in.
func Placed(spec *kruise.PersistentPodStateSpec, state kruise.PodState) (p Placement, ok bool) {
	if len(state.NodeTopologyLabels) == 0 {
		return Placement{}, false
	}
	if spec.RequiredPersistentTopology != nil {
		p.Selector = present(state.NodeTopologyLabels, spec.RequiredPersistentTopology.Keys)
	}
	for _, t := range spec.PreferredPersistentTopology {
		term := Preference{Weight: t.Weight}
		for _, key := range t.Preference.Keys {
			if v, recorded := state.NodeTopologyLabels[key]; recorded {
				term.Labels = append(term.Labels, Label{key, v})
			}
		}
		p.Preferred = append(p.Preferred, term)
	}
	return p, true
}

// Equal reports whether two placements put the same into a pod.
func (p Placement) Equal(q Placement) bool {
	return maps.Equal(p.Selector, q.Selector) && slices.EqualFunc(p.Preferred, q.Preferred, func(a, b Preference) bool {
		return a.Weight == b.Weight && slices.Equal(a.Labels, b.Labels)
	})
}

// Put returns a pod or a pod template with the placement in it, marked with the
// name of the PersistentPodState. What it does not touch is shared with pod,
// which stays as it is.
func (p Placement) Put(pod *tree.Node, name string) *tree.Node {
	out := block(pod)
	annotations := below(below(out, "metadata"), "annotations")
	tree.Set(annotations, kruise.InjectedPersistentPodStateAnnotation, tree.String(name))
	spec := below(out, "spec")
	if len(p.Selector) > 0 {
		selector := below(spec, "nodeSelector")
		for _, key := range slices.Sorted(maps.Keys(p.Selector)) {
			tree.Set(selector, key, tree.String(p.Selector[key]))
		}
	}
	if len(p.Preferred) > 0 {
		affinity := below(below(spec, "affinity"), "nodeAffinity")
		const field = "preferredDuringSchedulingIgnoredDuringExecution"
		terms := tree.Seq(slices.Clone(tree.Items(tree.Get(affinity, field)))...)
		for _, t := range p.Preferred {
			// The preference as Kubernetes writes it.
			preference := tree.Map()
			if len(t.Labels) > 0 {
				expressions := tree.Seq()
				for _, l := range t.Labels {
					expressions.Content = append(expressions.Content,
						tree.Map("key", l.Key, "operator", "In", "values", tree.Seq(tree.String(l.Value))))
				}
				preference = tree.Map("matchExpressions", expressions)
			}
			terms.Content = append(terms.Content, tree.Map("weight", tree.Int64(int64(t.Weight)), "preference", preference))
		}
		tree.Set(affinity, field, terms)
	}
	return out
}

// below sets key of a mapping to a copy of its value, made when missing, and
// returns the copy.
func below(n *tree.Node, key string) *tree.Node {
	v := tree.Get(n, key)
	if !tree.IsMap(v) {
		v = tree.Map()
	}
	v = block(v)
	tree.Set(n, key, v)
	return v
}

// block returns a copy of one level, written key by key: what is added is long.
func block(n *tree.Node) *tree.Node {
	c := tree.Shallow(n)
	c.Style &^= yaml.FlowStyle
	return c
}
