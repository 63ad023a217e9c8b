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
	opt         *Options
	clock       *clock
	store       *store
	pods        *podRegistry
	creator     *podCreator
	kubelet     *kubelet
	unavailable []*unavailableBudget
	disruptions []*disruptionBudget
	// covering finds the budgets of a pod by namespace; nil after the budgets have changed,
	// until their tallies are needed again.
	covering map[string]*budgetIndex[*unavailableBudget]
	// protecting finds the PodDisruptionBudgets of a pod by namespace; nil after they have changed.
	protecting map[string]*budgetIndex[*disruptionBudget]
	// changes counts changes of pods, and of what nodes report of them.
	changes uint64
	// allDue is until when each budget is counted again, 0 where that is not known.
	allDue time.Duration
	// reported is what nodes report, as snapshots show it.
	reported answerAt[map[string]rules.NodeReport]
}

// unavailableBudget is a PodUnavailableBudget, with its status as written last.
type unavailableBudget struct {
	wakeup
	// budget is replaced with each change, but the maps of its status are changed in place
	// when a permit is recorded: only the spec of one that was replaced may be read.
	budget  *kruise.PodUnavailableBudget
	tally   controller.Tally
	members members
	// count has its controller look.
	count func()
	// beyond is what it covers outside of the world.
	beyond rules.OutsidePods
	// rendered is one that is kept in an annotation of its PodDisruptionBudget: there is
	// no webhook for it, and only those who look ask it.
	rendered bool
	// known is the budget as snapshots show it.
	known answerAt[*rules.Budget]
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

// disruptionBudget is a PodDisruptionBudget.
type disruptionBudget struct {
	wakeup
	// budget is replaced with each change, as that of [unavailableBudget].
	budget  *policyv1.PodDisruptionBudget
	members members
	// count has its controller look.
	count  func()
	beyond rules.OutsidePods
	// known is the budget as snapshots show it.
	known answerAt[*rules.DisruptionBudget]
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
			bg.tallyLater()
			bg.wake()
			return nil
		}
	}
	b.Generation = max(b.Generation, 1)
	bg.unavailable = append(bg.unavailable, &unavailableBudget{budget: b})
	bg.tallyLater()
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
			d.budget, bg.protecting = b, nil
			bg.wake()
			return nil
		}
	}
	b.Generation = max(b.Generation, 1)
	bg.disruptions, bg.protecting = append(bg.disruptions, &disruptionBudget{budget: b}), nil
	bg.allDue = 0
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
	bg.tallyLater()
	bg.wake()
	return nil
}

func (bg *budgets) drop(ref cluster.Ref) {
	bg.creator.admission = nil
	bg.unavailable = slices.DeleteFunc(bg.unavailable, func(g *unavailableBudget) bool {
		of := ref.Kind == kruise.KindPodUnavailableBudget || g.rendered && ref.Kind == "PodDisruptionBudget"
		return of && g.budget.Name == ref.Name && g.budget.Namespace == ref.Namespace
	})
	bg.tallyLater()
	bg.protecting = nil
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
	bg.protecting = nil
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
	bg.tallyLater()
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
	due := bg.clock.at + late
	if bg.allDue > 0 && bg.allDue <= due {
		return
	}
	for _, g := range bg.unavailable {
		if g.count == nil {
			g.count = func() { bg.reconcileUnavailable(g) }
		}
		bg.clock.wakeAfter(&g.wakeup, late, g.count)
	}
	for _, d := range bg.disruptions {
		if d.count == nil {
			d.count = func() { bg.reconcileDisruption(d) }
		}
		bg.clock.wakeAfter(&d.wakeup, late, d.count)
	}
	bg.allDue = due
}

