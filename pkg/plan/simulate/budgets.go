package simulate

import (
	"fmt"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/selectors"
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
	factory     *podFactory
	kubelet     *kubelet
	guards      []*guard
	disruptions []*disruption
	// covering finds the guards of a pod by namespace; nil after the guards have changed,
	// until their tallies are needed again.
	covering map[string]*guardIndex
}

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

// disruption is a PodDisruptionBudget.
type disruption struct {
	turn
	budget *policyv1.PodDisruptionBudget
	beyond rules.Beyond
}

func (bg *budgets) writeGuard(doc *tree.Node) error {
	b := &kruise.PodUnavailableBudget{}
	if _, err := kruise.Decode(doc, b); err != nil {
		return err
	}
	kruise.Default(b)
	bg.factory.admission = nil
	for _, g := range bg.guards {
		if g.budget.Name == b.Name && g.budget.Namespace == b.Namespace {
			b.Generation, b.Status = g.budget.Generation+1, g.budget.Status
			g.budget, g.rendered = b, false
			bg.weighAll()
			bg.wake()
			return nil
		}
	}
	b.Generation = max(b.Generation, 1)
	bg.guards = append(bg.guards, &guard{budget: b})
	bg.weighAll()
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
	bg.disruptions = append(bg.disruptions, &disruption{budget: b})
	bg.wake()
	return bg.writeRendered(b)
}

// writeRendered keeps the PodUnavailableBudget that a PodDisruptionBudget was rendered
// from, unless that itself is there.
func (bg *budgets) writeRendered(d *policyv1.PodDisruptionBudget) error {
	b, err := controller.Rendered(d)
	if b == nil || err != nil || slices.ContainsFunc(bg.guards, func(g *guard) bool { return g.budget.Name == b.Name && g.budget.Namespace == b.Namespace }) {
		return err
	}
	b.Generation = max(b.Generation, 1)
	bg.guards = append(bg.guards, &guard{budget: b, rendered: true})
	bg.weighAll()
	bg.wake()
	return nil
}

func (bg *budgets) drop(ref cluster.Ref) {
	bg.factory.admission = nil
	bg.guards = slices.DeleteFunc(bg.guards, func(g *guard) bool {
		of := ref.Kind == kruise.KindPodUnavailableBudget || g.rendered && ref.Kind == "PodDisruptionBudget"
		return of && g.budget.Name == ref.Name && g.budget.Namespace == ref.Namespace
	})
	bg.weighAll()
	bg.disruptions = slices.DeleteFunc(bg.disruptions, func(d *disruption) bool {
		return ref.Kind == "PodDisruptionBudget" && d.budget.Name == ref.Name && d.budget.Namespace == ref.Namespace
	})
}

func (bg *budgets) add(s plan.Snapshot) {
	namespace := s.Workload.Namespace
	for _, b := range s.Budgets {
		budget := &kruise.PodUnavailableBudget{}
		budget.Name, budget.Namespace, budget.Spec = b.Name, namespace, *b.Spec
		bg.guards = append(bg.guards, &guard{budget: budget, beyond: b.Beyond, rendered: b.Rendered})
	}
	for _, b := range s.Disruptions {
		bg.disruptions = append(bg.disruptions, disruptionOf(b, namespace))
	}
}

// disruptionOf is an object for a budget that is known by its rules.
func disruptionOf(b *rules.DisruptionBudget, namespace string) *disruption {
	budget := &policyv1.PodDisruptionBudget{}
	budget.Name, budget.Namespace, budget.Spec = b.Name, namespace, *b.Spec
	return &disruption{budget: budget, beyond: b.Beyond}
}

func (bg *budgets) countAll() {
	bg.weighAll()
	for _, g := range bg.guards {
		bg.countGuard(g)
	}
	for _, d := range bg.disruptions {
		bg.countDisruption(d)
	}
}

// wake has the controllers of the budgets count again.
func (bg *budgets) wake() {
	late := bg.opt.latency(len(bg.store.all.now))
	for _, g := range bg.guards {
		bg.clock.wakeAfter(&g.turn, late, func() { bg.countGuard(g) })
	}
	for _, d := range bg.disruptions {
		bg.clock.wakeAfter(&d.turn, late, func() { bg.countDisruption(d) })
	}
}

func (bg *budgets) countGuard(g *guard) {
	pass := controller.ReconcileBudget(bg.guardView(g))
	if pass.Status != nil {
		bg.setGuard(g, pass.Status)
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
		bg.clock.wakeAfter(&g.turn, pass.Again, func() { bg.countGuard(g) })
	}
}

func (bg *budgets) setGuard(g *guard, status *kruise.PodUnavailableBudgetStatus) {
	next := *g.budget
	next.Status = *status
	g.budget = &next
	bg.store.version++
}

func (bg *budgets) countDisruption(d *disruption) {
	status, again := controller.ReconcileEvictions(bg.disruptionView(d))
	if status != nil {
		bg.setDisruption(d, status)
	}
	if again > 0 {
		bg.clock.wakeAfter(&d.turn, again, func() { bg.countDisruption(d) })
	}
}

func (bg *budgets) setDisruption(d *disruption, status *policyv1.PodDisruptionBudgetStatus) {
	next := *d.budget
	next.Status = *status
	d.budget = &next
	bg.store.version++
}

func (bg *budgets) guardView(g *guard) *controller.BudgetView {
	bg.tallyAll()
	v := bg.weighingView(g)
	v.Pods = bg.store.podsIn(g.budget.Namespace)
	return v
}

