package compare

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// workload says what the change of a workload does to its pods, and returns what
// each field of the template asks for.
func (c *comparison) workload(ch *Change, p pair) []rules.FieldChange {
	old, err := cluster.ReadWorkload(p.old.Node())
	if err != nil {
		return nil // it is what the change repairs, or the same on both sides
	}
	now, err := cluster.ReadWorkload(p.now.Node())
	if err != nil {
		ch.refuse(err)
		return nil
	}
	now.Namespace = old.Namespace // written out or not
	r, asked, err := c.roll(ch, old, now, c.crowd(p.old, old), c.crowd(p.now, now))
	if err != nil {
		ch.refuse(err)
		return nil
	}
	if r.From > 0 && r.To == 0 {
		ch.add(Loss, "spec.replicas", "no pod is left")
	}
	ch.Rollout = r
	return asked
}

// crowd is how many pods an object stands for, -1 where that cannot be known: a
// manifest without replicas leaves them to somebody else.
func (c *comparison) crowd(r *resource.Resource, w *cluster.Workload) int {
	switch o := w.Object.(type) {
	case *kruise.DaemonSet:
		return c.nodes(o.Status.DesiredNumberScheduled, o.Spec.Template.Spec.NodeSelector)
	case *appsv1.DaemonSet:
		return c.nodes(o.Status.DesiredNumberScheduled, o.Spec.Template.Spec.NodeSelector)
	}
	if n, ok := tree.Int(tree.Get(r.Node(), "spec", "replicas")); ok {
		return int(n)
	}
	return -1
}

// nodes is for how many nodes a DaemonSet has a pod: as its status says, or as
// many as its node selector finds among those that are known.
func (c *comparison) nodes(scheduled int32, selector map[string]string) int {
	if scheduled > 0 {
		return int(scheduled)
	}
	all, n := c.now.facts.All("", "Node"), 0
	for _, node := range all {
		labels := node.Labels()
		fits := true
		for key, value := range selector {
			fits = fits && labels[key] == value
		}
		if fits {
			n++
		}
	}
	if len(all) == 0 {
		return -1
	}
	return n
}

// roll asks package plan about one change. from and to are numbers of pods, -1 for
// unknown ones.
func (c *comparison) roll(ch *Change, old, now *cluster.Workload, from, to int) (*Rollout, []rules.FieldChange, error) {
	old, now = plan.WithPods(old, from), plan.WithPods(now, to)
	s, observed := c.snapshot(old)
	driver := plan.DriverKruise
	if now.Group != kruise.Group {
		driver = plan.DriverNative
	}
	p, err := plan.Build(now, s, plan.Policy{Driver: driver})
	if err != nil {
		return nil, nil, err
	}
	r := &Rollout{
		Driver: p.Driver, Mode: p.Change.Mode, Policy: rules.PolicyOf(now.Object), Why: p.Change.Why,
		From: from, To: to, Observed: observed, Paused: rules.PausedOf(now.Object),
	}
	here := min(from, to) // what goes away, or comes, does not follow
	if r.Mode == rules.ModeInPlace {
		r.Restarts = p.Change.Restarts
	}
	before, _, _ := plan.Reach(plan.WithPods(old, here), c.opt.Gates)
	reach, total, follows := plan.Reach(plan.WithPods(now, here), c.opt.Gates)
	r.ByHand = !follows
	r.Down, r.Surge = p.Limits.MaxUnavailable, p.Limits.MaxSurge
	r.MaxUnavailable, r.MaxSurge = asWritten(now.Object)
	switch {
	case observed:
		r.Reach, r.Total = touched(p), active(s.Pods)
	case here < 0:
		r.Down, r.Surge = -1, -1
	default:
		r.Reach, r.Total = reach, total
	}
	if r.Mode == rules.ModeUnchanged {
		c.released(ch, before, reach, total, here)
	} else {
		for _, remark := range rules.Remarks(old, now, rules.Eligibility{Mode: p.Change.Mode, Fields: p.Change.Fields}) {
			ch.add(Note, "", remark)
		}
	}
	storage(ch, old, now, r)
	return r, p.Change.Fields, nil
}

// snapshot is what is known of the pods.
func (c *comparison) snapshot(old *cluster.Workload) (s plan.Snapshot, observed bool) {
	if c.opt.Observed != nil {
		if s, ok := c.opt.Observed(old.Ref); ok && len(s.Pods) > 0 {
			s.Workload, s.Carrier = old, nil
			return s, true
		}
	}
	return plan.Snapshot{Workload: old, Gates: c.opt.Gates}, false
}

func active(list []*cluster.Pod) int {
	n := 0
	for _, p := range list {
		if rules.Active(p) {
			n++
		}
	}
	return n
}

// touched counts the pods that the steps of a plan name.
func touched(p plan.Plan) int {
	n := 0
	for _, s := range p.Steps {
		if s.Kind == plan.StepUpdate || s.Kind == plan.StepPartition {
			n += len(s.Pods)
		}
	}
	return n
}

// released says what a change of partition, pause or strategy alone does: an
// update that is under way goes further, or not.
func (c *comparison) released(ch *Change, before, reach, total, here int) {
	switch {
	case before == reach || here < 0:
	case reach > before:
		ch.add(Restart, "", fmt.Sprintf("an update that is under way may reach %d of %d pods instead of %d", reach, total, before))
	default:
		ch.add(Note, "", fmt.Sprintf("an update may reach %d of %d pods only, instead of %d", reach, total, before))
	}
}

// asWritten are maxUnavailable and maxSurge as the spec has them.
func asWritten(obj any) (unavailable, surge string) {
	v, _ := plain(obj)
	at := v["spec"]
	for _, key := range []string{"strategy", "updateStrategy", "rollingUpdate"} {
		m, _ := at.(map[string]any)
		if m[key] != nil {
			at = m[key]
		}
	}
	m, _ := at.(map[string]any)
	for key, into := range map[string]*string{"maxUnavailable": &unavailable, "maxSurge": &surge} {
		if m[key] != nil {
			*into = text(m[key])
		}
	}
	return unavailable, surge
}

// because names the fields that decide what happens to pods.
func (r *Rollout) because(list []Field) {
	if r == nil {
		return
	}
	deciding := map[rules.Effect]bool{rules.EffectRecreate: true}
	switch {
	case r.Mode == rules.ModeInPlace:
		deciding = map[rules.Effect]bool{rules.EffectImage: true, rules.EffectEnv: true, rules.EffectResources: true}
	case r.Mode == rules.ModeMetadataOnly:
		deciding = map[rules.Effect]bool{rules.EffectMetadata: true}
	case r.Policy == rules.PolicyRecreate: // whatever changes
		deciding = map[rules.Effect]bool{
			rules.EffectRecreate: true, rules.EffectImage: true, rules.EffectEnv: true, rules.EffectResources: true, rules.EffectMetadata: true,
		}
	}
	for _, f := range list {
		if deciding[f.Effect] {
			r.Because = append(r.Because, f.Path)
		}
	}
}

// level says how bad a rollout is.
func (r *Rollout) level() Level {
	switch {
	case r == nil || r.Mode == rules.ModeUnchanged || r.Mode == rules.ModeMetadataOnly:
		return Note
	case r.Mode == rules.ModeNotAllowed:
		return Stuck
	case r.Reach == 0 && r.Down >= 0:
		return Note
	case r.Mode == rules.ModeRecreate:
		return Recreate
	}
	return Restart
}
