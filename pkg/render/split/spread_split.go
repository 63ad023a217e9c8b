package split

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// split returns a workload for each piece: one for each subset, and one for the pods that
// no subset has room for.
func (s *spreadExpansion) split(pieces []piece) ([]*resource.Resource, error) {
	var errs resource.Errors
	errs.Add(s.checkSplittable())
	each := tree.Weigh(s.target.hub).Add(tree.Weight{Bytes: tree.Weigh(tree.Get(s.hub, "spec")).Bytes})
	if err := s.c.Fits(s.r, "spec.subsets", each, len(pieces), "workloads like "+s.target.ID().String()); err != nil {
		return nil, err
	}
	var out []*resource.Resource
	for _, p := range pieces {
		n, err := pieceBuilder{s, p}.workload()
		errs.Add(err)
		out = append(out, s.derived(n, p.title))
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	s.reportSplit(pieces)
	s.c.Lineage.Split(s.target.ID(), podShares{s, pieces}, out...)
	return out, nil
}

// podShares is how pods are shared out over the pieces of a target.
type podShares struct {
	*spreadExpansion
	pieces []piece
}

// At fills the subsets one after the other, as Kruise does with the pods of a target that
// grows.
func (s podShares) At(total int32) []int32 {
	counts, rest := spread.Fill(spread.Limits(s.spec.Subsets, int(total)), int(total))
	out := make([]int32, len(s.pieces))
	for i, p := range s.pieces {
		if p.subset == spread.None {
			out[i] = int32(rest) // at most total
			continue
		}
		out[i] = int32(counts[p.subset]) // at most total
	}
	return out
}

// applyOnlySubset puts the only subset, which takes every pod, into the target itself.
func (s *spreadExpansion) applyOnlySubset() ([]*resource.Resource, error) {
	template, err := s.podTemplate(0)
	if err != nil {
		return nil, err
	}
	if err := s.checkSelector(template, tree.Get(s.target.hub, "spec", "selector"), 0); err != nil {
		return nil, err
	}
	s.report("workloadspread/single", "spec.subsets[0].name", "")
	s.reportSubsets()
	return []*resource.Resource{s.derived(s.target.withTemplate(template), s.spec.Subsets[0].Name)}, nil
}

// derived returns what the target becomes for a subset. A target that belongs to a subset
// already, of a UnitedDeployment, stays in that: its subsets contain those of the
// WorkloadSpread.
func (s *spreadExpansion) derived(n *tree.Node, subset string) *resource.Resource {
	out := resource.Derived(n, s.target.Resource)
	if out.Subset() == "" {
		out.SetSubset(subset)
	}
	return out
}

// checkSplittable reports why the target cannot become several workloads.
func (s *spreadExpansion) checkSplittable() error {
	var errs resource.Errors
	const whole = "use --spread-as constraints, which keeps one workload"
	if s.target.form.job && tree.StrAt(s.target.hub, "spec", "completionMode") == "Indexed" {
		errs.Add(s.target.Fault("spec.completionMode", whole, "an Indexed Job cannot be split: each part would count its indexes from 0"))
	}
	for i, subset := range s.spec.Subsets {
		if problems := slices.Concat(validation.IsDNS1123Subdomain(subset.Name), validation.IsValidLabelValue(subset.Name)); len(problems) > 0 {
			errs.Add(s.r.Fault(fmt.Sprintf("spec.subsets[%d].name", i), "rename the subset, or "+whole, "a workload %s-%s could not be created: %s", s.target.Name(), subset.Name, problems[0]))
		}
	}
	return errs.Err()
}

// label is the value of [kruise.SpreadLabel] on all pieces.
func (s *spreadExpansion) label() string { return kruise.SourceValue(spreadKind, s.r.Name()) }

// pieceBuilder builds the workload of one piece of the target.
type pieceBuilder struct {
	*spreadExpansion
	piece
}

func (b pieceBuilder) workload() (*tree.Node, error) {
	template, err := b.podTemplate(b.subset)
	if err != nil {
		return nil, err
	}
	tree.Set(mapAt(mapAt(template, "metadata"), "labels"), kruise.SpreadSubsetLabel, tree.String(b.title))
	spec := b.workloadSpec(template)
	if err := b.checkSelector(template, tree.Get(spec, "selector"), b.subset); err != nil {
		return nil, err
	}
	out := stage.Retype(b.target.hub, tree.StrAt(b.target.hub, "apiVersion"), b.target.Kind(),
		b.metadata,
		func(*tree.Node) *tree.Node { return spec })
	stage.ForgetOrigin(out, layers...)
	if !b.leads {
		uncomment(out)
	}
	return out, nil
}

// uncomment removes the comment above the target: only the first workload keeps it.
func uncomment(n *tree.Node) {
	n.HeadComment = ""
	if len(n.Content) > 0 {
		key := *n.Content[0]
		key.HeadComment = ""
		n.Content[0] = &key
	}
}

// podTemplate is the target's with what Kruise puts into pods of a subset, or into
// those that have none.
func (s *spreadExpansion) podTemplate(subset int) (*tree.Node, error) {
	out, err := s.injected(subset)
	if err == nil && s.target.form.costs {
		cost := tree.String(strconv.Itoa(s.cost(subset)))
		tree.Set(mapAt(mapAt(out, "metadata"), "annotations"), corev1.PodDeletionCost, cost)
	}
	return out, err
}

func (s *spreadExpansion) injected(subset int) (*tree.Node, error) {
	if subset == spread.None {
		return tree.Clone(s.target.template), nil
	}
	before := tree.Get(s.target.template, "spec", "affinity", "nodeAffinity")
	out, err := spread.Inject(s.target.template, s.subsets[subset], spread.Match{Spread: s.r.Name(), Subset: s.spec.Subsets[subset].Name})
	if err != nil {
		return nil, s.r.Wrap(err, fmt.Sprintf("spec.subsets[%d].patch", subset))
	}
	if before == nil {
		spread.Tidy(out)
	}
	return out, nil
}

// cost is what Kruise's controller has pods of a subset cost
// (docs/kruise/distribution.md#workloadspread).
func (s *spreadExpansion) cost(subset int) int {
	n := len(s.spec.Subsets)
	if subset == spread.None {
		return -100 * (n + 1)
	}
	return 100 * (n - subset)
}

// metadata returns the metadata of the target, source, with the name and the labels of the piece.
func (b pieceBuilder) metadata(source *tree.Node) *tree.Node {
	m := stage.Metadata(source)
	name := stage.PieceName(b.target.Name(), b.title, b.target.form.nameLimit, b.target.form.hostnames)
	if whole := b.target.Name() + "-" + b.title; name != whole {
		b.report("workloadspread/name-shortened", "spec.subsets", name+" in place of "+whole)
	}
	tree.Set(m, "name", tree.String(name))
	set := copyMapping(tree.Get(m, "labels"))
	tree.Set(set, kruise.SpreadLabel, tree.String(b.label()))
	tree.Set(set, kruise.SpreadSubsetLabel, tree.String(b.title))
	tree.Set(m, "labels", set)
	if b.target.Group() == kruise.Group {
		return m // the lowering of the piece writes its source
	}
	if tree.Has(set, kruise.SourceLabel) {
		return m // an earlier stage has written it
	}
	tree.Set(set, kruise.SourceLabel, tree.String(b.label()))
	return m
}

// checkSelector refuses a workload that Kubernetes would refuse: one whose selector does not
// match its own pods.
func (s *spreadExpansion) checkSelector(template, selector *tree.Node, subset int) error {
	set := labels.Set(tree.Strings(tree.Get(template, "metadata", "labels")))
	wanted := tree.Strings(tree.Get(selector, "matchLabels"))
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		want := wanted[key]
		if set[key] == want {
			continue
		}
		r, path := s.target.Resource, "spec.template.metadata.labels"
		if patch := fmt.Sprintf("spec.subsets[%d].patch.metadata.labels", subset); subset != spread.None {
			if _, there := tree.At(s.hub, patch); there {
				r, path = s.r, patch
			}
		}
		return r.Fault(path, "leave the labels that the target's selector asks for",
			"the pods would have the labels %s, which the selector %s does not take", set, compact(selector, false))
	}
	return nil
}

