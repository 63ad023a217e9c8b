package lower

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// pulls reports whether Kruise has images pulled on the node: it keeps no NodeImage
// for a virtual one (docs/kruise/jobs.md#image-pulls).
func pulls(node *corev1.Node) bool {
	return node.Labels[kruise.NodeTypeLabel] != kruise.VirtualNodeType
}

// nodes returns the names of the nodes that the job selects; found is false
// where nothing is known of them. Unknown names are left out, as Kruise does,
// unless no node is known at all.
func (p *imagePull) nodes(known *around) (names []string, found bool, err error) {
	if s := p.spec.PodSelector; s != nil {
		names, found, err = p.nodesOfPods(s)
		names = slices.DeleteFunc(names, known.without)
		// Where the nodes are known, that there is no pod is known as well.
		return names, found || len(known.nodes) > 0, err
	}
	match, wanted := labels.Everything(), []string(nil)
	if s := p.spec.Selector; s != nil {
		wanted = s.Names
		if match, err = metav1.LabelSelectorAsSelector(&s.LabelSelector); err != nil {
			return nil, false, p.r.Fault("spec.selector", "", "%v", err)
		}
	}
	if len(known.nodes) == 0 {
		return slices.Sorted(slices.Values(wanted)), len(wanted) > 0, nil
	}
	places := known.placesOf(wanted)
	if len(wanted) == 0 {
		places = known.nodeLabels.Candidates(match)
	}
	for _, place := range places {
		if n := known.nodes[place]; pulls(n) && (len(wanted) > 0 || match.Matches(labels.Set(n.Labels))) {
			names = append(names, n.Name)
		}
	}
	return names, true, nil
}

// placesOf are the places of the nodes of these names, in their order.
func (a *around) placesOf(names []string) []int {
	var out []int
	for _, name := range names {
		out = append(out, a.nodePlaces[name]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// without reports whether nothing is pulled on the node of that name.
func (a *around) without(node string) bool {
	return slices.ContainsFunc(a.nodePlaces[node], func(place int) bool { return !pulls(a.nodes[place]) })
}

// nodesOfPods returns the nodes of the pods that a selector finds in the job's
// namespace.
func (p *imagePull) nodesOfPods(s *metav1.LabelSelector) (names []string, found bool, err error) {
	match, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return nil, false, p.r.Fault("spec.podSelector", "", "%v", err)
	}
	for _, pod := range p.c.Facts.All("", "Pod") {
		node := tree.StrAt(pod.Node(), "spec", "nodeName")
		if node == "" || !kruise.ActivePod(pod.Node()) || p.c.Facts.NamespaceOf(pod) != p.c.Facts.NamespaceOf(p.r) {
			continue
		}
		found = true
		if match.Matches(labels.Set(pod.Labels())) && !slices.Contains(names, node) {
			names = append(names, node)
		}
	}
	slices.Sort(names)
	return names, found, nil
}
