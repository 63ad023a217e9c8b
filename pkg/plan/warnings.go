package plan

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// reviewer adds warnings to a plan.
type reviewer struct{ *builder }

// warn adds what reviewers of the plan should know, in addition to
// [rules.Warnings].
func (b *reviewer) warn() {
	if len(b.plan.Steps) == 0 {
		return
	}
	// Its controller updates no pod, but that of a Deployment, which the plan itself resumes.
	if b.plan.Paused = b.plan.Driver == DriverKruise && rules.PausedOf(b.desired.Object); b.plan.Paused {
		b.warning("%s is paused: its controller updates no pod until it is resumed", title(b.present.Ref))
	}
	b.warnParent()
	b.warnHotUpgrades()
	b.warnHooks()
	b.warnReadinessGates()
	b.warnBudgets()
	b.warnSurge()
	b.warnUnreadGates()
	b.warnPods()
	if n := b.updatedSoFar(); n < b.subject.total && b.subject.order != nil {
		b.warning("the plan ends with %d of %s updated", n, counted.Of(b.subject.total, "pod"))
	}
}

// warnHooks warns of the hooks that the plan assumes to be answered.
func (b *reviewer) warnHooks() {
	l := b.lifecycle()
	if b.plan.HookAnswer == 0 || l == nil {
		return
	}
	inPlace, recreated, held := 0, 0, 0
	for i := range b.plan.Steps {
		for _, s := range b.plan.Steps[i].Pods {
			if s.Mode == rules.ModeInPlace {
				inPlace++
				continue
			}
			recreated++
			if slices.ContainsFunc(b.snap.Pods, func(p *cluster.Pod) bool { return p.Name == s.Name && rules.Hooked(l.PreDelete, p) }) {
				held++
			}
		}
	}
	if l.InPlaceUpdate != nil && inPlace > 0 {
		b.warnHook("inPlaceUpdate", inPlace)
	}
	if held > 0 {
		b.warnHook("preDelete", held)
	}
	if l.PreNormal != nil && recreated > 0 {
		b.warnHook("preNormal", recreated)
	}
}

func (b *reviewer) warnHook(name string, pods int) {
	who := "the hook lifecycle." + name + " holds " + counted.Of(pods, "pod") + " until a program outside Kruise answers"
	if b.plan.HookAnswer < 0 {
		b.warning("%s, and the plan assumes that none does", who)
		return
	}
	b.warning("%s: the plan assumes that it takes %s each time (--hook-answer)", who, b.plan.HookAnswer)
}

// warnReadinessGates counts pods that cannot be handled as the change allows.
func (b *reviewer) warnReadinessGates() {
	if b.modes.gateless > 0 {
		b.warning("%s recreated instead of updated in place: no readiness gate %s", counted.Of(b.modes.gateless, "pod")+" would be", kruise.InPlaceUpdateReady)
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
		b.warning("%s no readiness gate %s: %s in service while %s containers restart", counted.With(without, "pod has", "pods have"), kruise.InPlaceUpdateReady, counted.Word(without, "it stays", "they stay"), counted.Word(without, "its", "their"))
	}
}

// warnPods names what is wrong before anything has begun.
func (b *reviewer) warnPods() {
	var down []string
	for _, p := range b.snap.Members() {
		if rules.Active(p) && !rules.Ready(p) {
			down = append(down, p.Name)
		}
	}
	if n := len(down); n > 0 {
		b.warning("%s not ready before the rollout: %s", counted.PodsAre(n), firstNames(down, 3))
	}
}

