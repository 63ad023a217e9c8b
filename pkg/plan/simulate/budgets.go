package simulate

import (
	"fmt"
	"maps"
	"slices"
	"time"

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
	*parts

	unavailable guards[*kruise.PodUnavailableBudget, rules.Budget]
	disruptions guards[*policyv1.PodDisruptionBudget, rules.DisruptionBudget]
	// tallied is whether the budgets are indexed, and all pods weighed; not after the budgets have
	// changed, until that is needed again.
	tallied bool
	// changes counts changes of pods, and of what nodes report of them.
	changes uint64
	// allDue is until when each budget is counted again, 0 where that is not known.
	allDue time.Duration
	// reported is what nodes report, as snapshots show it.
	reported answerAt[map[string]rules.NodeReport]
}

// guards are the budgets of one kind.
type guards[B metav1.Object, R any] struct {
	list []*guard[B, R]
	// index finds the budgets of a pod by namespace.
	index map[string]budgetIndex[B, R]
}

// guard is a budget of either kind, with its status as written last.
type guard[B metav1.Object, R any] struct {
	wakeup
	// budget is replaced with each change, but the maps of its status are changed in place
	// when a permit is recorded: only the spec of one that was replaced may be read.
	budget B
	// tally is of a PodUnavailableBudget.
	tally   controller.Tally
	members members
	// beyond is what it covers outside of the world.
	beyond rules.OutsidePods
	// rendered is a PodUnavailableBudget that is kept in an annotation of its PodDisruptionBudget:
	// there is no webhook for it, and only those who look ask it.
	rendered bool
	// known is the budget as snapshots show it.
	known answerAt[*R]
}

type (
	unavailableBudget = guard[*kruise.PodUnavailableBudget, rules.Budget]
	disruptionBudget  = guard[*policyv1.PodDisruptionBudget, rules.DisruptionBudget]
)

// covers returns the selector of the budget, or its target.
func (g *guard[B, R]) covers() (*metav1.LabelSelector, *kruise.TargetReference) {
	switch b := any(g.budget).(type) {
	case *kruise.PodUnavailableBudget:
		return b.Spec.Selector, b.Spec.TargetReference
	case *policyv1.PodDisruptionBudget:
		return b.Spec.Selector, nil
	}
	return nil, nil
}

// find returns the budget of a name, nil for none.
func (l *guards[B, R]) find(namespace, name string) *guard[B, R] {
	for _, g := range l.list {
		if g.budget.GetName() == name && g.budget.GetNamespace() == namespace {
			return g
		}
	}
	return nil
}

func (l *guards[B, R]) add(b B) *guard[B, R] {
	b.SetGeneration(max(b.GetGeneration(), 1))
	g := &guard[B, R]{budget: b}
	l.list = append(l.list, g)
	return g
}

func (l *guards[B, R]) drop(ref cluster.Ref, of func(*guard[B, R]) bool) {
	l.list = slices.DeleteFunc(l.list, func(g *guard[B, R]) bool {
		return of(g) && g.budget.GetName() == ref.Name && g.budget.GetNamespace() == ref.Namespace
	})
}

// wake has the controller of each budget count again.
func (l *guards[B, R]) wake(c *clock, late time.Duration, reconcile func(*guard[B, R])) {
	for _, g := range l.list {
		c.wakeAfter(&g.wakeup, late, func() { reconcile(g) })
	}
}

// answerAt is an answer that holds as long as nothing changes that it depends on.
type answerAt[T any] struct {
	moment budgetMoment
	given  bool
	answer T
}

// get returns the answer, which is worked out again when that is due.
func (a *answerAt[T]) get(now budgetMoment, ask func() T) T {
	if !a.given || a.moment != now {
		*a = answerAt[T]{moment: now, given: true, answer: ask()}
	}
	return a.answer
}

// budgetMoment is what the rules of a budget depend on: the object, all pods and what is reported of
// them, other objects, and the time.
type budgetMoment struct {
	budget                  any
	changes, moves, version uint64
	at                      time.Duration
}

func (bg *budgets) moment(budget any) budgetMoment {
	return budgetMoment{budget: budget, changes: bg.changes, moves: bg.store.moves, version: bg.store.version, at: bg.clock.at}
}

func (bg *budgets) writeUnavailable(doc *tree.Node) error {
	b := &kruise.PodUnavailableBudget{}
	if _, err := kruise.Decode(doc, b); err != nil {
		return err
	}
	kruise.Default(b)
	bg.creator.admission = nil
	if g := bg.unavailable.find(b.Namespace, b.Name); g != nil {
		b.Generation, b.Status = g.budget.Generation+1, g.budget.Status
		g.budget, g.rendered = b, false
	} else {
		bg.unavailable.add(b)
	}
	bg.changed()
	return nil
}

