package simulate

import (
	"maps"
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// spreadController keeps WorkloadSpreads, runs their controllers, and chooses the subset of each
// new pod as their webhook does.
type spreadController struct {
	*parts

	list []*spreading
}

// spreading is a WorkloadSpread with its controller.
type spreading struct {
	ref    cluster.Ref
	target cluster.Ref
	spread *kruise.WorkloadSpread
	// subsets are those of the object in its newest version.
	subsets []*tree.Node
	wakeup
	// waiting: the controller has looked for its target in vain, and will again.
	waiting bool
}

// How late the controller of a WorkloadSpread is.
const (
	// spreadRetry is when it looks again for a target that was not there; all its
	// pods are by then (recorded in 030).
	spreadRetry = time.Second
	// spreadExpiry is how long a pod that was counted on admission is waited for.
	spreadExpiry = 30 * time.Second
	// spreadWrites is how many times the usual latency its writes to pods take until
	// others see them: the target's controller has chosen by then which pods go
	// (recorded in 003).
	spreadWrites = 3
)

func (c *spreadController) write(ref cluster.Ref, doc *tree.Node) error {
	hub, _, err := kruise.ToHub(doc)
	if err != nil {
		return err
	}
	ws := &kruise.WorkloadSpread{}
	if _, err := kruise.Decode(doc, ws); err != nil {
		return err
	}
	s := c.get(ref)
	if s == nil {
		s = &spreading{ref: ref}
		c.list = append(c.list, s)
		slices.SortFunc(c.list, func(a, b *spreading) int { return compareRefs(a.ref, b.ref) })
	} else {
		ws.Status = s.spread.Status
	}
	s.spread, s.subsets = ws, tree.Items(tree.Get(hub, "spec", "subsets"))
	if t := ws.Spec.TargetReference; t != nil {
		s.target = cluster.Ref{Group: groupOf(t.APIVersion), Kind: t.Kind, Namespace: ref.Namespace, Name: t.Name}
	}
	c.creator.admission = nil // what pods are made from is recreated
	c.clock.wakeAfter(&s.wakeup, c.opt.Latency, func() { c.reconcile(s) })
	return nil
}

func (c *spreadController) get(ref cluster.Ref) *spreading {
	i := slices.IndexFunc(c.list, func(s *spreading) bool { return s.ref == ref })
	if i < 0 {
		return nil
	}
	return c.list[i]
}

// drop forgets a WorkloadSpread; what it has put on pods stays there.
func (c *spreadController) drop(ref cluster.Ref) {
	c.list = slices.DeleteFunc(c.list, func(s *spreading) bool { return s.ref == ref })
}

// targeting finds the WorkloadSpread whose target makes the pods of an object.
func (c *spreadController) targeting(o *object) *spreading {
	for ; o != nil && len(c.list) > 0; o = o.parent {
		if i := slices.IndexFunc(c.list, func(s *spreading) bool { return s.target == o.ref }); i >= 0 {
			return c.list[i]
		}
	}
	return nil
}

// rulesOf is the WorkloadSpread as the rules see it; ok is false without its
// target.
func (c *spreadController) rulesOf(s *spreading) (r rules.Spread, ok bool) {
	o := c.store.objects[s.target]
	if o == nil || o.workload == nil {
		return r, false
	}
	r = rules.Spread{
		Name: s.ref.Name, Spec: &s.spread.Spec, Status: &s.spread.Status, Latest: latestVersion(o),
		Pods: slices.Clone(c.store.podsOf(o)), Now: c.clock.now(),
	}
	var paths []string
	if f := s.spread.Spec.TargetFilter; f != nil {
		paths = f.ReplicasPathList
	}
	n, err := spread.Replicas(o.doc, paths)
	r.Replicas = n
	return r, err == nil
}

// targetChanged has WorkloadSpreads over an object look at once: their limits are
// right before its controller makes pods.
func (c *spreadController) targetChanged(o *object) {
	s := c.targeting(o)
	if s == nil {
		return
	}
	c.clock.wakeAfter(&s.wakeup, 0, func() { c.reconcile(s) })
	if s.waiting {
		s.waiting = false
		c.clock.after(spreadRetry, func() { c.reconcile(s) })
	}
}

// wake has the controller look when a pod that belongs to a subset comes,
// goes or ends; pods of no subset do not wake it (recorded in 002). One that goes
// is counted back at once, as its deletion is seen by the webhook.
func (c *spreadController) wake(e *pod, before, after *cluster.Pod) {
	if len(c.list) == 0 {
		return
	}
	one := after
	if one == nil {
		one = before
	}
	m, ok := spread.ReadMatch(one.Annotations)
	if !ok || before != nil && after != nil && rules.Active(before) == rules.Active(after) {
		return
	}
	s := c.get(cluster.Ref{Group: kruise.Group, Kind: kruise.KindWorkloadSpread, Namespace: e.Namespace, Name: m.Spread})
	if s == nil {
		return
	}
	if before != nil {
		if r, ok := c.rulesOf(s); ok {
			s.spread.Status = *r.Count()
		}
	}
	c.clock.wakeAfter(&s.wakeup, c.opt.Latency, func() { c.reconcile(s) })
}

// reconcile makes one pass of the controller.
func (c *spreadController) reconcile(s *spreading) {
	r, ok := c.rulesOf(s)
	if c.get(s.ref) != s {
		return
	}
	if !ok {
		s.waiting = true
		return
	}
	pass := controller.ReconcileSpread(&controller.SpreadView{
		Spread: r, Subsets: s.subsets, Nodes: c.scheduler.share(), Known: c,
		LeaveMetadata: s.spread.Annotations[kruise.WorkloadSpreadIgnorePatchAnnotation] == "true",
	})
	if pass.Status != nil {
		s.spread.Status = *pass.Status
		c.clock.active = c.clock.at
	}
	c.clock.after(spreadWrites*c.opt.Latency, func() { c.writePods(s, pass.Actions) })
	if pass.RequeueAfter > 0 {
		c.clock.wakeAfter(&s.wakeup, pass.RequeueAfter, func() { c.reconcile(s) })
	}
}

// writePods carries out what a WorkloadSpread's controller does to pods, as far
// as they are still there.
func (c *spreadController) writePods(s *spreading, actions []controller.Action) {
	if c.get(s.ref) != s {
		return
	}
	for _, a := range actions {
		var e *pod
		switch a := a.(type) {
		case controller.PatchPod:
			if e = c.store.podsByUID[a.Pod.UID]; e != nil && !e.Deleting {
				c.recorder.writes++
				c.pods.change(e, a.Change, "")
			}
		case controller.DeletePod:
			if e = c.store.podsByUID[a.Pod.UID]; e != nil {
				_ = c.pods.delete(e, "no node for it in its subset") // a budget that refuses is asked again
			}
		}
	}
}

// MetadataAndSpec is a pod's metadata and spec as far as they are known: those that were
// there before have no spec.
func (c *spreadController) MetadataAndSpec(p *cluster.Pod) *tree.Node {
	out := tree.Map("metadata", tree.Map("labels", stringMap(p.Labels), "annotations", stringMap(p.Annotations)))
	if e := c.store.podsByUID[p.UID]; e != nil && e.prototype != nil {
		tree.Set(out, "spec", tree.FromValue(e.prototype.template["spec"]))
	}
	return out
}

func stringMap(m map[string]string) *tree.Node {
	out := tree.Map()
	for _, k := range slices.Sorted(maps.Keys(m)) {
		tree.Set(out, k, tree.String(m[k]))
	}
	return out
}

// assign has the WorkloadSpread over an object choose a subset for the pod that
// an action makes, and returns what makes pods of that subset.
func (c *spreadController) assign(o *object, made *prototype, a *controller.CreatePod) (*prototype, error) {
	s := c.targeting(o)
	if s == nil {
		return made, nil
	}
	r, ok := c.rulesOf(s)
	if !ok {
		return made, nil
	}
	labels := tree.Strings(tree.Get(tree.FromValue(made.template), "metadata", "labels"))
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, a.Labels)
	choice := r.Choose(&cluster.Pod{Name: a.Name, Labels: labels})
	if choice.Subset == spread.None {
		return made, nil
	}
	if choice.Status != nil {
		s.spread.Status = *choice.Status
		c.clock.after(spreadExpiry, func() { c.reconcile(s) })
	}
	m := spread.Match{Spread: s.ref.Name, Subset: r.Spec.Subsets[choice.Subset].Name}
	out, err := made.in(s, choice.Subset, m)
	if choice.Counted && a.Name == "" && len(a.IDLabels) == 0 {
		m.UID = c.store.newUID() // a CloneSet names its pods by itself
	}
	a.Annotations = maps.Clone(a.Annotations)
	if a.Annotations == nil {
		a.Annotations = map[string]string{}
	}
	a.Annotations[kruise.MatchedWorkloadSpreadAnnotation] = m.String()
	return out, err
}

// subsetKey is a subset of a WorkloadSpread.
type subsetKey struct {
	spread cluster.Ref
	subset int
}

// in is the blueprint of the pods of a subset.
func (b *prototype) in(s *spreading, subset int, m spread.Match) (*prototype, error) {
	key := subsetKey{s.ref, subset}
	if found := b.subsets[key]; found != nil {
		return found, nil
	}
	pod, err := spread.Inject(tree.FromValue(b.template), s.subsets[subset], m)
	if err != nil {
		return nil, err
	}
	template, _ := tree.Value(pod).(map[string]any)
	out := &prototype{PodFactory: b.admission.PodFactory(template), template: template, admission: b.admission}
	if b.subsets == nil {
		b.subsets = map[subsetKey]*prototype{}
	}
	b.subsets[key] = out
	return out, nil
}