// firstNames joins the first names.
func firstNames(names []string, most int) string {
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

// warnParent warns of what the native parent prevents, and of a rollout that only the client can
// continue.
func (b *reviewer) warnParent() {
	if b.plan.Driver == DriverKruise {
		return
	}
	for _, limit := range b.parentLimits() {
		if limit.warning != "" {
			b.warning("%s", limit.warning)
		}
	}
	if b.plan.Driver == DriverClient {
		b.warning("pods change only while this command runs; what is in progress when it stops is finished by rollout resume")
	}
}

// parentName is "a ReplicaSet", and so on.
func (b *reviewer) parentName() string { return "a " + b.present.Kind }

// fieldOfSource is a field of the Kruise object, as a plan names it.
func (b *reviewer) fieldOfSource(field string) string {
	return field + " of " + title(b.snap.Workload.Ref)
}

// parentRecreates reports whether the native parent itself recreates the pods.
func (b *reviewer) parentRecreates() bool {
	return b.plan.Driver == DriverNative && b.templateChanged && b.subject.order != nil
}

// parentLimit is one thing that Kruise would do and the native parent of the pods does not
// (docs/drivers.md). name is that of its row in docs/rollout-reference.md, warning what a plan says
// of it; "" if it does not apply.
type parentLimit struct{ name, warning string }

// parentLimits are the table, those of the driver client first. Each row has been seen
// on a real API server with Kubernetes' own controllers (test/e2e/rollout).
func (b *reviewer) parentLimits() []parentLimit {
	return []parentLimit{
		{"template", parentTemplate(b)},
		{"history", parentHistory(b)},
		{"surge", parentSurge(b)},
		{"ordered", parentOrdered(b)},
		{"hooks", parentHooks(b)},
		{"scale down", parentScaleDown(b)},
		{"in place", parentInPlace(b)},
		{"order", parentOrder(b)},
		{"stop", parentStop(b)},
		{"one at a time", parentOneByOne(b)},
		{"budgets", parentBudgets(b)},
	}
}

func parentTemplate(b *reviewer) string {
	switch {
	case b.plan.Driver != DriverClient:
		return ""
	case b.present.Kind == kruise.KindReplicaSet:
		return "a ReplicaSet cannot surge, and makes pods from its present template only: a pod that is lost in the middle comes back new"
	}
	return b.parentName() + " with OnDelete makes pods from its present template only: one that is lost in the middle comes back new"
}

func parentHistory(b *reviewer) string {
	n := 0
	for _, p := range b.snap.Pods {
		if rules.Active(p) && b.modes.hasUnknownTemplate(p) {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("a ReplicaSet keeps no history: %s on an unknown template, and would be recreated", counted.PodsAre(n))
}

func parentSurge(b *reviewer) string {
	if b.plan.Driver != DriverClient || !kindOf(b.sourceObject()).surges() {
		return ""
	}
	return fmt.Sprintf("%s is not kept: pods beyond the replicas would be taken away again, so that capacity falls by maxUnavailable", b.fieldOfSource("maxSurge"))
}

func parentOrdered(b *reviewer) string {
	o, ok := b.desired.Object.(*appsv1.StatefulSet)
	if !ok || b.plan.Driver != DriverClient || b.plan.Change.Mode != rules.ModeRecreate || b.subject.limits.MaxUnavailable < 2 || o.Spec.PodManagementPolicy == appsv1.ParallelPodManagement {
		return ""
	}
	return "an OrderedReady StatefulSet makes missing pods one at a time, the lowest first: one that does not become ready keeps the others from coming back"
}

func parentHooks(b *reviewer) string {
	l := cluster.Of(b.sourceObject()).Lifecycle()
	switch {
	case l == nil || l.PreDelete == nil && l.InPlaceUpdate == nil && l.PreNormal == nil:
		return ""
	case b.plan.Driver == DriverNative:
		return fmt.Sprintf("%s is not kept: %s deletes pods without asking", b.fieldOfSource("lifecycle"), b.parentName())
	}
	return fmt.Sprintf("%s is kept by this command alone: a pod that %s or a user deletes waits for no hook", b.fieldOfSource("lifecycle"), b.parentName())
}

func parentScaleDown(b *reviewer) string {
	from, _ := cluster.Of(b.present.Object).Replicas()
	to, _ := cluster.Of(b.desired.Object).Replicas()
	o, ok := b.sourceObject().(*kruise.CloneSet)
	if !ok || to >= from {
		return ""
	}
	text := "which pods go when it shrinks is up to " + b.parentName() + ": no controller reads the label " + kruise.SpecifiedDeleteLabel
	if names := o.Spec.ScaleStrategy.PodsToDelete; len(names) > 0 {
		text += fmt.Sprintf(", nor that %s should go (podsToDelete)", firstNames(names, 3))
	}
	return text
}

func parentInPlace(b *reviewer) string {
	policy := rules.PolicyOf(b.sourceObject())
	if !b.parentRecreates() || policy == rules.PolicyRecreate {
		return ""
	}
	return fmt.Sprintf("%s recreates every pod: %s is not kept", b.parentName(), b.fieldOfSource("the update policy "+string(policy)))
}

func parentOrder(b *reviewer) string {
	if !b.parentRecreates() {
		return ""
	}
	fields := kindOf(b.sourceObject()).ordering()
	if len(fields) == 0 {
		return ""
	}
	return fmt.Sprintf("which pods go first is up to %s: %s is not kept", b.parentName(), b.fieldOfSource(strings.Join(fields, " and ")))
}

// setFields are those of two fields that are set.
func setFields(a string, hasA bool, b string, hasB bool) (out []string) {
	if hasA {
		out = append(out, a)
	}
	if hasB {
		out = append(out, b)
	}
	return out
}

func parentStop(b *reviewer) string {
	if !b.subject.approximate || len(b.policy.Steps) < 2 {
		return ""
	}
	l := b.subject.limits
	return fmt.Sprintf("a Deployment cannot stop at a number of pods: it is paused once enough are updated, by when up to %d more may be", l.MaxSurge+l.MaxUnavailable)
}

func parentOneByOne(b *reviewer) string {
	o, ok := b.desired.Object.(*appsv1.StatefulSet)
	if !ok || b.plan.Driver != DriverNative || b.severalAtOnce() {
		return ""
	}
	asked := 0
	if r := o.Spec.UpdateStrategy.RollingUpdate; r != nil && r.MaxUnavailable != nil {
		whole := rules.NativeStatefulSet{Spec: &o.Spec, MaxUnavailable: true}
		asked = whole.Budget()
	}
	if k, ok := b.sourceObject().(*kruise.StatefulSet); ok {
		asked = max(asked, rules.LimitsOfStatefulSet(&k.Spec).MaxUnavailable)
	}
	if asked < 2 {
		return ""
	}
	return fmt.Sprintf("a StatefulSet updates one pod at a time, not %d, unless the API server has the gate MaxUnavailableStatefulSet on: it drops maxUnavailable", asked)
}

func parentBudgets(b *reviewer) string {
	if !b.parentRecreates() || len(b.snap.Disruptions) == 0 {
		return ""
	}
	var names []string
	for _, budget := range b.snap.Disruptions {
		names = append(names, budget.Name)
	}
	return fmt.Sprintf("%s deletes pods without asking PodDisruptionBudgets: %s is not heard", b.parentName(), firstNames(names, 3))
}
