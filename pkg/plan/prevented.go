package plan

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// prevented is one thing that Kruise would do and the native parent of the pods does
// not let happen (docs/drivers.md): who reviews a plan is told where it applies.
type prevented struct {
	// name is that of its row in docs/rollout.md.
	name string
	// said is what a plan says; "" where it does not apply.
	said func(*builder) string
}

// preventions are the table, those of the driver client first. Each row has been seen
// on a real API server with Kubernetes' own controllers (test/e2e/rollout).
var preventions = []prevented{
	{"template", parentTemplate},
	{"history", parentHistory},
	{"surge", parentSurge},
	{"ordered", parentOrdered},
	{"hooks", parentHooks},
	{"scale down", parentScaleDown},
	{"in place", parentRecreates},
	{"order", parentOrder},
	{"stop", parentStop},
	{"one at a time", parentOneByOne},
	{"budgets", parentBudgets},
}

// warnParent says what the native parent prevents, and what becomes of a rollout that
// only the client carries on.
func (b *builder) warnParent() {
	if b.plan.Driver == DriverKruise {
		return
	}
	for _, row := range preventions {
		if text := row.said(b); text != "" {
			b.warning("%s", text)
		}
	}
	if b.plan.Driver == DriverClient {
		b.warning("pods change only while this command runs; what is in progress when it stops is finished by rollout resume")
	}
}

// kruised is the Kruise object that the native one stands for; nil for none.
func (b *builder) kruised() any { return carried(b.snap) }

// parent is "a ReplicaSet", and so on.
func (b *builder) parent() string { return "a " + b.present.Kind }

// own is a field of the Kruise object, as a plan names it.
func (b *builder) own(field string) string { return field + " of " + title(b.snap.Workload.Ref) }

// replaces reports whether the native parent itself makes the pods anew.
func (b *builder) replaces() bool {
	return b.plan.Driver == DriverNative && b.changed && b.sub.take != nil
}

func parentTemplate(b *builder) string {
	switch {
	case b.plan.Driver != DriverClient:
		return ""
	case b.present.Kind == kruise.KindReplicaSet:
		return "a ReplicaSet cannot surge, and makes pods from its present template only: a pod that is lost in the middle comes back new"
	}
	return b.parent() + " with OnDelete makes pods from its present template only: one that is lost in the middle comes back new"
}

