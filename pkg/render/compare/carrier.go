package compare

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// carrier is a workload with the labels of its pods.
type carrier struct {
	r         *resource.Resource
	id        resource.ID
	namespace string
	labels    labels.Set
	// pods is how many it asks for, -1 where it does not say.
	pods int
	// template is the pod template itself.
	template *tree.Node
}

// gather finds the pod templates of a side and of what exists beside it. What the
// side holds takes the place of what exists under the same name.
func (s *side) gather(context []*resource.Resource) []carrier {
	var out []carrier
	for _, list := range [][]*resource.Resource{s.list, context} {
		for _, r := range list {
			if len(list) > 0 && s.byID[s.facts.IDOf(r)] != nil && s.byID[s.facts.IDOf(r)] != r {
				continue
			}
			found, _ := s.stage.Templates(r)
			for _, t := range found {
				out = append(out, carrier{
					r: r, id: s.facts.IDOf(r), namespace: s.facts.NamespaceOf(r), pods: wanted(r), template: t.Node,
					labels: tree.Strings(tree.Get(t.Node, "metadata", "labels")),
				})
			}
		}
	}
	return out
}

func wanted(r *resource.Resource) int {
	if n, ok := tree.Int(tree.Get(r.Node(), "spec", "replicas")); ok {
		return int(n)
	}
	if r.Is("", "Pod") {
		return 1
	}
	return -1
}

// selected are the carriers in a namespace whose pods a selector finds.
func (s *side) selected(namespace string, selector labels.Selector) []carrier {
	var out []carrier
	for _, place := range s.labelled.Candidates(selector) {
		if c := s.carriers[place]; c.namespace == namespace && selector.Matches(c.labels) {
			out = append(out, c)
		}
	}
	return out
}

// selectorAt reads a label selector of an object; ok is false without one, and for
// one that cannot be read.
func selectorAt(r *resource.Resource, path ...string) (labels.Selector, bool) {
	n := tree.Get(r.Node(), path...)
	if !tree.IsMap(n) {
		return nil, false
	}
	var s metav1.LabelSelector
	if _, err := tree.Decode(n, &s); err != nil {
		return nil, false
	}
	out, err := metav1.LabelSelectorAsSelector(&s)
	return out, err == nil
}

// total is the sum of the pods of carriers, -1 when one of them does not say.
func total(list []carrier) int {
	sum := 0
	for _, c := range list {
		if c.pods < 0 {
			return -1
		}
		sum += c.pods
	}
	return sum
}
