package split

import (
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// constrain leaves the target one workload. Its pods may go wherever some subset
// is, prefer the subsets in their order, and keep about the distance from one
// another that the limits would give them.
func (s *spreading) constrain() ([]*resource.Resource, error) {
	template := tree.Clone(s.template)
	open := s.open()
	s.requireAny(template, open)
	s.prefer(template, open)
	s.tolerateAll(template, open)
	s.distance(template, open)
	template, err := s.patchAll(template, open)
	if err != nil {
		return nil, err
	}
	if err := s.selected(template, tree.Get(s.whole, "spec", "selector"), spread.None); err != nil {
		return nil, err
	}
	s.reportConstraints()
	return []*resource.Resource{resource.Derived(s.withTemplate(template), s.target)}, nil
}

// open are the subsets that take pods at all.
func (s *spreading) open() (list []int) {
	for i, limit := range s.limits {
		if limit != 0 {
			list = append(list, i)
		}
	}
	return list
}

func (s *spreading) required(i int) *tree.Node {
	if n := tree.Get(s.subsets[i], "requiredNodeSelector"); tree.IsMap(n) {
		return n
	}
	return nil
}

// requireAny narrows each alternative of the template to each subset in turn. A
// subset without a term is everywhere, so nothing is required then.
func (s *spreading) requireAny(template *tree.Node, open []int) {
	if len(open) == 0 || slices.ContainsFunc(open, func(i int) bool { return s.required(i) == nil }) {
		return
	}
	list := tree.EnsureSeq(template, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	have := list.Content
	if len(have) == 0 {
		have = []*tree.Node{nil}
	}
	list.Content = nil
	for _, term := range have {
		for _, i := range open {
			tree.Append(list, []*tree.Node{spread.Narrow(term, s.required(i))})
		}
	}
}

// prefer writes the order of the subsets as weights, and appends what they prefer
// themselves.
func (s *spreading) prefer(template *tree.Node, open []int) {
	var terms []*tree.Node
	for place, i := range open {
		if term := s.required(i); term != nil && len(open) > 1 {
			weight := max(100-place*100/len(open), 1)
			terms = append(terms, tree.Map("weight", tree.Int64(int64(weight)), "preference", tree.Clone(term)))
		}
		terms = append(terms, tree.Items(tree.Get(s.subsets[i], "preferredNodeSelector"))...)
	}
	if len(terms) > 0 {
		tree.Append(tree.EnsureSeq(template, "spec", "affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution"), terms)
	}
}

// tolerateAll appends the tolerations of all subsets, each once.
func (s *spreading) tolerateAll(template *tree.Node, open []int) {
	have := slices.Clone(tree.Items(tree.Get(template, "spec", "tolerations")))
	var more []*tree.Node
	for _, i := range open {
		for _, t := range tree.Items(tree.Get(s.subsets[i], "tolerations")) {
			if !slices.ContainsFunc(have, func(n *tree.Node) bool { return tree.Equal(n, t) }) {
				have, more = append(have, t), append(more, t)
			}
		}
	}
	if len(more) > 0 {
		tree.Append(tree.EnsureSeq(template, "spec", "tolerations"), more)
	}
}

// distance adds a topology spread constraint where subsets are told apart by one
// label of nodes. It never keeps a pod from running.
func (s *spreading) distance(template *tree.Node, open []int) {
	key := s.topologyKey(open)
	constraints, _ := tree.Find(tree.Get(template, "spec", "topologySpreadConstraints"), "topologyKey", key)
	if key == "" || len(open) < 2 || constraints != nil {
		return
	}
	counts, _ := spread.Fill(s.limits, s.pods)
	least, most := counts[open[0]], counts[open[0]]
	for _, i := range open {
		least, most = min(least, counts[i]), max(most, counts[i])
	}
	selector := tree.Clone(tree.Get(s.whole, "spec", "selector"))
	if s.form.job {
		selector = tree.Map("matchLabels", copied(tree.Get(template, "metadata", "labels")))
	}
	tree.Append(tree.EnsureSeq(template, "spec", "topologySpreadConstraints"), []*tree.Node{tree.Map(
		"maxSkew", tree.Int64(int64(max(most-least, 1))), "topologyKey", key, "whenUnsatisfiable", "ScheduleAnyway", "labelSelector", selector,
	)})
	s.report("workloadspread/constraints-skew", "spec.subsets", fmt.Sprintf("maxSkew %d over %s", max(most-least, 1), key))
}

// topologyKey is the one label by which the required terms of all subsets choose
// nodes, empty when there is none.
func (s *spreading) topologyKey(open []int) (key string) {
	for _, i := range open {
		expressions := tree.Items(tree.Get(s.required(i), "matchExpressions"))
		if len(expressions) != 1 || tree.Get(s.required(i), "matchFields") != nil || tree.StrAt(expressions[0], "operator") != "In" {
			return ""
		}
		k := tree.StrAt(expressions[0], "key")
		if key != "" && k != key {
			return ""
		}
		key = k
	}
	return key
}

// patchAll applies a patch that all subsets have. Others are lost.
func (s *spreading) patchAll(template *tree.Node, open []int) (*tree.Node, error) {
	var patches []*tree.Node
	for _, i := range open {
		patches = append(patches, tree.Get(s.subsets[i], "patch"))
	}
	same := len(patches) > 0 && !slices.ContainsFunc(patches, func(n *tree.Node) bool { return n == nil || !tree.Equal(n, patches[0]) })
	for place, i := range open {
		at := fmt.Sprintf("spec.subsets[%d].patch", i)
		switch {
		case patches[place] == nil:
		case same:
			s.report("workloadspread/patch", at, "")
		default:
			s.report("workloadspread/constraints-patch", at, "")
		}
	}
	if !same {
		return template, nil
	}
	out, err := kruise.PatchTree(template, patches[0])
	return out, s.r.Wrap(err, fmt.Sprintf("spec.subsets[%d].patch", open[0]))
}

// reportConstraints says what is left of the subsets.
func (s *spreading) reportConstraints() {
	s.report("workloadspread/constraints", "spec.targetRef", "")
	for i, subset := range s.subsets {
		at := fmt.Sprintf("spec.subsets[%d].", i)
		for _, f := range []struct{ field, id string }{
			{"name", "workloadspread/constraints-subset"},
			{"maxReplicas", "workloadspread/constraints-limits"},
			{"requiredNodeSelector", "workloadspread/constraints-required"},
			{"preferredNodeSelector", "workloadspread/constraints-preferred"},
			{"tolerations", "workloadspread/constraints-tolerations"},
		} {
			if tree.Get(subset, f.field) != nil {
				s.report(f.id, at+f.field, "")
			}
		}
	}
}