func parentHistory(b *builder) string {
	n := 0
	for _, p := range b.snap.Pods {
		if b.modes.lost != nil && rules.Active(p) && b.modes.lost(p) {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("a ReplicaSet keeps no history: %s on an unknown template, and would be recreated", plural(n, "pod")+isAre(n))
}

// stranger reports a pod of a ReplicaSet that names a template which is neither the one
// before this rollout, nor the one after, nor the one on record.
func (b *builder) stranger(p *cluster.Pod) bool {
	mark, c := rules.RevisionOf(p), b.plan.Change
	return mark != "" && mark != c.ToHash && (mark != c.FromHash || c.FromHash == c.ToHash) && !onRecord(b.snap, mark)
}

func parentSurge(b *builder) string {
	if b.plan.Driver != DriverClient || !kindOf(b.kruised()).surges() {
		return ""
	}
	return fmt.Sprintf("%s is not kept: pods beyond the replicas would be taken away again, so that capacity falls by maxUnavailable", b.own("maxSurge"))
}

func parentOrdered(b *builder) string {
	o, ok := b.desired.Object.(*appsv1.StatefulSet)
	if !ok || b.plan.Driver != DriverClient || b.plan.Change.Mode != rules.ModeRecreate || b.sub.limits.MaxUnavailable < 2 || o.Spec.PodManagementPolicy == appsv1.ParallelPodManagement {
		return ""
	}
	return "an OrderedReady StatefulSet makes missing pods one at a time, the lowest first: one that does not become ready keeps the others from coming back"
}

func parentHooks(b *builder) string {
	l := cluster.Of(b.kruised()).Lifecycle()
	switch {
	case l == nil || l.PreDelete == nil && l.InPlaceUpdate == nil && l.PreNormal == nil:
		return ""
	case b.plan.Driver == DriverNative:
		return fmt.Sprintf("%s is not kept: %s deletes pods without asking", b.own("lifecycle"), b.parent())
	}
	return fmt.Sprintf("%s is kept by this command alone: a pod that %s or a user deletes waits for no hook", b.own("lifecycle"), b.parent())
}

func parentScaleDown(b *builder) string {
	from, _ := replicasOf(b.present.Object)
	to, _ := replicasOf(b.desired.Object)
	o, ok := b.kruised().(*kruise.CloneSet)
	if !ok || to >= from {
		return ""
	}
	text := "which pods go when it shrinks is up to " + b.parent() + ": no controller reads the label " + kruise.SpecifiedDeleteLabel
	if names := o.Spec.ScaleStrategy.PodsToDelete; len(names) > 0 {
		text += fmt.Sprintf(", nor that %s should go (podsToDelete)", some(names, 3))
	}
	return text
}

func parentRecreates(b *builder) string {
	policy := rules.PolicyOf(b.kruised())
	if !b.replaces() || policy == rules.PolicyRecreate {
		return ""
	}
	return fmt.Sprintf("%s recreates every pod: %s is not kept", b.parent(), b.own("the update policy "+string(policy)))
}

func parentOrder(b *builder) string {
	if !b.replaces() {
		return ""
	}
	fields := kindOf(b.kruised()).ordering()
	if len(fields) == 0 {
		return ""
	}
	return fmt.Sprintf("which pods go first is up to %s: %s is not kept", b.parent(), b.own(strings.Join(fields, " and ")))
}

// names are those of two fields that are set.
func names(a string, hasA bool, b string, hasB bool) (out []string) {
	if hasA {
		out = append(out, a)
	}
	if hasB {
		out = append(out, b)
	}
	return out
}

func parentStop(b *builder) string {
	if !b.sub.approximate || len(b.policy.Steps) < 2 {
		return ""
	}
	l := b.sub.limits
	return fmt.Sprintf("a Deployment cannot stop at a number of pods: it is paused once enough are updated, by when up to %d more may be", l.MaxSurge+l.MaxUnavailable)
}

func parentOneByOne(b *builder) string {
	o, ok := b.desired.Object.(*appsv1.StatefulSet)
	if !ok || b.plan.Driver != DriverNative || b.severalAtOnce() {
		return ""
	}
	asked := 0
	if r := o.Spec.UpdateStrategy.RollingUpdate; r != nil && r.MaxUnavailable != nil {
		whole := rules.NativeStatefulSet{Spec: &o.Spec, MaxUnavailable: true}
		asked = whole.Budget()
	}
	if k, ok := b.kruised().(*kruise.StatefulSet); ok {
		asked = max(asked, rules.LimitsOfStatefulSet(&k.Spec).MaxUnavailable)
	}
	if asked < 2 {
		return ""
	}
	return fmt.Sprintf("a StatefulSet updates one pod at a time, not %d, unless the API server has the gate MaxUnavailableStatefulSet on: it drops maxUnavailable", asked)
}

// severalAtOnce reports whether the API server heeds the maxUnavailable of a StatefulSet:
// where it does not it keeps none.
func (b *builder) severalAtOnce() bool {
	o, ok := b.present.Object.(*appsv1.StatefulSet)
	kept := ok && o.Spec.UpdateStrategy.RollingUpdate != nil && o.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable != nil
	return kept || b.snap.Gates.MaxUnavailableStatefulSet
}

func parentBudgets(b *builder) string {
	if !b.replaces() || len(b.snap.Disruptions) == 0 {
		return ""
	}
	var names []string
	for _, budget := range b.snap.Disruptions {
		names = append(names, budget.Name)
	}
	return fmt.Sprintf("%s deletes pods without asking PodDisruptionBudgets: %s is not heard", b.parent(), some(names, 3))
}
