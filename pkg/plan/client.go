package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// client is one step of the driver client: what Kruise's controllers would do now
// with the step's number of pods.
type client struct {
	*run
	step *Step
	// revision is the new one, by the name that pods carry.
	revision string
	spec     kruiseSpec
	budgets  *budgetTracker
	// withRestarts is the snapshot as budgets see it, see [rollout.withPendingRestarts].
	withRestarts *Snapshot
	// actions are what is done now, texts the same in words.
	actions []Action
	texts   []string
	blocked []Blocker
	// until is when the next grace period is over.
	until time.Time
}

// updatePods updates pods until the step's number is reached. Started updates are
// finished first, as the pods themselves show; then further pods are chosen
// by the rules of the Kruise object, within all budgets.
func (r *run) updatePods(s *Step) (Decision, bool) {
	counted := r.withPendingRestarts()
	c := &client{run: r, step: s, revision: r.revision(), spec: clientSpecOf(*r.snap, r.object()), budgets: newBudgetTracker(counted), withRestarts: counted}
	if c.revision == "" {
		return r.waitOrTimeOut(s, Blocker{Gate: GateTemplate, Why: "the controller has not named the revision of the new template yet"}), false
	}
	c.finishStarted()
	if !r.progress.Promoted && c.spec != nil {
		picked, why := c.spec.nextPods(c)
		for _, p := range picked {
			c.advance(p)
		}
		if len(c.actions) == 0 && why != "" {
			c.blocked = append(c.blocked, Blocker{Gate: GateMaxUnavailable, Why: why})
		}
	}
	if len(c.actions) > 0 {
		return r.act(strings.Join(c.texts, "; "), c.actions...), false
	}
	missing := r.missing(s)
	if len(missing) == 0 || r.progress.Promoted {
		return Decision{}, true
	}
	if bad := append(r.failures(), r.health().overdue...); len(bad) > 0 {
		return r.halt(bad...), false
	}
	d := r.waitOrTimeOut(s, slices.Concat(c.blocked, r.health().waiting, missing)...)
	if d.Verb == Wait {
		d.Until = earliest(earliest(d.Until, c.until), r.nextAvailable())
	}
	return d, false
}

// withPendingRestarts is the snapshot with every pod unready whose containers are about to
// restart, those of a sidecar's exchange included, and as budgets see them: from the write on that
// requests it, although the node has not seen it yet and the pod is still ready in its status.
// With Kruise the readiness gate does that, in the same write
// (docs/kruise/workloads.md#steps-on-the-pod).
func (r *rollout) withPendingRestarts() *Snapshot {
	s := *r.snap
	s.Pods = slices.Clone(s.Pods)
	down := map[string]*cluster.Pod{}
	unready := cluster.PodChange{Conditions: []cluster.Condition{cluster.SetTo(string(corev1.PodReady), corev1.ConditionFalse, "StartInPlaceUpdate", "")}}
	for i, p := range s.Pods {
		record, _ := rules.InPlaceRecordOf(p)
		restarts := record.UpdateImages || record.UpdateEnvFromMetadata
		changing := restarts && !rules.InPlacePending(p, s.report(p)).Done() || len(pendingExchanges(r.object().Template, p)) > 0
		if changing && rules.Active(p) {
			s.Pods[i] = p.With(unready, r.now)
			down[p.UID] = s.Pods[i]
		}
	}
	s.Budgets, s.Disruptions = slices.Clone(s.Budgets), slices.Clone(s.Disruptions)
	for i, b := range s.Budgets {
		own := *b
		own.Pods, own.Steadies = substitutePods(b.Pods, down), nil
		s.Budgets[i] = &own
	}
	for i, b := range s.Disruptions {
		own := *b
		own.Pods = substitutePods(b.Pods, down)
		s.Disruptions[i] = &own
	}
	return &s
}

