package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
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
	budgets  *permits
	// counted is the snapshot as budgets see it, see [run.counted].
	counted *Snapshot
	// actions are what is done now, said the same in words.
	actions []Action
	said    []string
	blocked []Blocker
	// until is when the next grace period is over.
	until time.Time
}

// pods updates pods until the step's number is reached. What is under way is
// brought to its end first, read off the pods alone; then further pods are chosen
// by the rules of the Kruise object, within all budgets.
func (r *run) pods(s *Step) (Decision, bool) {
	counted := r.counted()
	c := &client{run: r, step: s, revision: r.revision(), spec: source(*r.snap, r.object()), budgets: newPermits(counted), counted: counted}
	if c.revision == "" {
		return r.unfinished(s, Blocker{Gate: GateTemplate, Why: "the controller has not named the revision of the new template yet"}), false
	}
	c.finish()
	if !r.progress.Promoted {
		c.choose()
	}
	if len(c.actions) > 0 {
		return r.act(strings.Join(c.said, "; "), c.actions...), false
	}
	missing := r.missing(s)
	if len(missing) == 0 || r.progress.Promoted {
		return Decision{}, true
	}
	if bad := append(r.failures(), r.health().overdue...); len(bad) > 0 {
		return r.halt(bad...), false
	}
	d := r.unfinished(s, slices.Concat(c.blocked, r.health().waiting, missing)...)
	if d.Verb == Wait {
		d.Until = earliest(earliest(d.Until, c.until), r.nextAvailable())
	}
	return d, false
}

// revision is the name that the pods of the present template carry; empty while
// nobody knows it.
func (r *run) revision() string { return kindOf(r.object().Object).revision(r) }

// choose picks further pods.
func (c *client) choose() {
	picked, why := c.picks()
	for _, p := range picked {
		c.take(p)
	}
	if len(c.actions) == 0 && why != "" {
		c.blocked = append(c.blocked, Blocker{Gate: GateMaxUnavailable, Why: why})
	}
}

// picks asks the rules, with a partition that leaves the step's number.
func (c *client) picks() ([]*cluster.Pod, string) {
	if c.spec == nil {
		return nil, ""
	}
	return c.spec.picks(c)
}

func (c *client) pickClones(spec kruise.CloneSetSpec) ([]*cluster.Pod, string) {
	kept := intstr.FromInt32(int32(max(replicas(c.object())-c.step.Updated, 0)))
	rolling := copied(spec.UpdateStrategy.RollingUpdate)
	rolling.Partition = &kept
	spec.UpdateStrategy.RollingUpdate = rolling
	set := &rules.CloneSet{Spec: &spec, Update: c.revision, Pods: c.counted.Pods, Nodes: c.snap.Nodes, Gates: c.snap.Gates, Now: c.now}
	return waiting(set.ChooseUpdate())
}

// waiting is why no more pods are chosen, if there are more.
func waiting(choice rules.Choice) ([]*cluster.Pod, string) {
	if len(choice.Order) == len(choice.Pods) {
		return choice.Pods, ""
	}
	return choice.Pods, choice.Why
}

func (c *client) pickStateful(spec kruise.StatefulSetSpec) ([]*cluster.Pod, string) {
	set := c.stateful(spec, c.step.Updated)
	set.Pods, set.Busy = c.counted.Pods, c.busy
	if scale := set.Scale(); scale.Stop {
		return onlyPrepared(c.snap.Pods), scale.Why
	}
	return waiting(set.ChooseUpdate().Choice)
}

// stateful is the set with a partition that leaves so many pods to be updated.
func (r *run) stateful(spec kruise.StatefulSetSpec, updated int) *rules.StatefulSet {
	kept := int32(max(replicas(r.object())-updated, 0))
	rolling := copied(spec.UpdateStrategy.RollingUpdate)
	rolling.Partition = &kept
	spec.UpdateStrategy.RollingUpdate = rolling
	return &rules.StatefulSet{Spec: &spec, Update: r.revision(), Pods: r.snap.Pods, Gates: r.snap.Gates, Now: r.now}
}

