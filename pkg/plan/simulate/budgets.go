package simulate

import (
	"fmt"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// budgets keeps PodUnavailableBudgets and PodDisruptionBudgets, runs their controllers, and
// answers their webhooks.
type budgets struct {
	opt         *Options
	clock       *clock
	store       *store
	pods        *podRegistry
	creator     *podCreator
	kubelet     *kubelet
	unavailable []*unavailableBudget
	disruptions []*disruptionBudget
}

// unavailableBudget is a PodUnavailableBudget, with its status as written last.
type unavailableBudget struct {
	wakeup
	budget *kruise.PodUnavailableBudget
	tally  controller.Tally
	// beyond is what it covers outside of the world.
	beyond rules.Beyond
	// rendered is one that is kept in an annotation of its PodDisruptionBudget: there is
	// no webhook for it, and only those who look ask it.
	rendered bool
}

// disruptionBudget is a PodDisruptionBudget.
type disruptionBudget struct {
	wakeup
	budget *policyv1.PodDisruptionBudget
	beyond rules.Beyond
}

func (bg *budgets) writeUnavailable(doc *tree.Node) error {
	b := &kruise.PodUnavailableBudget{}
	if _, err := kruise.Decode(doc, b); err != nil {
		return err
	}
	kruise.Default(b)
	bg.creator.admission = nil
	for _, g := range bg.unavailable {
		if g.budget.Name == b.Name && g.budget.Namespace == b.Namespace {
			b.Generation, b.Status = g.budget.Generation+1, g.budget.Status
			g.budget, g.rendered = b, false
			bg.tallyAll()
			bg.wake()
			return nil
		}
	}
	b.Generation = max(b.Generation, 1)
	bg.unavailable = append(bg.unavailable, &unavailableBudget{budget: b})
	bg.tallyAll()
	bg.wake()
	return nil
}

func (bg *budgets) writeDisruption(doc *tree.Node) error {
	b := &policyv1.PodDisruptionBudget{}
	if _, err := tree.Decode(doc, b); err != nil {
		return err
	}
	for _, d := range bg.disruptions {
		if d.budget.Name == b.Name && d.budget.Namespace == b.Namespace {
			b.Generation, b.Status = d.budget.Generation+1, d.budget.Status
			d.budget = b
			bg.wake()
			return nil
		}
	}
	b.Generation = max(b.Generation, 1)
	bg.disruptions = append(bg.disruptions, &disruptionBudget{budget: b})
	bg.wake()
	return bg.writeRendered(b)
}

// writeRendered keeps the PodUnavailableBudget that a PodDisruptionBudget was rendered
// from, unless that itself is there.
func (bg *budgets) writeRendered(d *policyv1.PodDisruptionBudget) error {
	b, err := controller.Rendered(d)
	if b == nil || err != nil || slices.ContainsFunc(bg.unavailable, func(g *unavailableBudget) bool { return g.budget.Name == b.Name && g.budget.Namespace == b.Namespace }) {
		return err
	}
	b.Generation = max(b.Generation, 1)
	bg.unavailable = append(bg.unavailable, &unavailableBudget{budget: b, rendered: true})
	bg.tallyAll()
	bg.wake()
	return nil
}

func (bg *budgets) drop(ref cluster.Ref) {
	bg.creator.admission = nil
	bg.unavailable = slices.DeleteFunc(bg.unavailable, func(g *unavailableBudget) bool {
		of := ref.Kind == kruise.KindPodUnavailableBudget || g.rendered && ref.Kind == "PodDisruptionBudget"
		return of && g.budget.Name == ref.Name && g.budget.Namespace == ref.Namespace
	})
	bg.tallyAll()
	bg.disruptions = slices.DeleteFunc(bg.disruptions, func(d *disruptionBudget) bool {
		return ref.Kind == "PodDisruptionBudget" && d.budget.Name == ref.Name && d.budget.Namespace == ref.Namespace
	})
}

func (bg *budgets) add(s plan.Snapshot) {
	namespace := s.Workload.Namespace
	for _, b := range s.Budgets {
		budget := &kruise.PodUnavailableBudget{}
		budget.Name, budget.Namespace, budget.Spec = b.Name, namespace, *b.Spec
		bg.unavailable = append(bg.unavailable, &unavailableBudget{budget: budget, beyond: b.Beyond, rendered: b.Rendered})
	}
	for _, b := range s.Disruptions {
		bg.disruptions = append(bg.disruptions, disruptionOf(b, namespace))
	}
}

// disruptionOf is an object for a budget that is known by its rules.
func disruptionOf(b *rules.DisruptionBudget, namespace string) *disruptionBudget {
	budget := &policyv1.PodDisruptionBudget{}
	budget.Name, budget.Namespace, budget.Spec = b.Name, namespace, *b.Spec
	return &disruptionBudget{budget: budget, beyond: b.Beyond}
}

func (bg *budgets) reconcileAll() {
	bg.tallyAll()
	for _, g := range bg.unavailable {
		bg.reconcileUnavailable(g)
	}
	for _, d := range bg.disruptions {
		bg.reconcileDisruption(d)
	}
}

// wake has the controllers of the budgets count again.
func (bg *budgets) wake() {
	late := bg.opt.latency(len(bg.store.all.now))
	for _, g := range bg.unavailable {
		bg.clock.wakeAfter(&g.wakeup, late, func() { bg.reconcileUnavailable(g) })
	}
	for _, d := range bg.disruptions {
		bg.clock.wakeAfter(&d.wakeup, late, func() { bg.reconcileDisruption(d) })
	}
}

func (bg *budgets) reconcileUnavailable(g *unavailableBudget) {
	pass := controller.ReconcileBudget(bg.unavailableView(g))
	if pass.Status != nil {
		bg.setUnavailable(g, pass.Status)
	}
	name := g.budget.Name
	if g.rendered {
		pass.Relate = nil
	}
	for _, p := range pass.Relate {
		if e := bg.store.podsByUID[p.UID]; e != nil {
			bg.pods.change(e, cluster.PodChange{Annotations: map[string]*string{
				kruise.RelatedBudgetAnnotation: &name, kruise.RelatedBudgetOlderAnnotation: &name,
			}}, "")
		}
	}
	if pass.Again > 0 {
		bg.clock.wakeAfter(&g.wakeup, pass.Again, func() { bg.reconcileUnavailable(g) })
	}
}

func (bg *budgets) setUnavailable(g *unavailableBudget, status *kruise.PodUnavailableBudgetStatus) {
	next := *g.budget
	next.Status = *status
	g.budget = &next
	bg.store.version++
}

func (bg *budgets) reconcileDisruption(d *disruptionBudget) {
	status, again := controller.ReconcileEvictions(bg.disruptionView(d))
	if status != nil {
		bg.setDisruption(d, status)
	}
	if again > 0 {
		bg.clock.wakeAfter(&d.wakeup, again, func() { bg.reconcileDisruption(d) })
	}
}

func (bg *budgets) setDisruption(d *disruptionBudget, status *policyv1.PodDisruptionBudgetStatus) {
	next := *d.budget
	next.Status = *status
	d.budget = &next
	bg.store.version++
}

func (bg *budgets) unavailableView(g *unavailableBudget) *controller.BudgetView {
	v := &controller.BudgetView{
		Now: bg.clock.now(), Budget: g.budget, Pods: bg.store.podsIn(g.budget.Namespace), Workloads: bg.store.workloadOf, Reports: bg.kubelet.reports, Beyond: g.beyond,
	}
	for _, set := range bg.store.sets {
		v.SidecarSets = append(v.SidecarSets, set.workload)
	}
	if len(bg.store.sets) == 0 {
		v.Tally = &g.tally
	}
	return v
}

func (bg *budgets) disruptionView(d *disruptionBudget) *controller.EvictionView {
	return &controller.EvictionView{Now: bg.clock.now(), Budget: d.budget, Pods: bg.store.podsIn(d.budget.Namespace), Workloads: bg.store.workloadOf, Beyond: d.beyond}
}

// permit asks the pod's PodUnavailableBudget, and records the answer.
func (bg *budgets) permit(e *pod, op kruise.PubOperation, harmless bool) error {
	if len(bg.unavailable) == 0 {
		return nil
	}
	g := bg.relatedBudget(e.Pod)
	var view *controller.BudgetView
	if g != nil {
		view = bg.unavailableView(g)
	}
	verdict, status := view.Decide(rules.Request{Pod: e.Pod, Operation: op, Harmless: harmless})
	if status != nil {
		bg.setUnavailable(g, status)
		bg.wake()
	}
	if !verdict.Allowed {
		return fmt.Errorf("pod %s: %w: %s", e.Name, plan.ErrRefused, verdict.Why)
	}
	return nil
}

// relatedBudget returns the budget whose name the pod carries.
func (bg *budgets) relatedBudget(p *cluster.Pod) *unavailableBudget {
	name := p.Annotations[kruise.RelatedBudgetAnnotation]
	if name == "" {
		name = p.Annotations[kruise.RelatedBudgetOlderAnnotation]
	}
	for _, g := range bg.unavailable {
		if name != "" && !g.rendered && g.budget.Name == name && g.budget.Namespace == p.Namespace {
			return g
		}
	}
	return nil
}

// admitEviction asks the budgets of both kinds.
func (bg *budgets) admitEviction(e *pod) error {
	if err := bg.permit(e, kruise.PubEvictOperation, false); err != nil {
		return err
	}
	for _, d := range bg.disruptions {
		if !d.covers(e.Pod) {
			continue
		}
		verdict, status := bg.disruptionView(d).Evict(e.Pod)
		if status != nil {
			bg.setDisruption(d, status)
		}
		if !verdict.Allowed {
			return fmt.Errorf("pod %s: %w: %s", e.Name, plan.ErrRefused, verdict.Why)
		}
	}
	return nil
}

// covers reports whether evictions of the pod are the budget's business.
func (d *disruptionBudget) covers(p *cluster.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(d.budget.Spec.Selector)
	return err == nil && d.budget.Namespace == p.Namespace && selector.Matches(labels.Set(p.Labels))
}

// tally keeps the tallies of the budgets up to date with one pod.
func (bg *budgets) tally(e *pod) {
	if len(bg.unavailable) == 0 {
		return
	}
	if len(e.weights) != len(bg.unavailable) {
		e.weights = make([]controller.Weight, len(bg.unavailable))
	}
	for i, g := range bg.unavailable {
		now := bg.unavailableView(g).Weigh(e.Pod)
		if now != e.weights[i] {
			g.tally.Add(e.weights[i], -1)
			g.tally.Add(now, 1)
			e.weights[i] = now
		}
	}
}

// untally takes a pod out of the tallies.
func (bg *budgets) untally(e *pod) {
	for i, g := range bg.unavailable {
		if i < len(e.weights) {
			g.tally.Add(e.weights[i], -1)
		}
	}
	e.weights = nil
}

// tallyAll rebuilds the tallies.
func (bg *budgets) tallyAll() {
	for _, g := range bg.unavailable {
		namespace := g.budget.Namespace
		g.tally = controller.Tally{Pod: func(name string) *cluster.Pod {
			if e := bg.store.podsByName[podName{namespace, name}]; e != nil {
				return e.Pod
			}
			return nil
		}}
	}
	for _, e := range bg.store.all.pods {
		e.weights = nil
		bg.tally(e)
	}
}
