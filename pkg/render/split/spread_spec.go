package split

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// pieceSpec is the target's spec for one piece.
func (s *spreading) pieceSpec(p piece, template *tree.Node) *tree.Node {
	spec := tree.Clone(tree.Get(s.whole, "spec"))
	tree.Set(spec, "template", template)
	pods := tree.Int64(int64(p.pods))
	if s.form.job {
		s.jobSpec(spec, p)
		return spec
	}
	first(spec, "replicas", pods)
	selector := tree.Ensure(spec, "selector")
	tree.SetAt(selector, tree.String(p.title), "matchLabels", kruise.SpreadSubsetLabel)
	tree.DeleteAt(spec, "scaleStrategy", "podsToDelete") // they are the target's pods
	if s.form.ordinals {
		s.ordinals(spec, p)
	}
	s.partition(spec, p)
	return spec
}

// jobSpec lets the API server choose the selector, unless the user does.
func (s *spreading) jobSpec(spec *tree.Node, p piece) {
	first(spec, "parallelism", tree.Int64(int64(p.pods)))
	if tree.Get(spec, "completions") != nil {
		tree.Set(spec, "completions", tree.Int64(p.completions))
	}
	if !tree.Bool(tree.Get(spec, "manualSelector")) {
		tree.Delete(spec, "selector")
		return
	}
	tree.SetAt(spec, tree.String(p.title), "selector", "matchLabels", kruise.SpreadSubsetLabel)
}

// ordinals has the piece begin where its share of the target's ordinals does. An
// Advanced StatefulSet reserves the ordinals before: its own start needs a feature
// gate.
func (s *spreading) ordinals(spec *tree.Node, p piece) {
	if s.target.Group() != kruise.Group || s.start() > 0 {
		if p.first > 0 || s.start() > 0 {
			tree.SetAt(spec, tree.Int64(int64(p.first)), "ordinals", "start")
		}
		return
	}
	if p.first == 0 {
		return
	}
	list := tree.EnsureSeq(spec, "reserveOrdinals")
	earlier := tree.Int64(0)
	if p.first > 1 {
		earlier = tree.String(fmt.Sprintf("0-%d", p.first-1))
	}
	list.Content = append([]*tree.Node{earlier}, list.Content...)
}

// partition keeps as many pods old as the target would: those that come first, by
// ordinal or by subset. A percentage stays one of each piece.
func (s *spreading) partition(spec *tree.Node, p piece) {
	at := tree.Get(spec, "updateStrategy", "rollingUpdate")
	kept, ok := tree.Int(tree.Get(at, "partition"))
	if !ok {
		return
	}
	own := min(max(kept-int64(p.before), 0), int64(p.pods))
	tree.Set(at, "partition", tree.Int64(own))
}
