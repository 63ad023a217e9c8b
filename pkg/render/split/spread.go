package split

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

const spreadKind = kruise.KindWorkloadSpread

// spreadExpansion is one WorkloadSpread, which disappears into its target.
type spreadExpansion struct {
	c *stage.Context
	r *resource.Resource
	// subsets are spec.subsets of hub, the newest version. They are only read: what goes
	// into a template is cloned.
	subsets []*tree.Node
	hub     *tree.Node
	spec    kruise.WorkloadSpreadSpec
	// target is nil where the input does not have it.
	target *spreadTarget
}

// spreadAll puts every WorkloadSpread of the input into its target, wherever that
// is: it can be what a UnitedDeployment has become.
func spreadAll(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	if !c.Expand(spreadKind) || len(c.Facts.Stream(kruise.Group, spreadKind)) == 0 {
		return in, nil
	}
	all, err := readSpreads(c, in)
	if err != nil {
		return nil, err
	}
	over := map[*resource.Resource]*spreadExpansion{}
	for _, r := range in { // in the input's order: of two for one target the first takes it
		s := all[r]
		if s == nil || s.target == nil {
			continue
		}
		if _, twice := over[s.target.Resource]; !twice {
			over[s.target.Resource] = s
		}
	}
	return c.Replace(in, func(r *resource.Resource) ([]*resource.Resource, error) {
		if s := all[r]; s != nil {
			return s.remainingSpread(s.target != nil && over[s.target.Resource] == s), nil
		}
		if s := over[r]; s != nil {
			return s.expand()
		}
		return []*resource.Resource{r}, nil
	})
}

// remainingSpread is what becomes of the WorkloadSpread: nothing where its target has taken
// it up; where nothing can, it stays as it is.
func (s *spreadExpansion) remainingSpread(taken bool) []*resource.Resource {
	if !taken {
		s.reportKept()
		return []*resource.Resource{s.r}
	}
	s.c.Lineage.Became(s.r.ID())
	return nil
}

// readSpreads reads the WorkloadSpreads of the input and finds their targets.
func readSpreads(c *stage.Context, in []*resource.Resource) (map[*resource.Resource]*spreadExpansion, error) {
	targets := indexTargets(c, in)
	all := map[*resource.Resource]*spreadExpansion{}
	var errs resource.Errors
	for _, r := range in {
		if !r.Is(kruise.Group, spreadKind) {
			continue
		}
		s, err := readSpread(c, r)
		if err != nil {
			errs.Add(err)
			continue
		}
		s.target = findTarget(c, r, s.spec.TargetReference, targets)
		all[r] = s
	}
	return all, errs.Err()
}

func readSpread(c *stage.Context, r *resource.Resource) (*spreadExpansion, error) {
	var ws kruise.WorkloadSpread
	if _, err := kruise.Decode(r.Node(), &ws); err != nil {
		return nil, r.Wrap(err, "")
	}
	kruise.Default(&ws)
	hub, _, err := kruise.ToHub(r.Node())
	if err != nil {
		return nil, r.Wrap(err, "")
	}
	return &spreadExpansion{c: c, r: r, hub: hub, spec: ws.Spec, subsets: tree.Items(tree.Get(hub, "spec", "subsets"))}, nil
}

// expand returns what the target becomes.
func (s *spreadExpansion) expand() ([]*resource.Resource, error) {
	if s.target.Label(kruise.SubsetNameLabel) != "" && s.target.Label(kruise.SourceLabel) != "" {
		s.report("workloadspread/target-made", "spec.targetRef.name", s.target.Name()+" is the workload of a subset of a UnitedDeployment")
	}
	if ok, err := s.matchesPods(); !ok {
		return []*resource.Resource{s.target.Resource}, err
	}
	pods, err := s.allocate()
	if err != nil {
		return nil, err
	}
	switch {
	case len(pods.limits) == 1 && pods.limits[0] == spread.Unlimited:
		return s.applyOnlySubset()
	case s.c.SpreadAs == stage.SpreadConstraints:
		return constrain(pods)
	}
	return s.split(pods.pieces())
}

// matchesPods reports whether the webhook would look at the target's pods at all
// (docs/kruise/distribution.md#workloadspread: a targetFilter without selector matches none).
func (s *spreadExpansion) matchesPods() (bool, error) {
	f := s.spec.TargetFilter
	if f == nil {
		return true, nil
	}
	if f.Selector == nil {
		s.report("workloadspread/filter-none", "spec.targetFilter", "it has no selector")
		return false, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(f.Selector)
	if err != nil {
		return false, s.r.Fault("spec.targetFilter.selector", "", "%v", err)
	}
	set := labels.Set(tree.Strings(tree.Get(s.target.template, "metadata", "labels")))
	if !selector.Matches(set) {
		s.report("workloadspread/filter-none", "spec.targetFilter.selector", "it does not match pods with the labels "+set.String())
		return false, nil
	}
	s.report("workloadspread/filter-selector", "spec.targetFilter.selector", "")
	return true, nil
}