func (bg *budgets) writeDisruption(doc *tree.Node) error {
	b := &policyv1.PodDisruptionBudget{}
	if _, err := tree.Decode(doc, b); err != nil {
		return err
	}
	if d := bg.disruptions.find(b.Namespace, b.Name); d != nil {
		b.Generation, b.Status = d.budget.Generation+1, d.budget.Status
		d.budget = b
		bg.changed()
		return nil
	}
	bg.disruptions.add(b)
	bg.changed()
	// Keep the PodUnavailableBudget that it was rendered from, unless that itself is there.
	rendered, err := controller.Rendered(b)
	if rendered == nil || err != nil || bg.unavailable.find(rendered.Namespace, rendered.Name) != nil {
		return err
	}
	bg.unavailable.add(rendered).rendered = true
	bg.changed()
	return nil
}

// changed notes that the budgets are not those any more that were tallied.
func (bg *budgets) changed() {
	bg.tallyLater()
	bg.wake()
}

func (bg *budgets) drop(ref cluster.Ref) {
	bg.creator.admission = nil
	bg.unavailable.drop(ref, func(g *unavailableBudget) bool {
		return ref.Kind == kruise.KindPodUnavailableBudget || g.rendered && ref.Kind == "PodDisruptionBudget"
	})
	bg.disruptions.drop(ref, func(*disruptionBudget) bool { return ref.Kind == "PodDisruptionBudget" })
	bg.tallyLater()
}

func (bg *budgets) add(s plan.Snapshot) {
	at := metav1.ObjectMeta{Namespace: s.Workload.Namespace}
	for _, b := range s.Budgets {
		at.Name = b.Name
		budget := &kruise.PodUnavailableBudget{ObjectMeta: at, Spec: *b.Spec}
		bg.unavailable.list = append(bg.unavailable.list, &unavailableBudget{budget: budget, beyond: b.Beyond, rendered: b.Rendered})
	}
	for _, b := range s.Disruptions {
		at.Name = b.Name
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: at, Spec: *b.Spec}
		bg.disruptions.list = append(bg.disruptions.list, &disruptionBudget{budget: budget, beyond: b.Beyond})
	}
	bg.tallyLater()
}

// wake has the controllers of the budgets count again.
func (bg *budgets) wake() {
	late := bg.opt.latency(len(bg.store.all.now))
	due := bg.clock.at + late
	if bg.allDue > 0 && bg.allDue <= due {
		return
	}
	bg.unavailable.wake(bg.clock, late, bg.reconcileUnavailable)
	bg.disruptions.wake(bg.clock, late, bg.reconcileDisruption)
	bg.allDue = due
}

func (bg *budgets) reconcileUnavailable(g *unavailableBudget) {
	bg.allDue = 0 // this one is due no longer
	bg.tallyAll()
	view := bg.weighingView(g)
	if view.NeedsPods() {
		view.Pods = bg.unavailable.pods(g, bg.store)
	}
	pass := controller.ReconcileBudget(view)
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
	if pass.RequeueAfter > 0 {
		bg.clock.wakeAfter(&g.wakeup, pass.RequeueAfter, func() { bg.reconcileUnavailable(g) })
	}
}

func (bg *budgets) setUnavailable(g *unavailableBudget, status *kruise.PodUnavailableBudgetStatus) {
	next := *g.budget
	next.Status = *status
	g.budget = &next
	bg.store.version++
}

func (bg *budgets) reconcileDisruption(d *disruptionBudget) {
	bg.allDue = 0 // this one is due no longer
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
	bg.tallyAll()
	v := bg.weighingView(g)
	v.Pods = bg.unavailable.pods(g, bg.store)
	return v
}