// substitutePods is a list with some pods replaced, by UID.
func substitutePods(list []*cluster.Pod, by map[string]*cluster.Pod) []*cluster.Pod {
	out := slices.Clone(list)
	for i, p := range out {
		if other, ok := by[p.UID]; ok {
			out[i] = other
		}
	}
	return out
}

// finishStarted finishes started updates: the next containers, the return to
// service, the way out of a preDelete hook.
func (c *client) finishStarted() {
	u := controller.InPlace{Revision: c.revision, Lifecycle: c.lifecycle()}
	for _, p := range c.snap.Pods {
		switch {
		case !rules.Active(p):
		case rules.StateOf(p) == rules.StatePreparingDelete:
			c.evict(p)
		case rules.AtRevision(p, c.revision), rules.StateOf(p) == rules.StateUpdating: // perhaps by a rollout that was ended
			c.continueUpdate(p, u)
		}
	}
}

// continueUpdate continues with a pod whose containers change, and puts it back into service
// with the write that ends it.
func (c *client) continueUpdate(p *cluster.Pod, u controller.InPlace) {
	if state := rules.StateOf(p); state == rules.StateNone || state == rules.StateNormal {
		c.emptyContainers(p)
		return
	}
	change, ok := u.Continue(p, c.snap.report(p), c.now)
	if ok && change.Labels[kruise.LifecycleStateLabel] != nil && c.plan.Drain == DrainLabel {
		if !running(p) {
			return
		}
		value, rendered := templateLabels(c.object())[kruise.InServiceLabel].(string)
		if _, in := p.Labels[kruise.InServiceLabel]; rendered && !in {
			change.Labels[kruise.InServiceLabel] = &value
		}
	}
	if ok {
		c.write(p, change, "finish the update of "+p.Name)
	}
}

// running reports whether all containers run and are ready.
func running(p *cluster.Pod) bool {
	for i := range p.Containers {
		if !p.Containers[i].Ready {
			return false
		}
	}
	return true
}

// emptyContainers empties containers whose successor works: a short update of its own, which no
// hook and no budget is asked about again, as the pod counts as down until it is over.
func (c *client) emptyContainers(p *cluster.Pod) {
	pairs := pendingExchanges(c.object().Template, p)
	if len(pairs) == 0 || !running(p) || !rules.InPlacePending(p, c.snap.report(p)).Done() {
		return
	}
	images := map[string]string{}
	for _, h := range pairs {
		images[h.idle] = h.empty
	}
	change := controller.InPlace{
		Spec: rules.InPlaceSpec{Images: images}, Revision: c.revision, Labels: map[string]string{revisionLabel: c.revision},
	}.Start(p, c.now)
	for _, h := range pairs {
		setAnnotation(&change, kruise.SidecarSetVersionAnnotationPrefix+h.idle, "0")
		setAnnotation(&change, kruise.SidecarSetVersionAltAnnotationPrefix+h.working, "0")
	}
	c.write(p, change, "empty "+strings.Join(slices.Sorted(maps.Keys(images)), ", ")+" of "+p.Name)
}

// preparedPods are pods that were chosen before and are out of service already:
// the controller continues with them while it chooses no more.
func preparedPods(list []*cluster.Pod) []*cluster.Pod {
	var out []*cluster.Pod
	for _, p := range list {
		if rules.Active(p) && rules.StateOf(p) == rules.StatePreparingUpdate {
			out = append(out, p)
		}
	}
	return out
}

// chosenWithReason returns the chosen pods, and why no more are chosen if there are more.
func chosenWithReason(choice rules.Choice) ([]*cluster.Pod, string) {
	if len(choice.Order) == len(choice.Pods) {
		return choice.Pods, ""
	}
	return choice.Pods, choice.Why
}

// statefulSetRules is the set with a partition that allows a number of updated pods.
func (r *rollout) statefulSetRules(spec kruise.StatefulSetSpec, updated int) *rules.StatefulSet {
	kept := int32(max(replicas(r.object())-updated, 0))
	rolling := copyOrNew(spec.UpdateStrategy.RollingUpdate)
	rolling.Partition = &kept
	spec.UpdateStrategy.RollingUpdate = rolling
	return &rules.StatefulSet{Spec: &spec, Update: r.revision(), Pods: r.snap.Pods, Gates: r.snap.Gates, Now: r.now}
}

