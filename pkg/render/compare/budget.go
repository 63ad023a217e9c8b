package compare

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// allowance is what a budget lets go when all its pods are healthy.
type allowance struct {
	covered []carrier
	counts  rules.BudgetCounts
}

// allowsNothing reports a budget that covers pods and never lets one go.
func (r allowance) allowsNothing() bool { return r.counts.Expected > 0 && r.counts.Allowed == 0 }

// budgets reports which budgets allow nothing any more, and which set the pace of an
// update.
func (c *comparison) budgets() {
	for _, kind := range [][2]string{{kruise.PolicyGroup, kruise.KindPodUnavailableBudget}, {"policy", "PodDisruptionBudget"}} {
		for _, r := range c.now.facts.All(kind[0], kind[1]) {
			is, ok := c.now.allowance(r)
			if !ok {
				continue
			}
			if is.allowsNothing() && !c.allowedNothing(r) {
				c.affected(r).add(Blocked, "spec", fmt.Sprintf("no longer lets any pod go: it wants %d of %d available; drains and evictions wait for good", is.counts.Desired, is.counts.Expected))
			}
			if kind[1] == kruise.KindPodUnavailableBudget && !is.allowsNothing() {
				c.addPace(r, is)
			}
		}
	}
}

func (c *comparison) allowedNothing(r *resource.Resource) bool {
	id := c.now.facts.IDOf(r)
	old := c.old.byID[id]
	if old == nil && c.now.byID[id] == nil {
		old = r // of the context
	}
	if old == nil {
		return false
	}
	was, ok := c.old.allowance(old)
	return ok && was.allowsNothing()
}

// addPace notes where a budget lets fewer pods be down than the update would take.
func (c *comparison) addPace(r *resource.Resource, is allowance) {
	for _, covered := range is.covered {
		ch := c.byID[covered.id]
		if ch == nil || ch.Rollout == nil || ch.Rollout.Mode == rules.ModeUnchanged {
			continue
		}
		if most := is.counts.Allowed; len(is.covered) == 1 && most < ch.Rollout.Down {
			ch.add(Note, "", fmt.Sprintf("PodUnavailableBudget %s allows only %d of %s to be unavailable, which limits the pace", r.Name(), most, counted.Of(is.counts.Expected, "pod")))
		}
	}
}

// allowance works out what a budget lets go; ok is false when it cannot be known.
func (s *side) allowance(r *resource.Resource) (out allowance, ok bool) {
	out.covered = s.covered(r)
	pods := total(out.covered)
	if pods <= 0 || pods > maxPods {
		return out, false
	}
	if r.Kind() == kruise.KindPodUnavailableBudget {
		var b kruise.PodUnavailableBudget
		if _, err := kruise.Decode(r.Node(), &b); err != nil {
			return out, false
		}
		budget := rules.Budget{Name: r.Name(), Spec: &b.Spec, Expected: pods}
		out.counts = budget.CountsOf(pods)
		return out, true
	}
	var b policyv1.PodDisruptionBudget
	if _, err := tree.Decode(r.Node(), &b); err != nil {
		return out, false
	}
	budget := rules.DisruptionBudget{Name: r.Name(), Spec: &b.Spec, Expected: pods, Pods: slices.Repeat([]*cluster.Pod{healthy}, pods)}
	out.counts = budget.Counts()
	return out, true
}

// maxPods is more than any cluster has: a typing error must not cost memory.
const maxPods = 1_000_000

// healthy represents every pod while nothing is wrong.
var healthy = &cluster.Pod{Phase: corev1.PodRunning, Conditions: []cluster.Condition{{Type: string(corev1.PodReady), Status: corev1.ConditionTrue}}}

// covered are the workloads whose pods a budget guards: those of its target, or
// those that its selector finds. Jobs and the like end by themselves and do not
// count.
func (s *side) covered(r *resource.Resource) []carrier {
	namespace := s.facts.NamespaceOf(r)
	if ref := tree.Get(r.Node(), "spec", "targetRef"); tree.IsMap(ref) {
		id := resource.ID{Group: resource.GroupOf(tree.StrAt(ref, "apiVersion")), Kind: tree.StrAt(ref, "kind"), Namespace: namespace, Name: tree.StrAt(ref, "name")}
		if i, ok := s.at[id]; ok {
			return s.carriers[i : i+1]
		}
		return nil
	}
	selector, ok := selectorAt(r, "spec", "selector")
	if !ok || selector.Empty() {
		return nil
	}
	return slices.DeleteFunc(s.selected(namespace, selector), func(c carrier) bool {
		return slices.Contains([]string{"Job", "CronJob", kruise.KindBroadcastJob, kruise.KindAdvancedCronJob}, c.r.Kind())
	})
}
