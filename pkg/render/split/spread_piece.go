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

// split returns a workload for each subset, and one for the pods that none has
// room for.
func (s *spreading) split() ([]*resource.Resource, error) {
	var errs resource.Errors
	errs.Add(s.splittable())
	list := s.pieces()
	each := tree.Weigh(s.whole).Add(tree.Weight{Bytes: tree.Weigh(tree.Get(s.hub, "spec")).Bytes})
	if err := s.c.Fits(s.r, "spec.subsets", each, len(list), "workloads like "+s.target.ID().String()); err != nil {
		return nil, err
	}
	var out []*resource.Resource
	for _, p := range list {
		n, err := s.workload(p)
		errs.Add(err)
		out = append(out, s.derived(n, p.title))
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	s.reportSplit(list)
	s.c.Lineage.Became(s.target.ID(), out...)
	return out, nil
}

// single puts the only subset, which takes every pod, into the target itself.
func (s *spreading) single() ([]*resource.Resource, error) {
	template, err := s.podTemplate(0)
	if err != nil {
		return nil, err
	}
	if err := s.selected(template, tree.Get(s.whole, "spec", "selector"), 0); err != nil {
		return nil, err
	}
	s.report("workloadspread/single", "spec.subsets[0].name", "")
	s.reportSubsets()
	return []*resource.Resource{s.derived(s.withTemplate(template), s.spec.Subsets[0].Name)}, nil
}

// derived returns what the target becomes for a subset. A target that belongs to a subset
// already, of a UnitedDeployment, stays in that: its subsets contain those of the
// WorkloadSpread.
func (s *spreading) derived(n *tree.Node, subset string) *resource.Resource {
	out := resource.Derived(n, s.target)
	if out.Subset() == "" {
		out.SetSubset(subset)
	}
	return out
}

// withTemplate is the target with another pod template.
func (s *spreading) withTemplate(template *tree.Node) *tree.Node {
	out := tree.Shallow(s.whole)
	spec := stage.Block(tree.Get(out, "spec"))
	tree.Set(spec, "template", template)
	tree.Set(out, "spec", spec)
	return out
}

// splittable says why the target cannot be several workloads.
func (s *spreading) splittable() error {
	var errs resource.Errors
	const whole = "--spread-as constraints leaves it whole"
	if s.form.job && tree.StrAt(s.whole, "spec", "completionMode") == "Indexed" {
		errs.Add(s.target.Fault("spec.completionMode", whole, "an Indexed Job cannot be split: each part would count its indexes from 0"))
	}
	for i, subset := range s.spec.Subsets {
		if problems := slices.Concat(validation.IsDNS1123Subdomain(subset.Name), validation.IsValidLabelValue(subset.Name)); len(problems) > 0 {
			errs.Add(s.r.Fault(fmt.Sprintf("spec.subsets[%d].name", i), "rename the subset; "+whole, "a workload %s-%s could not be made: %s", s.target.Name(), subset.Name, problems[0]))
		}
	}
	return errs.Err()
}

// label is the value of [kruise.SpreadLabel] on all pieces.
func (s *spreading) label() string { return kruise.SourceValue(spreadKind, s.r.Name()) }

// workload returns one piece of the target.
func (s *spreading) workload(p piece) (*tree.Node, error) {
	template, err := s.podTemplate(p.subset)
	if err != nil {
		return nil, err
	}
	tree.Set(mapAt(mapAt(template, "metadata"), "labels"), kruise.SpreadSubsetLabel, tree.String(p.title))
	spec := s.pieceSpec(p, template)
	if err := s.selected(template, tree.Get(spec, "selector"), p.subset); err != nil {
		return nil, err
	}
	out := stage.As(s.whole, tree.StrAt(s.whole, "apiVersion"), s.target.Kind(),
		func(m *tree.Node) *tree.Node { return s.metadata(m, p) },
		func(*tree.Node) *tree.Node { return spec })
	stage.ForgetOrigin(out, layers...)
	if !p.leads {
		uncomment(out)
	}
	return out, nil
}

// uncomment takes what was written above the target from all but the first of the
// workloads.
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
func (s *spreading) podTemplate(subset int) (*tree.Node, error) {
	out, err := s.injected(subset)
	if err == nil && s.form.costs {
		cost := tree.String(strconv.Itoa(s.cost(subset)))
		tree.Set(mapAt(mapAt(out, "metadata"), "annotations"), corev1.PodDeletionCost, cost)
	}
	return out, err
}

func (s *spreading) injected(subset int) (*tree.Node, error) {
	if subset == spread.None {
		return tree.Clone(s.template), nil
	}
	before := tree.Get(s.template, "spec", "affinity", "nodeAffinity")
	out, err := spread.Inject(s.template, s.subsets[subset], spread.Match{Spread: s.r.Name(), Subset: s.spec.Subsets[subset].Name})
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
func (s *spreading) cost(subset int) int {
	n := len(s.spec.Subsets)
	if subset == spread.None {
		return -100 * (n + 1)
	}
	return 100 * (n - subset)
}

func (s *spreading) metadata(source *tree.Node, p piece) *tree.Node {
	m := stage.Metadata(source)
	name := stage.PieceName(s.target.Name(), p.title, s.form.nameLimit, s.form.hostnames)
	if whole := s.target.Name() + "-" + p.title; name != whole {
		s.report("workloadspread/name-shortened", "spec.subsets", name+" in place of "+whole)
	}
	tree.Set(m, "name", tree.String(name))
	set := copied(tree.Get(m, "labels"))
	tree.Set(set, kruise.SpreadLabel, tree.String(s.label()))
	tree.Set(set, kruise.SpreadSubsetLabel, tree.String(p.title))
	tree.Set(m, "labels", set)
	if s.target.Group() == kruise.Group {
		return m // what lowers the piece says where it came from
	}
	if tree.Has(set, kruise.SourceLabel) {
		return m // an earlier stage has said so
	}
	tree.Set(set, kruise.SourceLabel, tree.String(s.label()))
	return m
}

// selected refuses a workload that Kubernetes would refuse: one whose selector
// does not take its own pods.
func (s *spreading) selected(template, selector *tree.Node, subset int) error {
	set := labels.Set(tree.Strings(tree.Get(template, "metadata", "labels")))
	wanted := tree.Strings(tree.Get(selector, "matchLabels"))
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		want := wanted[key]
		if set[key] == want {
			continue
		}
		r, path := s.target, "spec.template.metadata.labels"
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
