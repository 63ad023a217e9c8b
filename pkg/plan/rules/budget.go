package rules

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Budget is a PodUnavailableBudget with all that its decision looks at.
type Budget struct {
	Name string
	Spec *kruise.PodUnavailableBudgetSpec
	// Expected is spec.replicas of the target, or the sum over the controllers
	// of the matched pods; -1 for a target that cannot be scaled.
	Expected int
	// Pods are those that the budget covers.
	Pods []*cluster.Pod
	// Steadies is how many of Pods are steady and not recorded, where the maker of the
	// budget has counted them; nil has [Budget.Counts] count them.
	Steadies *int
	Beyond   OutsidePods
	// Disrupted and Unavailable are the names recorded in the status.
	Disrupted, Unavailable []string
	// Records takes the place of the two lists when only a decision is needed; with nil the lists
	// are read.
	Records *kruise.PodUnavailableBudgetStatus
	// Busy reports whether the pod is still being updated: see [InPlacePending] and
	// [SidecarSet.Consistent]. nil means never.
	Busy podUpdates
	// VerticalScaling is the gate InPlacePodVerticalScaling of the cluster.
	VerticalScaling bool
	// Rendered is one that is kept in an annotation of its PodDisruptionBudget (docs/drivers.md): no
	// webhook knows it, so only a client that looks keeps it.
	Rendered bool
}

// budgetRecords is how many pods a budget records at most.
const budgetRecords = 2000

// BudgetCounts is the status of a budget (docs/kruise/protection.md#podunavailablebudget).
type BudgetCounts struct {
	Expected, Desired, Current, Allowed int
}

// Counts calculates the status.
func (b *Budget) Counts() BudgetCounts {
	if b.Steadies != nil {
		return b.CountsOf(*b.Steadies)
	}
	recorded := sets.New(b.Disrupted...).Insert(b.Unavailable...)
	return b.CountsOf(count(b.Pods, func(p *cluster.Pod) bool { return !recorded.Has(p.Name) && b.Steady(p) }))
}

// CountsOf calculates the status from how many pods are steady and not recorded.
func (b *Budget) CountsOf(current int) BudgetCounts {
	n := BudgetCounts{Expected: b.Expected + b.Beyond.Expected, Current: current + b.Beyond.Available}
	if b.Spec.ProtectTotalReplicas != nil {
		n.Expected = int(*b.Spec.ProtectTotalReplicas)
	}
	switch {
	case b.Spec.MaxUnavailable != nil:
		n.Desired = max(0, n.Expected-scaled(b.Spec.MaxUnavailable, max(n.Expected, 0), true))
	case b.Spec.MinAvailable != nil:
		n.Desired = scaled(b.Spec.MinAvailable, max(n.Expected, 0), true)
	}
	n.Allowed = max(0, n.Current-n.Desired)
	return n
}

// Steady reports whether the budget counts the pod as available, unless it is on
// record.
func (b *Budget) Steady(p *cluster.Pod) bool { return Active(p) && b.steady(p) }

// steady reports whether the pod is one that the budget counts as available.
func (b *Budget) steady(p *cluster.Pod) bool {
	if p.Deleting || p.Phase != "Running" || !podReady(p) || HoldsUnavailable(p) {
		return false
	}
	return b.Busy == nil || !b.Busy.Updating(p)
}

// HoldsUnavailable reports whether a label takes the pod out of its budget's
// count.
func HoldsUnavailable(p *cluster.Pod) bool {
	return p.HeldUnavailable()
}

func (b *Budget) recorded(p *cluster.Pod) bool {
	if b.Records != nil {
		_, disrupted := b.Records.DisruptedPods[p.Name]
		_, unavailable := b.Records.UnavailablePods[p.Name]
		return disrupted || unavailable
	}
	return slices.Contains(b.Disrupted, p.Name) || slices.Contains(b.Unavailable, p.Name)
}

func (b *Budget) recordCount() int {
	if b.Records != nil {
		return len(b.Records.DisruptedPods) + len(b.Records.UnavailablePods)
	}
	return len(b.Disrupted) + len(b.Unavailable)
}

// AllowsAny reports whether, with these counts, the budget can refuse none of so many requests,
// whatever their pods and operations are.
func (b *Budget) AllowsAny(n BudgetCounts, requests int) bool {
	return n.Desired == 0 || n.Allowed >= requests && b.recordCount() <= budgetRecords
}

// Request is one operation on a pod.
type Request struct {
	Pod       *cluster.Pod
	Operation kruise.PubOperation
	// Harmless is true for an update that leaves the spec as it is and adds no
	// label that makes the pod unavailable.
	Harmless bool
}

// Verdict is the answer of a budget to a request.
type Verdict struct {
	Allowed bool
	// Record is true when the permit is taken from the budget and noted, for 10
	// seconds after an update and 20 after others.
	Record bool
	Why    string
}