// Updating reports whether the in-place update of a pod is not complete.
func (c *client) Updating(p *cluster.Pod) bool {
	return !rules.InPlacePending(p, c.snap.report(p)).Done()
}

// advance takes one chosen pod a step further: out of service, through its grace
// period, to the new containers; or evicts it, where it must be recreated.
func (c *client) advance(p *cluster.Pod) {
	change, pairs := withExchange(p, c.templateChange(p))
	switch mode, why := c.modeOf(p, change); mode {
	case rules.ModeRecreate:
		c.evict(p)
	case rules.ModeNotAllowed:
		c.block(GateNotAllowed, p, why)
	default:
		c.update(p, c.inPlace(change), pairs, mode == rules.ModeInPlace)
	}
}

// modeOf decides for one pod: a pod whose template is unchanged, as far as is known, only lacks
// the label of the revision.
func (c *client) modeOf(p *cluster.Pod, change rules.TemplateChange) (rules.UpdateMode, string) {
	mode, why := change.Eligible().ForPod(p, change.Old.Template != nil, false)
	if mode == rules.ModeUnchanged {
		return rules.ModeMetadataOnly, why
	}
	return mode, why
}

func (c *client) inPlace(change rules.TemplateChange) controller.InPlace {
	return controller.InPlace{
		Spec: change.InPlaceSpec(), Revision: c.revision, Lifecycle: c.lifecycle(),
		Labels: map[string]string{revisionLabel: c.revision},
	}
}

// lifecycle are the hooks that the client keeps.
func (c *client) lifecycle() *kruise.Lifecycle {
	if c.spec == nil {
		return nil
	}
	return c.spec.lifecycle()
}

// update is the state machine of one pod; its state is on the pod only.
func (c *client) update(p *cluster.Pod, u controller.InPlace, pairs []hotUpgradePair, restarts bool) {
	restarts = restarts && !restartsIdleOnly(u.Spec, pairs)
	to, err := rules.StateToUpdate(p, u.Lifecycle)
	if err != nil {
		c.block(GateHook, p, err.Error())
		return
	}
	prepared := rules.StateOf(p) == rules.StatePreparingUpdate
	wait := c.graceEnds(p)
	switch {
	case !prepared && !c.permitUnavailable(p, kruise.PubUpdateOperation):
	case !prepared && (to == rules.StatePreparingUpdate || restarts && c.mustDrain(p)):
		change := u.Prepare(p, c.now)
		c.drain(p, &change)
		c.write(p, change, "take "+p.Name+" out of service")
	case to == rules.StatePreparingUpdate:
		c.block(GateHook, p, c.hookReason(p, "its inPlaceUpdate hook holds it"))
	case prepared && restarts && c.now.Before(wait):
		c.until = earliest(c.until, wait)
		c.block(gateGrace, p, "out of service, its containers change at "+wait.UTC().Format(time.TimeOnly))
	default:
		change := u.Start(p, c.now)
		annotateExchange(&change, p, pairs)
		c.write(p, change, "update "+p.Name+" in place")
	}
}

// hookReason reports which hook holds a pod and since when, as soon as the pod has the state.
func (c *client) hookReason(p *cluster.Pod, otherwise string) string {
	if b, ok := HookHolding(*c.snap, p); ok {
		return b.Why
	}
	return otherwise
}

// mustDrain reports whether a pod leaves its Services before it changes.
func (c *client) mustDrain(p *cluster.Pod) bool {
	switch c.plan.Drain {
	case DrainLabel:
		_, in := p.Labels[kruise.InServiceLabel]
		return in
	case DrainGate:
		return rules.HasInPlaceGate(p)
	}
	return false
}

