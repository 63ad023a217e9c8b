package compare

import (
	"fmt"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// workload reports what the change of a workload does to its pods, and returns the effect of each
// field of the template.
func (c *comparison) workload(ch *Change, p pair) []rules.FieldChange {
	old, now := ch.read(p.old, p.now)
	if now == nil {
		return nil
	}
	r, asked, err := c.planChange(ch, old, now, c.replicasOf(p.old, old), c.replicasOf(p.now, now))
	if err != nil {
		ch.refuse(err)
		return nil
	}
	if r == nil {
		return asked
	}
	if r.From > 0 && r.To == 0 {
		ch.add(Loss, "spec.replicas", "no pod is left")
	}
	ch.Rollout = r
	return asked
}

// read reads both states of a workload; nil when one cannot be read. Of the old one
// that is what the change repairs, or the same on both sides.
func (ch *Change) read(old, now *resource.Resource) (before, after *cluster.Workload) {
	before, err := cluster.ReadWorkload(old.Node())
	if err != nil {
		return nil, nil
	}
	if after, err = cluster.ReadWorkload(now.Node()); err != nil {
		ch.refuse(err)
		return nil, nil
	}
	after.Namespace = before.Namespace // written out or not
	return before, after
}

// replicasOf is how many pods an object wants, -1 where that cannot be known: a
// manifest without replicas leaves them to an autoscaler or a user.
func (c *comparison) replicasOf(r *resource.Resource, w *cluster.Workload) int {
	t := cluster.Of(w.Object)
	if scheduled, ok := t.Scheduled(); ok {
		return c.nodes(scheduled, t.Template().Spec.NodeSelector)
	}
	if n, ok := tree.Int(tree.Get(r.Node(), "spec", "replicas")); ok {
		return int(n)
	}
	return -1
}

// nodes is for how many nodes a DaemonSet has a pod: the number in its status, or that of the
// known nodes that its node selector matches.
func (c *comparison) nodes(scheduled int, selector map[string]string) int {
	if scheduled > 0 {
		return scheduled
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

// planChange asks package plan about one change. from and to are numbers of pods, -1 for
// unknown ones.
func (c *comparison) planChange(ch *Change, old, now *cluster.Workload, from, to int) (*Rollout, []rules.FieldChange, error) {
	s, observed := c.snapshot(old, now)
	if observed && from < 0 && to < 0 { // scaled by an autoscaler or a user
		from, to = active(s.Pods), active(s.Pods)
	}
	old, now = plan.WithPods(old, from), plan.WithPods(now, to)
	s.Workload = old
	if err := rules.CheckClaims(old, now); err != nil && now.Group == kruise.Group {
		ch.Effects = append(ch.Effects, Effect{Level: Blocked, Field: err.Path, Text: err.Msg, Hint: err.Hint})
		return nil, nil, nil
	}
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
	if v, ok := cluster.Of(now.Object).Partition(); ok && v.String() != "0" && v.String() != "0%" {
		r.Partitioned = true
	}
	if from >= 0 && to >= 0 {
		c.run(r, old, now, s)
	} else {
		r.Down, r.Surge = -1, -1
	}
	before, _, _ := plan.UpdatablePods(plan.WithPods(old, min(from, to)), c.opt.Gates)
	reach, total, follows := plan.UpdatablePods(plan.WithPods(now, min(from, to)), c.opt.Gates)
	r.ByHand = !follows
	if r.Mode == rules.ModeUnchanged {
		if r.Down >= 0 {
			addProgress(ch, before, reach, total)
		}
		if text := rules.ClaimWarning(old, now, rules.Eligibility{Mode: r.Mode}); text != "" {
			ch.add(Note, "spec.volumeClaimTemplates", text)
		}
	} else {
		for _, remark := range rules.Warnings(old, now, rules.Eligibility{Mode: r.Mode, Fields: p.Change.Fields, Policy: r.Policy}) {
			ch.add(Note, "", remark)
		}
	}
	storage(ch, old, now, r)
	return r, p.Change.Fields, nil
}

// run fills in what becomes of the pods.
func (c *comparison) run(r *Rollout, old, now *cluster.Workload, s plan.Snapshot) {
	n := max(r.From, r.To, len(s.Pods))
	work := int64(simulate.Work(n, r.Down+r.Surge))
	if c.work.Add(work) > simulate.MostWork {
		c.work.Add(-work)
		r.Down, r.Surge, r.Uncounted = -1, -1, simulate.TooMuch
		return
	}
	if len(s.Pods) == 0 {
		s.Workload = alike(old, now)
	}
	line, err := simulate.Applied(now, s)
	if err != nil {
		r.Down, r.Surge, r.Uncounted = -1, -1, err.Error()
		return
	}
	r.Total = line.Present
	for _, t := range line.Touches {
		switch t.Mode {
		case rules.ModeDelete:
			r.Deleted = append(r.Deleted, t.Name)
			r.Total--
		case rules.ModeRecreate:
			r.Recreated++
			r.Reach++
		default:
			r.Reach++
		}
	}
}

// alike is the old state of a SidecarSet as if it had always selected what the new one does: the pods
// that are made up are those that both have.
func alike(old, now *cluster.Workload) *cluster.Workload {
	was, ok := old.Object.(*kruise.SidecarSet)
	is, both := now.Object.(*kruise.SidecarSet)
	if !ok || !both {
		return old
	}
	set := *was
	set.Spec.Selector, set.Spec.NamespaceSelector = is.Spec.Selector, is.Spec.NamespaceSelector
	out := *old
	out.Object = &set
	return &out
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
	labelled *kruise.LabelIndex
}

// selectedBy are the pods that one of the sets selects, in their order.
func (o *observedPods) selectedBy(pods []*cluster.Pod, sets ...*kruise.SidecarSet) []*cluster.Pod {
	if !slices.Equal(pods, o.all) {
		o.all, o.labelled = pods, kruise.NewLabelIndex(len(pods), func(i int) map[string]string { return pods[i].Labels })
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

// addProgress reports what a change of partition, pause or strategy alone does: an
// update that is in progress goes further, or not.
func addProgress(ch *Change, before, reach, total int) {
	switch {
	case before == reach:
	case reach > before:
		ch.add(Restart, "", fmt.Sprintf("an update in progress can reach %d of %s instead of %d", reach, counted.Of(total, "pod"), before))
	default:
		ch.add(Note, "", fmt.Sprintf("an update can reach only %d of %s, instead of %d", reach, counted.Of(total, "pod"), before))
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

// level returns the level of a rollout.
func (r *Rollout) level() Level {
	switch {
	case r == nil:
		return Note
	case r.Mode == rules.ModeNotAllowed:
		return Blocked
	case r.Recreated > 0:
		return Recreate
	case r.Mode == rules.ModeUnchanged, r.Mode == rules.ModeMetadataOnly, r.Reach == 0 && r.Down >= 0:
		return Note
	case r.Mode == rules.ModeRecreate:
		return Recreate
	}
	return Restart
}

// storage reports what becomes of the data of pods that are recreated or go away.
func storage(ch *Change, old, now *cluster.Workload, r *Rollout) {
	had, has := rules.ClaimsOf(old.Object), rules.ClaimsOf(now.Object)
	if r.Mode == rules.ModeRecreate && r.level() == Recreate && had.Any() && had.WithPods {
		ch.add(Loss, "", fmt.Sprintf("every pod that is recreated loses its claims (%s): Kruise deletes them with the pod, and the data in them", had))
	}
	if text := had.LostByUpdate(r.Recreated); r.Mode != rules.ModeRecreate && text != "" {
		ch.add(Loss, "", text)
	}
	if named := namesOthers(old.Object, now.Object); named && len(r.Deleted) > 0 {
		ordinalsLeave(ch, had, r.Deleted)
	} else {
		scaled(ch, had, len(r.Deleted))
	}
	const policy, text = "spec.persistentVolumeClaimRetentionPolicy.", "claims (%s) are deleted from now on where they were kept"
	if has.Any() && has.WhenScaled && !had.WhenScaled {
		ch.add(Warning, policy+"whenScaled", fmt.Sprintf(text, has))
	}
	if has.Any() && has.WhenDeleted && !had.WhenDeleted {
		ch.add(Warning, policy+"whenDeleted", fmt.Sprintf(text, has))
	}
}

// ordinalsLeave reports what becomes of pods whose ordinals are not wanted any more.
func ordinalsLeave(ch *Change, had rules.Claims, gone []string) {
	text := counted.Some(gone) + " " + counted.Word(len(gone), "is", "are") + " deleted"
	switch {
	case had.Any() && had.WhenScaled:
		ch.add(Loss, "", fmt.Sprintf("%s with %s claims (%s), and the data in them", text, counted.Word(len(gone), "its", "their"), had))
	case had.Any():
		ch.add(Recreate, "", fmt.Sprintf("%s; %s claims (%s) stay", text, counted.Word(len(gone), "its", "their"), had))
	default:
		ch.add(Recreate, "", text)
	}
}

// scaled reports what becomes of the claims of pods that a smaller number of pods deletes.
func scaled(ch *Change, had rules.Claims, gone int) {
	switch {
	case !had.Any() || gone == 0:
	case had.WhenScaled:
		ch.add(Loss, "spec.replicas", had.LostByScaling(gone))
	default:
		ch.add(Note, "spec.replicas", fmt.Sprintf("the claims (%s) of %s stay", had, pods(gone)))
	}
}

// namesOthers reports whether the change says by itself which ordinals there are.
func namesOthers(old, now any) bool {
	before, _ := plain(old)
	after, _ := plain(now)
	was, _ := before["spec"].(map[string]any)
	is, _ := after["spec"].(map[string]any)
	return !reflect.DeepEqual(was["reserveOrdinals"], is["reserveOrdinals"]) || !reflect.DeepEqual(was["ordinals"], is["ordinals"])
}

// pods writes a number of pods.
func pods(n int) string {
	if n == -1 {
		return "all pods"
	}
	return counted.Of(n, "pod")
}