// workloadSpec returns the target's spec with the pods of the piece.
func (b pieceBuilder) workloadSpec(template *tree.Node) *tree.Node {
	spec := tree.Clone(tree.Get(b.target.hub, "spec"))
	tree.Set(spec, "template", template)
	pods := tree.Int64(int64(b.pods))
	if b.target.form.job {
		b.setJob(spec)
		return spec
	}
	first(spec, "replicas", pods)
	selector := tree.Ensure(spec, "selector")
	tree.SetAt(selector, tree.String(b.title), "matchLabels", kruise.SpreadSubsetLabel)
	tree.DeleteAt(spec, "scaleStrategy", "podsToDelete") // they are the target's pods
	if b.target.form.ordinals {
		b.setOrdinals(spec)
	}
	b.setPartition(spec)
	return spec
}

// setJob sets the parallelism and the completions of a Job. The API server chooses the
// selector, unless the user does.
func (b pieceBuilder) setJob(spec *tree.Node) {
	first(spec, "parallelism", tree.Int64(int64(b.pods)))
	if tree.Get(spec, "completions") != nil {
		tree.Set(spec, "completions", tree.Int64(b.completions))
	}
	if !tree.Bool(tree.Get(spec, "manualSelector")) {
		tree.Delete(spec, "selector")
		return
	}
	tree.SetAt(spec, tree.String(b.title), "selector", "matchLabels", kruise.SpreadSubsetLabel)
}

// setOrdinals starts the piece at the first of its ordinals. An Advanced StatefulSet reserves
// the ordinals before: its own start needs a feature gate.
func (b pieceBuilder) setOrdinals(spec *tree.Node) {
	if b.target.Group() != kruise.Group || b.target.firstOrdinal() > 0 {
		if b.first > 0 || b.target.firstOrdinal() > 0 {
			tree.SetAt(spec, tree.Int64(int64(b.first)), "ordinals", "start")
		}
		return
	}
	if b.first == 0 {
		return
	}
	list := tree.EnsureSeq(spec, "reserveOrdinals")
	earlier := tree.Int64(0)
	if b.first > 1 {
		earlier = tree.String(fmt.Sprintf("0-%d", b.first-1))
	}
	list.Content = append([]*tree.Node{earlier}, list.Content...)
}

// setPartition keeps as many pods at the old revision as the target would: those that come
// first, by ordinal or by subset. A percentage stays one of each piece.
func (b pieceBuilder) setPartition(spec *tree.Node) {
	at := tree.Get(spec, "updateStrategy", "rollingUpdate")
	kept, ok := tree.Int(tree.Get(at, "partition"))
	if !ok {
		return
	}
	own := min(max(kept-int64(b.before), 0), int64(b.pods))
	tree.Set(at, "partition", tree.Int64(own))
}
