package split

import (
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// constraints are what one workload for all subsets gets: its pods go wherever some subset
// is, prefer the subsets in their order, and keep about the distance from one another that
// the limits would give them.
type constraints struct {
	*allocation
	template *tree.Node
	// open are the subsets that take pods at all.
	open []int
}

// constrain leaves the target one workload, with constraints in its pod template.
func constrain(a *allocation) ([]*resource.Resource, error) {
	k := &constraints{allocation: a, template: tree.Clone(a.target.template)}
	for i, limit := range a.limits {
		if limit != 0 {
			k.open = append(k.open, i)
		}
	}
	k.requireAny()
	k.prefer()
	k.tolerateAll()
	k.spreadTopology()
	if err := k.patchAll(); err != nil {
		return nil, err
	}
	if err := a.checkSelector(k.template, tree.Get(a.target.hub, "spec", "selector"), spread.None); err != nil {
		return nil, err
	}
	k.reportFields()
	return []*resource.Resource{resource.Derived(a.target.withTemplate(k.template), a.target.Resource)}, nil
}

// required is the requiredNodeSelector of subset i, nil without one.
func (k *constraints) required(i int) *tree.Node {
	if n := tree.Get(k.subsets[i], "requiredNodeSelector"); tree.IsMap(n) {
		return n
	}
	return nil
}

// requireAny narrows each alternative of the template to each subset in turn. A
// subset without a term is everywhere, so nothing is required then.
func (k *constraints) requireAny() {
	if len(k.open) == 0 || slices.ContainsFunc(k.open, func(i int) bool { return k.required(i) == nil }) {
		return
	}
	list := tree.EnsureSeq(k.template, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	have := list.Content
	if len(have) == 0 {
		have = []*tree.Node{nil}
	}
	list.Content = nil
	for _, term := range have {
		for _, i := range k.open {
			tree.Append(list, []*tree.Node{spread.Narrow(term, k.required(i))})
		}
	}
}

// prefer writes the order of the subsets as weights, and appends what they prefer
// themselves.
func (k *constraints) prefer() {
	var terms []*tree.Node
	for place, i := range k.open {
		if term := k.required(i); term != nil && len(k.open) > 1 {
			weight := max(100-place*100/len(k.open), 1)
			terms = append(terms, tree.Map("weight", tree.Int64(int64(weight)), "preference", tree.Clone(term)))
		}
		terms = append(terms, tree.Items(tree.Get(k.subsets[i], "preferredNodeSelector"))...)
	}
	if len(terms) > 0 {
		tree.Append(tree.EnsureSeq(k.template, "spec", "affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution"), terms)
	}
}

// tolerateAll appends the tolerations of all subsets, each once.
func (k *constraints) tolerateAll() {
	have := slices.Clone(tree.Items(tree.Get(k.template, "spec", "tolerations")))
	var more []*tree.Node
	for _, i := range k.open {
		for _, t := range tree.Items(tree.Get(k.subsets[i], "tolerations")) {
			if !slices.ContainsFunc(have, func(n *tree.Node) bool { return tree.Equal(n, t) }) {
				have, more = append(have, t), append(more, t)
			}
		}
	}
	if len(more) > 0 {
		tree.Append(tree.EnsureSeq(k.template, "spec", "tolerations"), more)
	}
}

// spreadTopology adds a topology spread constraint where one label of nodes distinguishes the
// subsets. It never keeps a pod from running.
func (k *constraints) spreadTopology() {
	key := k.topologyKey()
	constraints, _ := tree.Find(tree.Get(k.template, "spec", "topologySpreadConstraints"), "topologyKey", key)
	if key == "" || len(k.open) < 2 || constraints != nil {
		return
	}
	counts, _ := spread.Fill(k.limits, k.pods)
	least, most := counts[k.open[0]], counts[k.open[0]]
	for _, i := range k.open {
		least, most = min(least, counts[i]), max(most, counts[i])
	}
	selector := tree.Clone(tree.Get(k.target.hub, "spec", "selector"))
	if k.target.form.job {
		selector = tree.Map("matchLabels", copyMapping(tree.Get(k.template, "metadata", "labels")))
	}
	tree.Append(tree.EnsureSeq(k.template, "spec", "topologySpreadConstraints"), []*tree.Node{tree.Map(
		"maxSkew", tree.Int64(int64(max(most-least, 1))), "topologyKey", key, "whenUnsatisfiable", "ScheduleAnyway", "labelSelector", selector,
	)})
	k.report("workloadspread/constraints-skew", "spec.subsets", fmt.Sprintf("maxSkew %d over %s", max(most-least, 1), key))
}

// topologyKey is the one label by which the required terms of all subsets choose
// nodes, empty when there is none.
func (k *constraints) topologyKey() (key string) {
	for _, i := range k.open {
		expressions := tree.Items(tree.Get(k.required(i), "matchExpressions"))
		if len(expressions) != 1 || tree.Get(k.required(i), "matchFields") != nil || tree.StrAt(expressions[0], "operator") != "In" {
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
func (k *constraints) patchAll() error {
	var patches []*tree.Node
	for _, i := range k.open {
		patches = append(patches, tree.Get(k.subsets[i], "patch"))
	}
	same := len(patches) > 0 && !slices.ContainsFunc(patches, func(n *tree.Node) bool { return n == nil || !tree.Equal(n, patches[0]) })
	for place, i := range k.open {
		at := fmt.Sprintf("spec.subsets[%d].patch", i)
		switch {
		case patches[place] == nil:
		case same:
			k.report("workloadspread/patch", at, "")
		default:
			k.report("workloadspread/constraints-patch", at, "")
		}
	}
	if !same {
		return nil
	}
	var err error
	k.template, err = kruise.PatchTree(k.template, patches[0])
	return k.r.Wrap(err, fmt.Sprintf("spec.subsets[%d].patch", k.open[0]))
}

// reportFields reports what becomes of the fields of subsets.
func (k *constraints) reportFields() {
	k.report("workloadspread/constraints", "spec.targetRef", "")
	for i, subset := range k.subsets {
		at := fmt.Sprintf("spec.subsets[%d].", i)
		for _, f := range []struct{ field, id string }{
			{"name", "workloadspread/constraints-subset"},
			{"maxReplicas", "workloadspread/constraints-limits"},
			{"requiredNodeSelector", "workloadspread/constraints-required"},
			{"preferredNodeSelector", "workloadspread/constraints-preferred"},
			{"tolerations", "workloadspread/constraints-tolerations"},
		} {
			if tree.Get(subset, f.field) != nil {
				k.report(f.id, at+f.field, "")
			}
		}
	}
}
