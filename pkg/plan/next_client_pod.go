package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// take brings one chosen pod a step further: out of service, through its grace
// period, to the new containers; or away, where it has to be recreated.
func (c *client) take(p *cluster.Pod) {
	change, pairs := exchanging(p, c.changeOf(p))
	switch mode, why := c.modeOf(p, change); mode {
	case rules.ModeRecreate:
		c.evict(p)
	case rules.ModeNotAllowed:
		c.block(GateNotAllowed, p, why)
	default:
		c.update(p, c.inPlace(change), pairs, mode == rules.ModeInPlace)
	}
}

// modeOf decides for one pod: an unchanged template, as far as that can be told,
// only lacks the label that says so.
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
		Labels: map[string]string{revisionMark: c.revision},
	}
}

// lifecycle are the hooks that the client keeps.
func (c *client) lifecycle() *kruise.Lifecycle {
	if c.spec == nil {
		return nil
	}
	return c.spec.lifecycle()
}

// update is the small state machine of one pod; all that it knows is on the pod.
func (c *client) update(p *cluster.Pod, u controller.InPlace, pairs []hotPair, restarts bool) {
	restarts = restarts && !hotOnly(u.Spec, pairs)
	to, err := rules.StateToUpdate(p, u.Lifecycle)
	if err != nil {
		c.block(GateHook, p, err.Error())
		return
	}
	prepared := rules.StateOf(p) == rules.StatePreparingUpdate
	wait := c.graceEnds(p)
	switch {
	case !prepared && !c.permit(p, kruise.PubUpdateOperation):
	case !prepared && (to == rules.StatePreparingUpdate || restarts && c.drains(p)):
		change := u.Prepare(p, c.now)
		c.leave(p, &change)
		c.write(p, change, "take "+p.Name+" out of service")
	case to == rules.StatePreparingUpdate:
		c.block(GateHook, p, c.holding(p, "its inPlaceUpdate hook holds it"))
	case prepared && restarts && c.now.Before(wait):
		c.until = earliest(c.until, wait)
		c.block(GateGrace, p, "out of service, its containers change at "+wait.UTC().Format(time.TimeOnly))
	default:
		change := u.Start(p, c.now)
		beside(&change, p, pairs)
		c.write(p, change, "update "+p.Name+" in place")
	}
}

// holding says which hook holds a pod and since when, as soon as the pod itself says so.
func (c *client) holding(p *cluster.Pod, otherwise string) string {
	if b, ok := Held(*c.snap, p); ok {
		return b.Why
	}
	return otherwise
}

// drains reports whether a pod leaves its Services before it changes.
func (c *client) drains(p *cluster.Pod) bool {
	switch c.plan.Drain {
	case DrainLabel:
		_, in := p.Labels[kruise.InServiceLabel]
		return in
	case DrainGate:
		return rules.HasInPlaceGate(p)
	}
	return false
}

// leave takes a pod out of service.
func (c *client) leave(p *cluster.Pod, change *cluster.PodChange) {
	switch {
	case !c.drains(p):
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
	return since.Add(c.plan.Grace)
}

// finish brings what was begun to its end: the next containers, the way back into
// service, the way out of a preDelete hook.
func (c *client) finish() {
	u := controller.InPlace{Revision: c.revision, Lifecycle: c.lifecycle()}
	for _, p := range c.snap.Pods {
		switch {
		case !rules.Active(p):
		case rules.StateOf(p) == rules.StatePreparingDelete:
			c.evict(p)
		case rules.AtRevision(p, c.revision):
			c.goOn(p, u)
		}
	}
}

// goOn continues with a pod whose containers change, and puts it back into service
// with the write that ends it.
func (c *client) goOn(p *cluster.Pod, u controller.InPlace) {
	if state := rules.StateOf(p); state == rules.StateNone || state == rules.StateNormal {
		c.empty(p)
		return
	}
	change, ok := u.Continue(p, c.snap.report(p), c.now)
	if ok && change.Labels[kruise.LifecycleStateLabel] != nil && c.plan.Drain == DrainLabel {
		if !running(p) {
			return
		}
		c.comeBack(p, &change)
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

// comeBack gives a pod the label again that its template has.
func (c *client) comeBack(p *cluster.Pod, change *cluster.PodChange) {
	value, rendered := templateLabels(c.object())[kruise.InServiceLabel].(string)
	if _, in := p.Labels[kruise.InServiceLabel]; rendered && !in {
		change.Labels[kruise.InServiceLabel] = &value
	}
}

// evict takes a pod away, unless a hook or a budget holds it.
func (c *client) evict(p *cluster.Pod) {
	lifecycle := c.lifecycle()
	to, remove := rules.StateToDelete(p, lifecycle)
	held := rules.StateOf(p) == rules.StatePreparingDelete
	switch {
	case !remove && held:
		c.block(GateHook, p, c.holding(p, "its preDelete hook holds it"))
	case !held && (!c.permit(p, kruise.PubEvictOperation) || !c.mayEvict(p)):
	case !remove && to == rules.StatePreparingDelete:
		c.write(p, controller.InPlace{Lifecycle: lifecycle}.PrepareDelete(p, c.now), "prepare the deletion of "+p.Name)
	default:
		c.say(Action{Evict: &PodRef{p.Namespace, p.Name, p.UID}}, "evict "+p.Name)
	}
}

func (c *client) write(p *cluster.Pod, change cluster.PodChange, text string) {
	c.say(Action{Pod: &PodAction{PodRef{p.Namespace, p.Name, p.UID}, change}}, text)
}

// say adds an action with what it is in words; the first few are enough.
func (c *client) say(a Action, text string) {
	c.actions = append(c.actions, a)
	switch {
	case len(c.said) < named:
		c.said = append(c.said, text)
	case len(c.said) == named:
		c.said = append(c.said, "and more")
	}
}

func (c *client) block(gate string, p *cluster.Pod, why string) {
	c.blocked = append(c.blocked, Blocker{gate, p.Name, why})
}

// permit asks the PodUnavailableBudgets.
func (c *client) permit(p *cluster.Pod, op kruise.PubOperation) bool {
	if why, ok := c.budgets.allow(p, op); !ok {
		c.block(GateBudget, p, why)
		return false
	}
	return true
}

func (c *client) mayEvict(p *cluster.Pod) bool {
	if why, ok := c.budgets.evict(p); !ok {
		c.block(GateBudget, p, why)
		return false
	}
	return true
}