// onlyPrepared are pods that were chosen before and are out of service already:
// the controller goes on with them while it chooses no more.
func onlyPrepared(list []*cluster.Pod) []*cluster.Pod {
	var out []*cluster.Pod
	for _, p := range list {
		if rules.Active(p) && rules.StateOf(p) == rules.StatePreparingUpdate {
			out = append(out, p)
		}
	}
	return out
}

// busy reports whether the in-place update of a pod is not complete.
func (c *client) busy(p *cluster.Pod) bool { return !rules.InPlacePending(p, c.snap.report(p)).Done() }

// pickDaemons leaves nothing to chance: pods that are out of service already come
// first, the others in the order of the eligible nodes.
func (c *client) pickDaemons(spec kruise.DaemonSetSpec) ([]*cluster.Pod, string) {
	set := daemonSetRules(*c.counted, &spec, c.revision, scheduledOf(c.object().Object))
	kept := intstr.FromInt32(int32(max(set.Scheduled-c.step.Updated, 0)))
	rolling := copied(spec.UpdateStrategy.RollingUpdate)
	rolling.Partition = &kept
	spec.UpdateStrategy.RollingUpdate = rolling
	set.Now = c.now
	choice := set.ChooseUpdate()
	picked := slices.Concat(choice.Broken, onlyPrepared(choice.Candidates))
	for _, p := range choice.Candidates {
		if len(picked)-len(choice.Broken) < choice.Room && rules.StateOf(p) != rules.StatePreparingUpdate {
			picked = append(picked, p)
		}
	}
	if len(picked) == len(choice.Broken)+len(choice.Candidates) {
		return picked, ""
	}
	return picked, choice.Why
}

// counted is the snapshot with every pod unready whose containers are about to
// restart, those of a sidecar's exchange included, and as budgets see them: from the
// write on that asks for it, though the node has not heard of it yet and the pod's
// status says otherwise. Where there is Kruise the readiness gate does that, in the same
// write (docs/kruise/workloads.md#steps-on-the-pod).
func (r *run) counted() *Snapshot {
	s := *r.snap
	s.Pods = slices.Clone(s.Pods)
	down := map[string]*cluster.Pod{}
	unready := cluster.PodChange{Conditions: []cluster.Condition{cluster.SetTo(string(corev1.PodReady), corev1.ConditionFalse, "StartInPlaceUpdate", "")}}
	for i, p := range s.Pods {
		record, _ := rules.InPlaceRecordOf(p)
		restarts := record.UpdateImages || record.UpdateEnvFromMetadata
		changing := restarts && !rules.InPlacePending(p, s.report(p)).Done() || len(unexchanged(r.object().Template, p)) > 0
		if changing && rules.Active(p) {
			s.Pods[i] = p.With(unready, r.now)
			down[p.UID] = s.Pods[i]
		}
	}
	s.Budgets, s.Disruptions = slices.Clone(s.Budgets), slices.Clone(s.Disruptions)
	for i, b := range s.Budgets {
		own := *b
		own.Pods = substituted(b.Pods, down)
		s.Budgets[i] = &own
	}
	for i, b := range s.Disruptions {
		own := *b
		own.Pods = substituted(b.Pods, down)
		s.Disruptions[i] = &own
	}
	return &s
}

// substituted is a list in which other pods stand for some.
func substituted(list []*cluster.Pod, by map[string]*cluster.Pod) []*cluster.Pod {
	out := slices.Clone(list)
	for i, p := range out {
		if other, ok := by[p.UID]; ok {
			out[i] = other
		}
	}
	return out
}

// clientPending asks for so many pods that are updated, available, and back in
// their normal life: of a StatefulSet those that its order takes, since pods below the
// partition may carry the revision, too, after the template was taken back.
func (r *run) clientPending(n int) rules.Pending {
	revision, minReady, available := r.revision(), r.plan.Limits.MinReady, 0
	pods := r.snap.Pods
	if spec := source(*r.snap, r.object()); spec != nil {
		pods = spec.taken(r, n)
	}
	for _, p := range pods {
		if rules.Active(p) && rules.AtRevision(p, revision) && rules.Available(p, minReady, r.now) && len(unexchanged(r.object().Template, p)) == 0 {
			available++
		}
	}
	if revision == "" || available < n {
		return rules.Pending{fmt.Sprintf("%d of %d pods are updated and available", available, n)}
	}
	return nil
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