// Decide asks the budget by the counts of a moment ago: the webhook goes by the status, whose every
// permit takes one from what it allows. A nil budget is one that is gone
// (docs/kruise/protection.md#podunavailablebudget, Decision).
func (b *Budget) Decide(n BudgetCounts, r Request) Verdict {
	if why, free := b.free(r); free {
		return Verdict{Allowed: true, Why: why}
	}
	switch {
	case n.Desired == 0:
		return Verdict{Allowed: true, Why: "the budget asks for no available pod"}
	case !b.protects(r.Operation):
		return Verdict{Allowed: true, Why: fmt.Sprintf("the budget does not protect from %s", r.Operation)}
	case b.recorded(r.Pod):
		return Verdict{Allowed: true, Why: "the pod was let through before"}
	case n.Allowed == 0:
		return Verdict{Why: fmt.Sprintf("budget %s: %s available, %d %s wanted: %s waits", b.Name, counted.PodsAre(n.Current), n.Desired, counted.Word(n.Desired, "is", "are"), r.Pod.Name)}
	case b.recordCount() > budgetRecords:
		return Verdict{Why: fmt.Sprintf("budget %s: more than %d pods are recorded", b.Name, budgetRecords)}
	}
	return Verdict{Allowed: true, Record: true, Why: fmt.Sprintf("budget %s allows %d more", b.Name, n.Allowed-1)}
}

// free are the reasons for which the budget is not counted at all.
func (b *Budget) free(r Request) (why string, free bool) {
	p := r.Pod
	related := p.Annotations[kruise.RelatedBudgetAnnotation] != "" || p.Annotations[kruise.RelatedBudgetOlderAnnotation] != ""
	exempt, _ := strconv.ParseBool(p.Annotations[kruise.NoProtectAnnotation])
	switch {
	case !related:
		return "the pod has no budget", true
	case r.Operation == kruise.PubUpdateOperation && r.Harmless:
		return "nothing that the budget guards changes", true
	case exempt:
		return "the pod is exempt by its annotation " + kruise.NoProtectAnnotation, true
	case b == nil:
		return "the budget does not exist any more", true
	case !b.steady(p):
		return "the pod is not available anyway", true
	case b.Spec.IgnoredPodSelector != nil && selectorOf(b.Spec.IgnoredPodSelector).Matches(labels.Set(p.Labels)):
		return "the budget ignores the pod", true
	}
	return "", false
}

// protects reports whether the budget guards against an operation. A resize is
// an update where the cluster does not know better.
func (b *Budget) protects(op kruise.PubOperation) bool {
	list := b.Spec.ProtectOperations
	if len(list) == 0 {
		list = []kruise.PubOperation{kruise.PubDeleteOperation, kruise.PubUpdateOperation, kruise.PubEvictOperation}
	}
	if op == kruise.PubResizeOperation && !b.VerticalScaling && slices.Contains(list, kruise.PubUpdateOperation) {
		return true
	}
	return slices.Contains(list, op)
}

// DisruptionBudget is a PodDisruptionBudget with all that an eviction looks at.
// It guards against evictions only; deletions and updates pass it by.
type DisruptionBudget struct {
	Name string
	Spec *policyv1.PodDisruptionBudgetSpec
	// Expected is the sum of the replicas of the controllers of its pods.
	Expected int
	Pods     []*cluster.Pod
	Beyond   OutsidePods
	// Disrupted are the names recorded in the status.
	Disrupted []string
}

// Counts calculates the status as Kubernetes does: percentages are rounded up,
// and a number for minAvailable is of the pods that there are.
func (b *DisruptionBudget) Counts() BudgetCounts {
	n := BudgetCounts{Expected: b.Expected + b.Beyond.Expected}
	switch {
	case b.Spec.MaxUnavailable != nil:
		n.Desired = max(0, n.Expected-scaled(b.Spec.MaxUnavailable, n.Expected, true))
	case b.Spec.MinAvailable != nil && b.Spec.MinAvailable.Type == intstr.Int:
		n.Expected, n.Desired = len(b.Pods)+b.Beyond.Expected, b.Spec.MinAvailable.IntValue()
	case b.Spec.MinAvailable != nil:
		n.Desired = scaled(b.Spec.MinAvailable, n.Expected, true)
	}
	disrupted := sets.New(b.Disrupted...)
	n.Current = b.Beyond.Available + count(b.Pods, func(p *cluster.Pod) bool {
		return !p.Deleting && podReady(p) && !disrupted.Has(p.Name)
	})
	if n.Expected > 0 {
		n.Allowed = max(0, n.Current-n.Desired)
	}
	return n
}

// Evict decides about one eviction. Pods that do not run yet, or not any more,
// go at once; a pod that is not ready goes while the budget is met, or always
// under AlwaysAllow. The counts are those of a moment ago: evictions go by the status,
// whose every permit takes one from what it allows.
func (b *DisruptionBudget) Evict(n BudgetCounts, p *cluster.Pod) Verdict {
	always := b.Spec.UnhealthyPodEvictionPolicy != nil && *b.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
	switch {
	case p.Deleting || p.Phase == corev1.PodPending || !Active(p):
		return Verdict{Allowed: true, Why: "the pod does not run"}
	case !podReady(p) && always:
		return Verdict{Allowed: true, Why: "the pod is not ready, and the budget lets such pods go"}
	case !podReady(p) && n.Current >= n.Desired && n.Desired > 0:
		return Verdict{Allowed: true, Why: "the pod is not ready, and the budget is met without it"}
	case n.Allowed == 0:
		return Verdict{Why: fmt.Sprintf("budget %s: %s healthy, %d %s wanted: %s waits", b.Name, counted.PodsAre(n.Current), n.Desired, counted.Word(n.Desired, "is", "are"), p.Name)}
	}
	return Verdict{Allowed: true, Record: true, Why: fmt.Sprintf("budget %s allows %d more", b.Name, n.Allowed-1)}
}

// OutsidePods is what a budget covers besides the pods that are seen: pods of other
// workloads, in the view of a caller that watches one.
type OutsidePods struct {
	// Expected adds to how many pods the budget expects, Available to how many of
	// them it counts as available.
	Expected, Available int
}
