package compare

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/selectors"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// roll asks package plan about one change. from and to are numbers of pods, -1 for
// unknown ones.
func (c *comparison) roll(ch *Change, old, now *cluster.Workload, from, to int) (*Rollout, []rules.FieldChange, error) {
	s, observed := c.snapshot(old, now)
	if observed && from < 0 && to < 0 { // somebody else scales it
		from, to = active(s.Pods), active(s.Pods)
	}
	old, now = plan.WithPods(old, from), plan.WithPods(now, to)
	s.Workload = old
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
		From: from, To: to, Observed: observed, Paused: rules.PausedOf(now.Object), Down: p.Limits.MaxUnavailable, Surge: p.Limits.MaxSurge,
	}
	r.MaxUnavailable, r.MaxSurge = asWritten(now.Object)
	if r.Mode == rules.ModeInPlace {
		r.Restarts = p.Change.Restarts
	}
	before := c.reaching(r, old, now)
	if r.Mode == rules.ModeUnchanged {
		released(ch, r, before)
	} else {
		remarks(ch, old, now, p.Change)
	}
	if observed {
		r.Reach, r.Total = touched(p), active(s.Pods)
	}
	storage(ch, old, now, r)
	return r, p.Change.Fields, nil
}

// remarks notes what else is to know of a change.
func remarks(ch *Change, old, now *cluster.Workload, change plan.Change) {
	for _, remark := range rules.Remarks(old, now, rules.Eligibility{Mode: change.Mode, Fields: change.Fields}) {
		ch.add(Note, "", remark)
	}
}

// reaching fills in how many pods follow, and returns how many would have, had only
// the template changed. What goes away, or comes, does not follow.
func (c *comparison) reaching(r *Rollout, old, now *cluster.Workload) (before int) {
	here := min(r.From, r.To)
	before, _, _ = plan.Reach(plan.WithPods(old, here), c.opt.Gates)
	reach, total, follows := plan.Reach(plan.WithPods(now, here), c.opt.Gates)
	r.ByHand = !follows
	if here < 0 {
		r.Down, r.Surge = -1, -1
		return before
	}
	r.Reach, r.Total = reach, total
	return before
}

// snapshot is what is known of the pods.
func (c *comparison) snapshot(old, now *cluster.Workload) (s plan.Snapshot, observed bool) {
	if c.opt.Observed != nil {
		if s, ok := c.opt.Observed(old.Ref); ok && len(s.Pods) > 0 {
			s.Carrier = nil
			if before, ok := old.Object.(*kruise.SidecarSet); ok {
				s.Pods = c.pods.selectedBy(s.Pods, before, now.Object.(*kruise.SidecarSet)) //nolint:forcetypeassert // a change has one kind
			}
			return s, true
		}
	}
	return plan.Snapshot{Gates: c.opt.Gates}, false
}

// observedPods finds pods by their labels. What is observed of a SidecarSet are all pods of
// the cluster, the same for every set.
type observedPods struct {
	all      []*cluster.Pod
	labelled *selectors.Labelled
}

// selectedBy are the pods that one of the sets selects, in their order.
func (o *observedPods) selectedBy(pods []*cluster.Pod, sets ...*kruise.SidecarSet) []*cluster.Pod {
	if !slices.Equal(pods, o.all) {
		o.all, o.labelled = pods, selectors.NewLabelled(len(pods), func(i int) map[string]string { return pods[i].Labels })
	}
	var places []int
	for _, set := range sets {
		selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
		if err != nil || selector.Empty() {
			continue // selects no pod
		}
		for _, place := range o.labelled.Candidates(selector) {
			if selector.Matches(labels.Set(pods[place].Labels)) {
				places = append(places, place)
			}
		}
	}
	slices.Sort(places)
	var out []*cluster.Pod
	for _, place := range slices.Compact(places) {
		out = append(out, pods[place])
	}
	return out
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
func released(ch *Change, r *Rollout, before int) {
	switch {
	case before == r.Reach || r.Down < 0:
	case r.Reach > before:
		ch.add(Restart, "", fmt.Sprintf("an update in progress may reach %d of %d pods instead of %d", r.Reach, r.Total, before))
	default:
		ch.add(Note, "", fmt.Sprintf("an update may reach %d of %d pods only, instead of %d", r.Reach, r.Total, before))
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
