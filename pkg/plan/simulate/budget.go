package simulate

import (
	"fmt"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// guard is a PodUnavailableBudget, with its status as written last.
type guard struct {
	turn
	budget *kruise.PodUnavailableBudget
	tally  controller.Tally
	// beyond is what it covers outside of the world.
	beyond rules.Beyond
	// rendered is one that stands in an annotation of its PodDisruptionBudget: there is
	// no webhook for it, and only those who look ask it.
	rendered bool
}

// writeRendered keeps the PodUnavailableBudget that a PodDisruptionBudget was rendered
// from, unless that itself is there.
func (w *World) writeRendered(d *policyv1.PodDisruptionBudget) error {
	b, err := controller.Rendered(d)
	if b == nil || err != nil || slices.ContainsFunc(w.guards, func(g *guard) bool { return g.budget.Name == b.Name && g.budget.Namespace == b.Namespace }) {
		return err
	}
	b.Generation = max(b.Generation, 1)
	w.guards = append(w.guards, &guard{budget: b, rendered: true})
	w.weighAll()
	w.wakeBudgets()
	return nil
}

// disruption is a PodDisruptionBudget.
type disruption struct {
	turn
	budget *policyv1.PodDisruptionBudget
	beyond rules.Beyond
}

// covers reports whether evictions of the pod are the budget's business.
func (d *disruption) covers(p *cluster.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(d.budget.Spec.Selector)
	return err == nil && d.budget.Namespace == p.Namespace && selector.Matches(labels.Set(p.Labels))
}

// wakeBudgets has the controllers of the budgets count again.
func (w *World) wakeBudgets() {
	late := w.latency(len(w.all.now))
	for _, g := range w.guards {
		w.look(&g.turn, late, func() { w.countGuard(g) })
	}
	for _, d := range w.disruptions {
		w.look(&d.turn, late, func() { w.countDisruption(d) })
	}
}

func (w *World) countGuard(g *guard) {
	pass := controller.ReconcileBudget(w.guardView(g))
	if pass.Status != nil {
		w.setGuard(g, pass.Status)
	}
	name := g.budget.Name
	if g.rendered {
		pass.Relate = nil
	}
	for _, p := range pass.Relate {
		if e := w.pods[p.UID]; e != nil {
			w.change(e, cluster.PodChange{Annotations: map[string]*string{
				kruise.RelatedBudgetAnnotation: &name, kruise.RelatedBudgetOlderAnnotation: &name,
			}}, "")
		}
	}
	if pass.Again > 0 {
		w.look(&g.turn, pass.Again, func() { w.countGuard(g) })
	}
}

func (w *World) setGuard(g *guard, status *kruise.PodUnavailableBudgetStatus) {
	next := *g.budget
	next.Status = *status
	g.budget = &next
	w.version++
}

func (w *World) countDisruption(d *disruption) {
	status, again := controller.ReconcileEvictions(w.disruptionView(d))
	if status != nil {
		w.setDisruption(d, status)
	}
	if again > 0 {
		w.look(&d.turn, again, func() { w.countDisruption(d) })
	}
}

func (w *World) setDisruption(d *disruption, status *policyv1.PodDisruptionBudgetStatus) {
	next := *d.budget
	next.Status = *status
	d.budget = &next
	w.version++
}

func (w *World) guardView(g *guard) *controller.BudgetView {
	v := &controller.BudgetView{
		Now: w.now(), Budget: g.budget, Pods: w.podsIn(g.budget.Namespace), Workloads: w.workload, Reports: w.reports, Beyond: g.beyond,
	}
	for _, set := range w.sets {
		v.SidecarSets = append(v.SidecarSets, set.workload)
	}
	if len(w.sets) == 0 {
		v.Tally = &g.tally
	}
	return v
}

func (w *World) disruptionView(d *disruption) *controller.EvictionView {
	return &controller.EvictionView{Now: w.now(), Budget: d.budget, Pods: w.podsIn(d.budget.Namespace), Workloads: w.workload, Beyond: d.beyond}
}

// podsIn are the pods of a namespace, in a list that must not be kept.
func (w *World) podsIn(namespace string) []*cluster.Pod {
	if len(w.namespaces) <= 1 {
		return w.all.now
	}
	var out []*cluster.Pod
	for _, p := range w.all.now {
		if p.Namespace == namespace {
			out = append(out, p)
		}
	}
	return out
}

// guardOf returns the budget whose name the pod carries.
func (w *World) guardOf(p *cluster.Pod) *guard {
	name := p.Annotations[kruise.RelatedBudgetAnnotation]
	if name == "" {
		name = p.Annotations[kruise.RelatedBudgetOlderAnnotation]
	}
	for _, g := range w.guards {
		if name != "" && !g.rendered && g.budget.Name == name && g.budget.Namespace == p.Namespace {
			return g
		}
	}
	return nil
}

// permit asks the pod's PodUnavailableBudget, and keeps what it says on record.
func (w *World) permit(e *pod, op kruise.PubOperation, harmless bool) error {
	if len(w.guards) == 0 {
		return nil
	}
	g := w.guardOf(e.Pod)
	var view *controller.BudgetView
	if g != nil {
		view = w.guardView(g)
	}
	verdict, status := view.Decide(rules.Request{Pod: e.Pod, Operation: op, Harmless: harmless})
	if status != nil {
		w.setGuard(g, status)
		w.wakeBudgets()
	}
	if !verdict.Allowed {
		return fmt.Errorf("pod %s: %w: %s", e.Name, plan.ErrRefused, verdict.Why)
	}
	return nil
}

// admitUpdate is the webhook that sees every update of a pod's spec and metadata.
func (w *World) admitUpdate(e *pod, c cluster.PodChange) error {
	if !w.opt.GuardUpdates || empty(c) {
		return nil
	}
	return w.permit(e, kruise.PubUpdateOperation, controller.Harmless(e.Pod, e.With(c, w.now())))
}

// admitEviction asks the budgets of both kinds.
func (w *World) admitEviction(e *pod) error {
	if err := w.permit(e, kruise.PubEvictOperation, false); err != nil {
		return err
	}
	for _, d := range w.disruptions {
		if !d.covers(e.Pod) {
			continue
		}
		verdict, status := w.disruptionView(d).Evict(e.Pod)
		if status != nil {
			w.setDisruption(d, status)
		}
		if !verdict.Allowed {
			return fmt.Errorf("pod %s: %w: %s", e.Name, plan.ErrRefused, verdict.Why)
		}
	}
	return nil
}

// disruptionOf is an object for a budget that is known by its rules.
func disruptionOf(b *rules.DisruptionBudget, namespace string) *disruption {
	budget := &policyv1.PodDisruptionBudget{}
	budget.Name, budget.Namespace, budget.Spec = b.Name, namespace, *b.Spec
	return &disruption{budget: budget, beyond: b.Beyond}
}
