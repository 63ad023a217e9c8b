package references

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// splitVPA recommends for each piece on its own.
func splitVPA(f *follower, l link) (pieces, bool) {
	objects, ok := f.perPiece(l, l.became)
	return pieces{objects, "references/per-piece", "one VerticalPodAutoscaler for each"}, ok
}

// splitBudget lets a PodUnavailableBudget guard the pods of all pieces through
// the selector that its target had: the budget stays one for all of them.
func splitBudget(f *follower, l link) (pieces, bool) {
	target := f.c.Facts.Find(l.old)
	if target == nil || !tree.IsMap(tree.Get(target.Node(), "spec", "selector")) {
		return pieces{}, false
	}
	selector := tree.Clone(tree.Get(target.Node(), "spec", "selector"))
	tree.Replace(tree.Get(l.r.Edit(), "spec"), "targetRef", "selector", selector)
	return pieces{[]*resource.Resource{l.r}, "references/selector", "the budget takes their pods by selector"}, true
}