func (bg *budgets) reconcileUnavailable(g *unavailableBudget) {
	bg.allDue = 0 // this one is due no longer
	bg.tallyAll()
	view := bg.weighingView(g)
	if view.NeedsPods() {
		view.Pods = bg.podsUnder(g)
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
	v.Pods = bg.podsUnder(g)
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
	return &controller.EvictionView{Now: bg.clock.now(), Budget: d.budget, Pods: bg.podsProtectedBy(d), Workloads: bg.store.workloadOf, Beyond: d.beyond}
}

// permit asks the pod's PodUnavailableBudget, and records the answer.
func (bg *budgets) permit(e *pod, op kruise.PubOperation, harmless bool) error {
	if len(bg.unavailable) == 0 {
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

// covers reports whether evictions of the pod are the budget's business.
func (d *disruptionBudget) covers(p *cluster.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(d.budget.Spec.Selector)
	return err == nil && d.budget.Namespace == p.Namespace && selector.Matches(labels.Set(p.Labels))
}

// weight is what a pod adds to the tally of one budget.
type weight struct {
	budget *unavailableBudget
	is     controller.Weight
}

// tally keeps the tallies of the budgets up to date with one pod.
func (bg *budgets) tally(e *pod) {
	bg.changes++
	if bg.covering == nil {
		return // tallyAll weighs all pods
	}
	var now []weight
	candidates := bg.covering[e.Namespace].candidates(e.Pod, bg.store)
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
	bg.covering, bg.allDue = nil, 0
	bg.changes++
}

// tallyAll weighs all pods if that is due.
func (bg *budgets) tallyAll() {
	if bg.covering != nil && bg.protecting != nil {
		return
	}
	bg.indexDisruptions()
	inNamespace := map[string][]*unavailableBudget{}
	for _, g := range bg.unavailable {
		namespace := g.budget.Namespace
		inNamespace[namespace] = append(inNamespace[namespace], g)
		g.members = members{}
		g.tally = controller.Tally{Pod: func(name string) *cluster.Pod {
			if e := bg.store.podsByName[podName{namespace, name}]; e != nil {
				return e.Pod
			}
			return nil
		}}
	}
	bg.covering = make(map[string]*budgetIndex[*unavailableBudget], len(inNamespace))
	for namespace, budgets := range inNamespace {
		bg.covering[namespace] = newBudgetIndex(budgets, func(g *unavailableBudget) (*metav1.LabelSelector, *kruise.TargetReference) {
			return g.budget.Spec.Selector, g.budget.Spec.TargetReference
		})
	}
	for _, e := range bg.store.all.pods {
		e.weights, e.memberOf = nil, nil
		bg.tally(e)
	}
}

// budgetIndex finds the budgets of a namespace that may cover a pod, without asking each.
type budgetIndex[B any] struct {
	budgets  []B
	labelled *kruise.SelectorIndex
	// targets has the places of budgets with a target, by the name of the target and by the
	// label of what it was rendered to.
	targets map[string][]int
}

// fewBudgets are asked one by one sooner than an index is.
const fewBudgets = 4

// isMany reports whether there are so many budgets that an index is asked first.
func (x *budgetIndex[B]) isMany() bool { return x != nil && x.labelled != nil }

func (x *budgetIndex[B]) all() []B {
	if x == nil {
		return nil
	}
	return x.budgets
}

func newBudgetIndex[B any](budgets []B, covers func(B) (*metav1.LabelSelector, *kruise.TargetReference)) *budgetIndex[B] {
	x := &budgetIndex[B]{budgets: budgets, targets: map[string][]int{}}
	if len(budgets) <= fewBudgets {
		return x
	}
	list := make([]labels.Selector, len(budgets))
	for i, g := range budgets {
		s, t := covers(g)
		if t != nil {
			x.targets[t.Name] = append(x.targets[t.Name], i)
			source := kruise.SourceValue(t.Kind, t.Name)
			x.targets[source] = append(x.targets[source], i)
			continue
		}
		if s != nil {
			list[i], _ = metav1.LabelSelectorAsSelector(s) // one that cannot be read covers nothing
		}
	}
	x.labelled = kruise.NewSelectorIndex(list)
	return x
}

// candidates are the budgets that may cover the pod, in their order.
func (x *budgetIndex[B]) candidates(p *cluster.Pod, s *store) []B {
	if !x.isMany() {
		return x.all()
	}
	places := x.places(p, s)
	out := make([]B, len(places))
	for i, place := range places {
		out[i] = x.budgets[place]
	}
	return out
}

// candidatesOfAny are the budgets that may cover one of the pods, in their order.
func (x *budgetIndex[B]) candidatesOfAny(list []*cluster.Pod, s *store) []B {
	if !x.isMany() {
		return x.all()
	}
	found := make([]bool, len(x.budgets))
	left := len(found)
	for _, p := range list {
		if left == 0 {
			break
		}
		for _, place := range x.places(p, s) {
			if !found[place] {
				found[place] = true
				left--
			}
		}
	}
	var out []B
	for place, is := range found {
		if is {
			out = append(out, x.budgets[place])
		}
	}
	return out
}

// places are those of the candidates for a pod.
func (x *budgetIndex[B]) places(p *cluster.Pod, s *store) []int {
	places := x.labelled.Candidates(p.Labels)
	if len(x.targets) > 0 && p.Owner.Kind != "" {
		if w := s.workloadOf(p.Namespace, p.Owner); w != nil {
			places = slices.Concat(places, x.targets[w.Name], x.targets[w.Labels[kruise.SourceLabel]])
			slices.Sort(places)
			places = slices.Compact(places)
		}
	}
	return places
}

// shown returns the budgets that cover one of the pods of an object, as its snapshot shows them.
// Each budget is asked once, whatever the number of objects, as long as nothing changes.
func (bg *budgets) shown(o *object) (unavailable []*rules.Budget, disruptions []*rules.DisruptionBudget) {
	kruises, natives := bg.concerning(o)
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

// concerning are the budgets that cover one of the pods of an object, and maybe others.
func (bg *budgets) concerning(o *object) ([]*unavailableBudget, []*disruptionBudget) {
	if len(bg.unavailable)+len(bg.disruptions) == 0 || o.ref.Kind == kruise.KindSidecarSet {
		return bg.unavailable, bg.disruptions
	}
	bg.tallyAll()
	list := bg.store.podsOf(o)
	return bg.covering[o.ref.Namespace].candidatesOfAny(list, bg.store), bg.protecting[o.ref.Namespace].candidatesOfAny(list, bg.store)
}

// indexDisruptions files the PodDisruptionBudgets.
func (bg *budgets) indexDisruptions() {
	inNamespace := map[string][]*disruptionBudget{}
	for _, d := range bg.disruptions {
		inNamespace[d.budget.Namespace] = append(inNamespace[d.budget.Namespace], d)
		d.members = members{}
	}
	bg.protecting = make(map[string]*budgetIndex[*disruptionBudget], len(inNamespace))
	for namespace, budgets := range inNamespace {
		bg.protecting[namespace] = newBudgetIndex(budgets, func(d *disruptionBudget) (*metav1.LabelSelector, *kruise.TargetReference) {
			return d.budget.Spec.Selector, nil
		})
	}
}
