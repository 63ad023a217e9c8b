package spread

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	corehelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Tolerates reports whether nothing about the node's taints keeps pods with these
// tolerations away.
func Tolerates(tolerations []corev1.Toleration, node *corev1.Node) bool {
	hard := func(t *corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }
	_, untolerated := corehelpers.FindMatchingUntoleratedTaint(klog.Logger{}, node.Spec.Taints, tolerations, hard, false)
	return !untolerated
}

// Candidate is a subset that could adopt a pod which was there before the
// WorkloadSpread, or found no room.
type Candidate struct {
	kruise.WorkloadSpreadSubset
	// Patched: the pod already is as the subset's patch would have it.
	Patched bool
	// Room: the subset takes one more pod.
	Room bool
}

// Adopt returns the subset that a bound pod without a place is counted in: of
// those whose taints and required terms fit its node, the one with the highest
// score, the first among equals; [None] when none fits.
func Adopt(subsets []Candidate, tolerations []corev1.Toleration, node *corev1.Node) int {
	best, most := None, int64(-1)
	for i, s := range subsets {
		if !Tolerates(slices.Concat(tolerations, s.Tolerations), node) || !s.takes(node) {
			continue
		}
		if score := s.score(node); score > most {
			best, most = i, score
		}
	}
	return best
}

func (s *Candidate) takes(node *corev1.Node) bool {
	if s.RequiredNodeSelector == nil {
		return true
	}
	selector := &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{*s.RequiredNodeSelector}}
	matches, err := nodeaffinity.NewLazyErrorNodeSelector(selector).Match(node)
	return err == nil && matches
}

// score weighs first what the subset prefers, then its patch, then its room
// (docs/kruise/distribution.md#workloadspread).
func (s *Candidate) score(node *corev1.Node) int64 {
	var score int64
	if terms, err := nodeaffinity.NewPreferredSchedulingTerms(s.PreferredNodeSelector); err == nil {
		score = 100 * terms.Score(node)
	}
	if s.Patched {
		score += 10
	}
	if s.Room {
		score++
	}
	return score
}