// drain takes a pod out of service.
func (c *client) drain(p *cluster.Pod, change *cluster.PodChange) {
	switch {
	case !c.mustDrain(p):
	case c.plan.Drain == DrainLabel:
		if change.Labels == nil {
			change.Labels = map[string]*string{}
		}
		change.Labels[kruise.InServiceLabel] = nil
	default:
		change.Conditions = append(change.Conditions, cluster.SetTo(kruise.InPlaceUpdateReady, corev1.ConditionFalse, "StartInPlaceUpdate", ""))
	}
}

// graceEnds is when a pod that was taken out of service may change. Without a time
// on the pod it is over.
func (c *client) graceEnds(p *cluster.Pod) time.Time {
	since, err := time.Parse(time.RFC3339, p.Annotations[kruise.LifecycleTimestampAnnotation])
	if err != nil {
		return time.Time{}
	}
	return since.Add(time.Duration(c.plan.Grace))
}

// evict deletes a pod, unless a hook or a budget holds it.
func (c *client) evict(p *cluster.Pod) {
	lifecycle := c.lifecycle()
	to, remove := rules.StateToDelete(p, lifecycle)
	held := rules.StateOf(p) == rules.StatePreparingDelete
	switch {
	case !remove && held:
		c.block(GateHook, p, c.hookReason(p, "its preDelete hook holds it"))
	case !held && (!c.permitUnavailable(p, kruise.PubEvictOperation) || !c.permitEviction(p)):
	case !remove && to == rules.StatePreparingDelete:
		c.write(p, controller.InPlace{Lifecycle: lifecycle}.PrepareDelete(p, c.now), "prepare the deletion of "+p.Name)
	default:
		c.addAction(Action{Evict: &PodRef{p.Namespace, p.Name, p.UID}}, "evict "+p.Name)
	}
}

// permitUnavailable asks the PodUnavailableBudgets.
func (c *client) permitUnavailable(p *cluster.Pod, op kruise.PubOperation) bool {
	if why, ok := c.budgets.allow(p, op); !ok {
		c.block(GateBudget, p, why)
		return false
	}
	return true
}

func (c *client) permitEviction(p *cluster.Pod) bool {
	if why, ok := c.budgets.evict(p); !ok {
		c.block(GateBudget, p, why)
		return false
	}
	return true
}

func (c *client) write(p *cluster.Pod, change cluster.PodChange, text string) {
	c.addAction(Action{Pod: &PodAction{PodRef{p.Namespace, p.Name, p.UID}, change}}, text)
}

// addAction adds an action with what it is in words; the first few are enough.
func (c *client) addAction(a Action, text string) {
	c.actions = append(c.actions, a)
	switch {
	case len(c.texts) < maxNamed:
		c.texts = append(c.texts, text)
	case len(c.texts) == maxNamed:
		c.texts = append(c.texts, "and more")
	}
}

func (c *client) block(gate string, p *cluster.Pod, why string) {
	c.blocked = append(c.blocked, Blocker{gate, p.Name, why})
}

// pendingUpdates is what a number of pods lacks that are updated, available, and back in
// their normal life: of a StatefulSet those that its order takes, since pods below the
// partition may have the revision, too, after the template was rolled back.
func (r *rollout) pendingUpdates(n int) rules.Pending {
	revision, minReady, available := r.revision(), time.Duration(r.plan.Limits.MinReady), 0
	pods := r.snap.Pods
	if spec := clientSpecOf(*r.snap, r.object()); spec != nil {
		pods = spec.countedPods(r, n)
	}
	for _, p := range pods {
		if rules.Active(p) && rules.AtRevision(p, revision) && rules.Available(p, minReady, r.now) && len(pendingExchanges(r.object().Template, p)) == 0 {
			available++
		}
	}
	if revision == "" || available < n {
		return rules.Pending{fmt.Sprintf("%d of %s updated and available", available, counted.PodsAre(n))}
	}
	return nil
}
