package compare

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// spreads compares how many pods each subset of a WorkloadSpread takes, also where
// only its target has got another number.
func (c *comparison) spreads() {
	for _, r := range c.now.facts.Stream(kruise.Group, kruise.KindWorkloadSpread) {
		old := c.old.byID[c.now.facts.IDOf(r)]
		if old == nil {
			continue
		}
		was, is := c.old.limits(old), c.now.limits(r)
		var list []Subset
		for _, s := range is {
			switch i := indexOf(was, s.Name); {
			case i < 0:
				list = append(list, Subset{Verb: Added, Name: s.Name, To: s.To})
			case was[i].To != s.To:
				list = append(list, Subset{Verb: Changed, Name: s.Name, From: was[i].To, To: s.To})
			}
		}
		for _, s := range was {
			if indexOf(is, s.Name) < 0 {
				list = append(list, Subset{Verb: Removed, Name: s.Name, From: s.To})
			}
		}
		if len(list) > 0 {
			c.affected(r).Subsets = list
		}
	}
}

func indexOf(list []Subset, name string) int {
	for i, s := range list {
		if s.Name == name {
			return i
		}
	}
	return -1
}

// limits are the subsets with how many pods each may have in To: -1 is no limit,
// or one that is a share of an unknown number. A percentage is of the target's
// replicas, rounded up (docs/kruise/distribution.md#workloadspread).
func (s *side) limits(r *resource.Resource) []Subset {
	var spread kruise.WorkloadSpread
	if _, err := kruise.Decode(r.Node(), &spread); err != nil {
		return nil
	}
	replicas := -1
	if ref := spread.Spec.TargetReference; ref != nil {
		id := resource.ID{Group: resource.GroupOf(ref.APIVersion), Kind: ref.Kind, Namespace: s.facts.NamespaceOf(r), Name: ref.Name}
		if i, ok := s.at[id]; ok {
			replicas = s.carriers[i].pods
		}
	}
	var out []Subset
	for _, sub := range spread.Spec.Subsets {
		out = append(out, Subset{Name: sub.Name, To: limitOf(sub.MaxReplicas, replicas)})
	}
	return out
}

func limitOf(v *intstr.IntOrString, replicas int) int {
	if v == nil || v.Type == intstr.String && replicas < 0 {
		return -1
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(v, max(replicas, 0), true)
	if err != nil {
		return -1
	}
	return n
}
