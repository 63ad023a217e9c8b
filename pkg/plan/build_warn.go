package plan

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// warn adds what whoever reviews the plan should know, beside the remarks of
// [rules.Remarks].
func (b *builder) warn() {
	if len(b.plan.Steps) == 0 {
		return
	}
	b.warnPaused()
	b.warnParent()
	b.warnHot()
	b.warnHooks()
	b.warnGates()
	b.warnBudgets()
	b.warnUnread()
	b.warnPods()
	if n := b.reached(); n < b.sub.total && b.sub.take != nil {
		b.warning("the plan ends with %d of %d pods updated", n, b.sub.total)
	}
}

// warnPaused says that the controller updates no pod. A Deployment is resumed by the plan
// itself.
func (b *builder) warnPaused() {
	if b.plan.Paused = b.plan.Driver == DriverKruise && rules.PausedOf(b.desired.Object); b.plan.Paused {
		b.warning("%s is paused: its controller updates no pod until it is resumed", title(b.present.Ref))
	}
}

// warnGates counts pods that cannot be handled as the change allows.
func (b *builder) warnGates() {
	if b.modes.gateless > 0 {
		b.warning("%s recreated instead of updated in place: no readiness gate %s", plural(b.modes.gateless, "pod")+" would be", kruise.InPlaceUpdateReady)
	}
	if b.plan.Change.Mode != rules.ModeInPlace || b.present.Kind == kruise.KindSidecarSet || b.plan.Driver != DriverKruise {
		return
	}
	without := 0
	for _, p := range b.snap.Pods {
		if rules.Active(p) && !rules.HasInPlaceGate(p) {
			without++
		}
	}
	if without > 0 {
		b.warning("%d pods have no readiness gate %s: they stay in service while their containers restart", without, kruise.InPlaceUpdateReady)
	}
}

// warnBudgets names budgets that allow nothing, and those that slow things down.
func (b *builder) warnBudgets() {
	asked := !b.updatesInPlace() || b.snap.asked(b.plan.Driver, kruise.PubUpdateOperation)
	for _, budget := range b.snap.heeded(b.plan.Driver) {
		switch n := budget.Counts(); {
		case n.Desired == 0:
		case !asked && n.Allowed == 0:
			b.warning("PodUnavailableBudget %s allows no pod to go, and Kruise does not ask it before an update in place: %s is off", budget.Name, updateGate)
		case !asked:
		case never(n):
			b.warning("PodUnavailableBudget %s never allows a pod to go: it wants %d of %d available", budget.Name, n.Desired, n.Expected)
		case n.Allowed == 0:
			b.warning("PodUnavailableBudget %s allows no pod to go now: %d are available, %d are wanted", budget.Name, n.Current, n.Desired)
		case n.Expected-n.Desired < b.sub.limits.MaxUnavailable:
			b.warning("PodUnavailableBudget %s allows %s, fewer than maxUnavailable %d: it sets the pace", budget.Name, plural(n.Expected-n.Desired, "unavailable pod"), b.sub.limits.MaxUnavailable)
		}
	}
	if b.plan.Driver != DriverClient {
		return
	}
	for _, budget := range b.snap.Disruptions {
		if n := budget.Counts(); n.Allowed == 0 && b.plan.Change.Mode == rules.ModeRecreate {
			b.warning("PodDisruptionBudget %s allows no eviction now: %d pods are healthy, %d are wanted", budget.Name, n.Current, n.Desired)
		}
	}
}

// warnPods names what is wrong before anything has begun.
func (b *builder) warnPods() {
	var down []string
	for _, p := range b.snap.Members() {
		if rules.Active(p) && !rules.Ready(p) {
			down = append(down, p.Name)
		}
	}
	if n := len(down); n > 0 {
		b.warning("%s not ready before the rollout: %s", plural(n, "pod")+isAre(n), some(down, 3))
	}
}

// never reports whether a budget wants all its pods available, so that it lets none go.
func never(n rules.BudgetCounts) bool {
	return n.Allowed == 0 && n.Desired != 0 && n.Desired >= n.Expected
}

func isAre(n int) string {
	if n == 1 {
		return " is"
	}
	return " are"
}

// some joins the first names.
func some(names []string, most int) string {
	out := ""
	for i, name := range names {
		if i == most {
			return fmt.Sprintf("%s and %d more", out, len(names)-most)
		}
		if i > 0 {
			out += ", "
		}
		out += name
	}
	return out
}

func sameSelector(a, b *metav1.LabelSelector) bool { return reflect.DeepEqual(a, b) }