// weighingView is the view without the pods of the namespace.
func (bg *budgets) weighingView(g *unavailableBudget) *controller.BudgetView {
	v := &controller.BudgetView{
		Now: bg.clock.now(), Budget: g.budget, Workloads: bg.store.workloadOf, Reports: bg.kubelet.reports, Beyond: g.beyond,
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
	bg.tallyAll()
	return &controller.EvictionView{Now: bg.clock.now(), Budget: d.budget, Pods: bg.disruptions.pods(d, bg.store), Workloads: bg.store.workloadOf, Beyond: d.beyond}
}

// permit asks the pod's PodUnavailableBudget, and records the answer.
func (bg *budgets) permit(e *pod, op kruise.PubOperation, harmless bool) error {
	if len(bg.unavailable.list) == 0 {
		return nil
	}
	g := bg.relatedBudget(e.Pod)
	var view *controller.BudgetView
	if g != nil {
		view = bg.weighingView(g)
	}
	verdict, permit := view.Decide(rules.Request{Pod: e.Pod, Operation: op, Harmless: harmless})
	if permit != nil {
		status := g.budget.Status
		permit.Record(&status)
		bg.setUnavailable(g, &status)
		bg.wake()
	}
	if !verdict.Allowed {
		return fmt.Errorf("pod %s: %w: %s", e.Name, plan.ErrRefused, verdict.Why)
	}
	return nil
}

// relatedBudget returns the budget whose name the pod carries.
func (bg *budgets) relatedBudget(p *cluster.Pod) *unavailableBudget {
	if g := bg.unavailable.find(p.Namespace, p.RelatedBudget()); g != nil && !g.rendered {
		return g
	}
	return nil
}

// admitEviction asks the budgets of both kinds.
func (bg *budgets) admitEviction(e *pod) error {
	if err := bg.permit(e, kruise.PubEvictOperation, false); err != nil {
		return err
	}
	for _, d := range bg.disruptions.list {
		if !protects(d.budget, e.Pod) {
			continue
		}
		verdict, permit := bg.disruptionView(d).Evict(e.Pod)
		if permit != nil {
			status := d.budget.Status
			permit.RecordEviction(&status)
			bg.setDisruption(d, &status)
		}
		if !verdict.Allowed {
			return fmt.Errorf("pod %s: %w: %s", e.Name, plan.ErrRefused, verdict.Why)
		}
	}
	return nil
}

// protects reports whether evictions of the pod are the budget's business.
func protects(b *policyv1.PodDisruptionBudget, p *cluster.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && b.Namespace == p.Namespace && selector.Matches(labels.Set(p.Labels))
}

// weight is what a pod adds to the tally of one budget.
type weight struct {
	budget *unavailableBudget
	is     controller.Weight
}

// tally keeps the tallies of the budgets up to date with one pod.
func (bg *budgets) tally(e *pod) {
	bg.changes++
	if !bg.tallied {
		return // tallyAll weighs all pods
	}
	var now []weight
	candidates := bg.unavailable.index[e.Namespace].candidates(bg.store, e.Pod)
	bg.enroll(e, candidates)
	for _, g := range candidates {
		if is := bg.weighingView(g).Weigh(e.Pod); is.Covered {
			now = append(now, weight{g, is})
		}
	}
	if slices.Equal(now, e.weights) {
		return
	}
	bg.untally(e)
	for _, w := range now {
		w.budget.tally.Add(w.is, 1)
	}
	e.weights = now
}

// untally takes a pod out of the tallies.
func (bg *budgets) untally(e *pod) {
	bg.changes++
	for _, w := range e.weights {
		w.budget.tally.Add(w.is, -1)
	}
	e.weights = nil
}

// tallyLater has the tallies made again when they are needed: budgets come one by one when a
// state is loaded.
func (bg *budgets) tallyLater() {
	bg.tallied, bg.allDue = false, 0
	bg.changes++
}

// tallyAll weighs all pods if that is due.
func (bg *budgets) tallyAll() {
	if bg.tallied {
		return
	}
	bg.tallied = true
	bg.unavailable.makeIndex()
	bg.disruptions.makeIndex()
	for _, g := range bg.unavailable.list {
		g.tally = controller.Tally{Pods: bg.store, Namespace: g.budget.Namespace}
	}
	for _, e := range bg.store.all.pods {
		e.weights, e.memberOf = nil, nil
		bg.tally(e)
	}
}

// shown returns the budgets that cover one of the pods of an object, as its snapshot shows them.
// Each budget is asked once, whatever the number of objects, as long as nothing changes.
func (bg *budgets) shown(o *object) (unavailable []*rules.Budget, disruptions []*rules.DisruptionBudget) {
	kruises, natives := bg.unavailable.list, bg.disruptions.list
	if len(kruises)+len(natives) > 0 && o.ref.Kind != kruise.KindSidecarSet {
		bg.tallyAll()
		list := bg.store.podsOf(o)
		kruises = bg.unavailable.index[o.ref.Namespace].candidates(bg.store, list...)
		natives = bg.disruptions.index[o.ref.Namespace].candidates(bg.store, list...)
	}
	for _, g := range kruises {
		b := *g.known.get(bg.moment(g.budget), func() *rules.Budget {
			view := bg.unavailableView(g)
			view.Reports = bg.reported.get(bg.moment(nil), func() map[string]rules.NodeReport { return maps.Clone(view.Reports) })
			b := view.Rules()
			b.Rendered = g.rendered
			return b
		})
		if bg.store.concerns(o, b.Pods) {
			unavailable = append(unavailable, &b)
		}
	}
	for _, d := range natives {
		b := *d.known.get(bg.moment(d.budget), func() *rules.DisruptionBudget {
			return bg.disruptionView(d).Rules()
		})
		if bg.store.concerns(o, b.Pods) {
			disruptions = append(disruptions, &b)
		}
	}
	return unavailable, disruptions
}
