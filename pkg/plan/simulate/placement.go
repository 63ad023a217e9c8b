package simulate

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// placement is where the pods of one template can be, and would like to be.
type placement struct {
	required    nodeaffinity.RequiredNodeAffinity
	preferred   *nodeaffinity.PreferredSchedulingTerms
	tolerations []corev1.Toleration
}

func placementOf(template map[string]any) (*placement, error) {
	var pod corev1.PodTemplateSpec
	if _, err := tree.Decode(tree.FromValue(template), &pod); err != nil {
		return nil, err
	}
	p := &placement{required: nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: pod.Spec}), tolerations: pod.Spec.Tolerations}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		terms, err := nodeaffinity.NewPreferredSchedulingTerms(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		if err != nil {
			return nil, err
		}
		p.preferred = terms
	}
	return p, nil
}

// fits reports whether a node may have the pods, and how much they would like to
// be there.
func (p *placement) fits(n *cluster.Node) (score int64, ok bool) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}, Spec: corev1.NodeSpec{Taints: n.Taints}}
	if matches, err := p.required.Match(node); err != nil || !matches || !spread.Tolerates(p.tolerations, node) {
		return 0, false
	}
	if p.preferred != nil {
		score = p.preferred.Score(node)
	}
	return score, true
}

// nodeFor is the node that the scheduler finds for a pod: of those that fit, the
// one that it prefers most, and of these the emptiest. A pod that was there
// before goes anywhere.
func (w *World) nodeFor(e *pod) *node {
	if !w.opt.Affinity || e.made == nil {
		return w.emptiest()
	}
	if e.made.placement == nil {
		p, err := placementOf(e.made.template)
		if err != nil {
			w.errs = append(w.errs, err)
			return nil
		}
		e.made.placement = p
	}
	var best *node
	most := int64(0)
	for _, name := range w.nodeNames {
		n := w.nodes[name]
		score, ok := e.made.placement.fits(n.Node)
		if ok && !w.full(n) && (best == nil || score > most || score == most && n.pods < best.pods) {
			best, most = n, score
		}
	}
	return best
}

// taint sets the taints of a node.
func (w *World) taint(name string, taints []corev1.Taint) {
	n := w.nodes[name]
	next := *n.Node
	next.Taints = taints
	n.Node = &next
	w.see(n)
	w.nodesChanged()
}