// weighingView is the view without the pods of the namespace.
func (bg *budgets) weighingView(g *guard) *controller.BudgetView {
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

func (bg *budgets) disruptionView(d *disruption) *controller.EvictionView {
	return &controller.EvictionView{Now: bg.clock.now(), Budget: d.budget, Pods: bg.store.podsIn(d.budget.Namespace), Workloads: bg.store.workloadOf, Beyond: d.beyond}
}

// permit asks the pod's PodUnavailableBudget, and keeps what it says on record.
func (bg *budgets) permit(e *pod, op kruise.PubOperation, harmless bool) error {
	if len(bg.guards) == 0 {
		return nil
	}
	g := bg.guardOf(e.Pod)
	var view *controller.BudgetView
	if g != nil {
		view = bg.guardView(g)
	}
	verdict, status := view.Decide(rules.Request{Pod: e.Pod, Operation: op, Harmless: harmless})
	if status != nil {
		bg.setGuard(g, status)
		bg.wake()
	}
	if !verdict.Allowed {
		return fmt.Errorf("pod %s: %w: %s", e.Name, plan.ErrRefused, verdict.Why)
	}
	return nil
}

// guardOf returns the budget whose name the pod carries.
func (bg *budgets) guardOf(p *cluster.Pod) *guard {
	name := p.Annotations[kruise.RelatedBudgetAnnotation]
	if name == "" {
		name = p.Annotations[kruise.RelatedBudgetOlderAnnotation]
	}
	for _, g := range bg.guards {
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
func (d *disruption) covers(p *cluster.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(d.budget.Spec.Selector)
	return err == nil && d.budget.Namespace == p.Namespace && selector.Matches(labels.Set(p.Labels))
}

// weight is what a pod adds to the tally of one guard.
type weight struct {
	guard *guard
	is    controller.Weight
}

// weigh keeps the tallies of the guards up to date with one pod.
func (bg *budgets) weigh(e *pod) {
	if bg.covering == nil {
		return // tallyAll weighs all pods
	}
	var now []weight
	for _, g := range bg.covering[e.Namespace].candidates(e.Pod, bg.store) {
		if is := bg.weighingView(g).Weigh(e.Pod); is.Covered {
			now = append(now, weight{g, is})
		}
	}
	if slices.Equal(now, e.weights) {
		return
	}
	bg.unweigh(e)
	for _, w := range now {
		w.guard.tally.Add(w.is, 1)
	}
	e.weights = now
}

// unweigh takes a pod out of the tallies.
func (bg *budgets) unweigh(e *pod) {
	for _, w := range e.weights {
		w.guard.tally.Add(w.is, -1)
	}
	e.weights = nil
}

// weighAll has the tallies made again when they are needed: guards come one by one when a
// state is loaded.
func (bg *budgets) weighAll() {
	bg.covering = nil
	for _, e := range bg.store.all.pods {
		e.weights = nil
	}
}

// tallyAll weighs all pods if that is due.
func (bg *budgets) tallyAll() {
	if bg.covering != nil {
		return
	}
	inNamespace := map[string][]*guard{}
	for _, g := range bg.guards {
		namespace := g.budget.Namespace
		inNamespace[namespace] = append(inNamespace[namespace], g)
		g.tally = controller.Tally{Pod: func(name string) *cluster.Pod {
			if e := bg.store.podsByName[podName{namespace, name}]; e != nil {
				return e.Pod
			}
			return nil
		}}
	}
	bg.covering = make(map[string]*guardIndex, len(inNamespace))
	for namespace, guards := range inNamespace {
		bg.covering[namespace] = newGuardIndex(guards)
	}
	for _, e := range bg.store.all.pods {
		e.weights = nil
		bg.weigh(e)
	}
}

// guardIndex finds the guards of a namespace that may cover a pod, without asking each.
type guardIndex struct {
	guards   []*guard
	labelled *selectors.Index
	// targets has the places of guards with a target, by the name of the target and by the
	// label of what it was rendered to.
	targets map[string][]int
}

// fewGuards are asked one by one sooner than an index is.
const fewGuards = 4

func (x *guardIndex) all() []*guard {
	if x == nil {
		return nil
	}
	return x.guards
}

func newGuardIndex(guards []*guard) *guardIndex {
	x := &guardIndex{guards: guards, targets: map[string][]int{}}
	if len(guards) <= fewGuards {
		return x
	}
	list := make([]labels.Selector, len(guards))
	for i, g := range guards {
		if t := g.budget.Spec.TargetReference; t != nil {
			x.targets[t.Name] = append(x.targets[t.Name], i)
			source := kruise.SourceValue(t.Kind, t.Name)
			x.targets[source] = append(x.targets[source], i)
			continue
		}
		if s := g.budget.Spec.Selector; s != nil {
			list[i], _ = metav1.LabelSelectorAsSelector(s) // one that cannot be read covers nothing
		}
	}
	x.labelled = selectors.NewIndex(list)
	return x
}

// candidates are the guards that may cover the pod, in their order.
func (x *guardIndex) candidates(p *cluster.Pod, s *store) []*guard {
	if x == nil || x.labelled == nil {
		return x.all()
	}
	places := x.labelled.Candidates(p.Labels)
	if len(x.targets) > 0 && p.Owner.Kind != "" {
		if w := s.workloadOf(p.Namespace, p.Owner); w != nil {
			places = slices.Concat(places, x.targets[w.Name], x.targets[w.Labels[kruise.SourceLabel]])
			slices.Sort(places)
			places = slices.Compact(places)
		}
	}
	out := make([]*guard, len(places))
	for i, place := range places {
		out[i] = x.guards[place]
	}
	return out
}
