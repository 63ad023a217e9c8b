package simulate

import (
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// recorder keeps what happens to the pods of one workload. Until it has a target
// it only counts.
type recorder struct {
	*parts

	target   *object
	base     time.Duration
	start    time.Time
	revision string
	// retargeted is when the target first had another revision, negative before.
	retargeted time.Duration
	wanted     int
	counts     counts
	extremes   extremes
	records    []Record
	samples    []Sample
	steps      []StepMark
	// createdPods are pods that were created since the beginning.
	createdPods map[string]bool
	// presentPods are those that were there in the beginning.
	presentPods   map[string]plan.Touch
	restarts      int
	pulls, writes int
	outcome       Outcome
	reason        string
	// end is when a run was over; 0 while it runs.
	end time.Duration
	// on is called with each record, which is how tests act from outside.
	on func(Record)
}

// class is how one pod counts.
type class struct{ counted, terminating, updated, available, ready bool }

// counts are how many pods there are of each class.
type counts struct {
	oldUp, newUp, oldDown, newDown, terminating, ready int
}

// extremes are the highest and lowest counts since the beginning.
type extremes struct {
	down, pods, all, available, ready int
}

// watch begins a new timeline, of one workload and its pods.
func (r *recorder) watch(ref cluster.Ref) error {
	o, err := r.store.lookup(ref)
	if err != nil {
		return err
	}
	*r = recorder{
		parts: r.parts, target: o, base: r.clock.at, start: r.clock.now(), createdPods: map[string]bool{}, presentPods: map[string]plan.Touch{}, retargeted: -1,
		extremes: extremes{available: math.MaxInt, ready: math.MaxInt},
	}
	r.retarget()
	for _, e := range r.store.all.pods {
		if e.class.counted && !e.Deleting {
			r.presentPods[e.UID] = plan.Touch{Name: e.Name, UID: e.UID, Node: e.Node}
		}
	}
	r.sample()
	return nil
}

// timeline returns what has happened since [World.Watch].
func (r *recorder) timeline() Timeline {
	// The pods that were there in the beginning and were changed, in their order.
	f := fates{recorder: r, active: len(r.presentPods), found: map[string]*present{}, names: map[string]bool{}}
	for uid, p := range r.presentPods {
		f.found[uid] = &present{Touch: p}
	}
	for i := range r.records {
		if r.records[i].Op == OpCreate {
			f.names[r.records[i].Pod] = true
		}
	}
	for i := range r.records {
		f.read(i, &r.records[i])
	}
	var list []*present
	for _, p := range f.found {
		if p.touched {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *present) int { return a.place - b.place })
	touches := make([]plan.Touch, len(list))
	for i, p := range list {
		touches[i] = p.Touch
	}

	recreated, deleted := 0, 0
	for _, t := range touches {
		switch t.Mode {
		case rules.ModeRecreate:
			recreated++
		case rules.ModeDelete:
			deleted++
		}
	}
	created := -recreated
	for uid := range r.createdPods {
		if e := r.store.podsByUID[uid]; e != nil && !e.Deleting {
			created++
		}
	}
	return Timeline{
		Start: r.start, Records: r.records, Samples: r.samples, Steps: r.steps, Touches: touches, Present: len(r.presentPods),
		Summary: Summary{
			Outcome: r.outcome, Reason: r.reason, Duration: max(r.duration(), 0),
			MostDown: r.extremes.down, MostPods: r.extremes.pods,
			Restarts: r.restarts, Recreated: recreated, Deleted: deleted, Created: max(created, 0), Pulls: r.pulls, Writes: r.writes,
		},
	}
}

// duration is until the end or, without one, until something happened last.
func (r *recorder) duration() time.Duration {
	if r.end > 0 {
		return r.end - r.base
	}
	return r.clock.active - r.base
}

// retarget counts again when the target wants another number of pods, or another
// revision.
func (r *recorder) retarget() {
	if r.target == nil || r.target.workload == nil {
		return
	}
	wanted, revision := r.store.wanted(r.target), updateRevision(r.target)
	if r.createdPods != nil && wanted == r.wanted && revision == r.revision && len(r.samples) > 0 {
		return
	}
	if r.revision != "" && revision != r.revision && r.retargeted < 0 {
		r.retargeted = r.clock.at - r.base
	}
	r.wanted, r.revision, r.counts = wanted, revision, counts{}
	for _, e := range r.store.all.pods {
		e.class = r.classify(e)
		r.counts.add(e.class, 1)
	}
	r.sample()
}

func (r *recorder) classify(e *pod) class {
	if !r.owns(e) {
		return class{}
	}
	c := class{counted: true, terminating: e.Deleting, updated: updated(r.target, e.Pod, r.revision)}
	c.ready = !e.Deleting && isReady(e.Pod)
	c.available = c.ready && settled(e.Pod)
	return c
}

// owns reports whether the pod belongs to the target. A SidecarSet has those that
// carry its containers.
func (r *recorder) owns(e *pod) bool {
	switch {
	case r.target == nil:
		return false
	case r.target.ref.Kind == kruise.KindSidecarSet:
		return injected(e.Pod, r.target.ref.Name)
	}
	return e.owner != nil && (e.owner == r.target || e.owner.parent == r.target || e.owner.shadow == r.target)
}

// settled reports whether no lifecycle state makes the pod unavailable.
func settled(p *cluster.Pod) bool {
	state := rules.StateOf(p)
	return state == rules.StateNone || state == rules.StateNormal
}

func (n *counts) add(c class, by int) {
	switch {
	case !c.counted:
		return
	case c.terminating:
		n.terminating += by
		return
	case c.available && c.updated:
		n.newUp += by
	case c.available:
		n.oldUp += by
	case c.updated:
		n.newDown += by
	default:
		n.oldDown += by
	}
	if c.ready {
		n.ready += by
	}
}

// sample keeps the present counts; there is one sample per moment.
func (r *recorder) sample() {
	n := r.counts
	s := Sample{At: r.clock.at - r.base, Old: n.oldUp, New: n.newUp, OldDown: n.oldDown, NewDown: n.newDown, Wanted: r.wanted}
	x := &r.extremes
	x.down, x.pods = max(x.down, s.Unavailable()), max(x.pods, s.Total())
	x.all = max(x.all, s.Total()+n.terminating)
	x.available, x.ready = min(x.available, n.oldUp+n.newUp), min(x.ready, n.ready)
	last := len(r.samples) - 1
	switch {
	case last >= 0 && r.samples[last].At == s.At:
		r.samples[last] = s
	case last < 0 || !same(r.samples[last], s):
		r.samples = append(r.samples, s)
	}
}

// part is which part of the pods has the new revision, once there is one.
func (r *recorder) part() float64 {
	if r.retargeted < 0 {
		return 0
	}
	return float64(r.counts.newUp+r.counts.newDown) / float64(max(r.wanted, 1))
}

func same(a, b Sample) bool {
	a.At = b.At
	return a == b
}

// reclassify counts a pod as it now is.
func (r *recorder) reclassify(e *pod) {
	now := r.classify(e)
	if now == e.class {
		return
	}
	r.counts.add(e.class, -1)
	r.counts.add(now, 1)
	e.class = now
	r.sample()
}

func (r *recorder) created(e *pod) {
	if r.target == nil {
		return
	}
	r.add(e, Record{Op: OpCreate})
	if r.owns(e) {
		r.createdPods[e.UID] = true
	}
	r.reclassify(e)
	r.kubelet.chooseFailing(e, "")
}

func (r *recorder) removed(e *pod) {
	if r.target == nil {
		return
	}
	r.add(e, Record{Op: OpGone})
	r.counts.add(e.class, -1)
	e.class = class{}
	r.sample()
}

// add keeps a record of a pod of the target.
func (r *recorder) add(e *pod, rec Record) {
	if r.target == nil || !r.owns(e) {
		return
	}
	rec.At, rec.Pod, rec.UID, rec.Node, rec.Revision = r.clock.at-r.base, e.Name, e.UID, e.Node, revisionOf(e.Pod)
	r.records = append(r.records, rec)
	if r.on != nil {
		r.on(rec)
	}
}

// changed keeps what a change did to a pod, in the words of the recordings.
func (r *recorder) changed(e *pod, before *cluster.Pod, reason string) {
	if r.target == nil {
		return
	}
	if r.owns(e) {
		// The records of one change.
		b := e.Pod
		out := written(before, b)
		if b.Deleting && !before.Deleting {
			out = append(out, Record{Op: OpDelete})
		}
		if from, to := rules.StateOf(before), rules.StateOf(b); from != to {
			out = append(out, Record{Op: OpLifecycle, From: string(from), To: string(to)})
		}
		out = append(out, conditions(before, b, kruise.InPlaceUpdateReady, kruise.KruisePodReady)...)
		out = append(out, containers(before, b)...)
		for _, rec := range append(out, conditions(before, b, string(corev1.PodReady))...) {
			rec.Reason = reason
			if rec.Op == OpStarted && rec.From != "" {
				r.restarts++
			}
			r.add(e, rec)
		}
	}
	r.reclassify(e)
	if before := revisionOf(before); before != revisionOf(e.Pod) {
		r.kubelet.chooseFailing(e, before)
	}
}

// written is what a controller wrote into the pod.
func written(a, b *cluster.Pod) []Record {
	var out []Record
	images := imagesChanged(a, b)
	from, to := revisionOf(a), revisionOf(b)
	switch {
	case a.Annotations[kruise.SidecarSetHashAnnotation] != b.Annotations[kruise.SidecarSetHashAnnotation] && a.Annotations[kruise.SidecarSetHashAnnotation] != "":
		out = append(out, Record{Op: OpSidecarUpdate, Container: images})
	case from != to && from != "":
		out = append(out, Record{Op: OpInPlace, From: from, To: to, Container: images})
	case images != "":
		out = append(out, Record{Op: OpApplyImages, Container: images})
	}
	if rules.SpecifiedDelete(b) && !rules.SpecifiedDelete(a) {
		out = append(out, Record{Op: OpMarkDelete})
	}
	return out
}

// imagesChanged names the containers whose images changed.
func imagesChanged(a, b *cluster.Pod) string {
	if sameSlice(a.Containers, b.Containers) {
		return ""
	}
	var out []string
	for i := range b.Containers {
		if a.Containers[i].Image != b.Containers[i].Image {
			out = append(out, b.Containers[i].Name)
		}
	}
	return strings.Join(out, ",")
}

// sameSlice reports whether two lists share their elements.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// conditions are those that users follow.
func conditions(a, b *cluster.Pod, kinds ...string) []Record {
	if sameSlice(a.Conditions, b.Conditions) {
		return nil
	}
	var out []Record
	for _, kind := range kinds {
		was, known := a.Condition(kind)
		is, _ := b.Condition(kind)
		up, down := OpMarkReady, OpMarkNotReady
		if kind == string(corev1.PodReady) {
			up, down = OpReady, OpNotReady
		}
		switch {
		case was.Status == is.Status || !known:
		case is.Status == corev1.ConditionTrue:
			out = append(out, Record{Op: up, To: kind})
		case was.Status == corev1.ConditionTrue:
			out = append(out, Record{Op: down, To: kind})
		}
	}
	return out
}

// containers are stops, starts and what keeps containers from running.
func containers(a, b *cluster.Pod) []Record {
	if sameSlice(a.Containers, b.Containers) {
		return nil
	}
	var out []Record
	for i := range b.Containers {
		was, is := &a.Containers[i], &b.Containers[i]
		ran, runs := was.Reported && was.Waiting == "", is.Reported && is.Waiting == ""
		switch {
		case runs && !ran:
			rec := Record{Op: OpStarted, Container: is.Name, To: is.Image}
			if was.Reported && was.StatusImage != "" {
				rec.From = was.StatusImage
			}
			out = append(out, rec)
		case ran && !runs:
			out = append(out, Record{Op: OpStopped, Container: is.Name})
		}
		if is.Waiting != was.Waiting && slices.Contains([]string{waitingBackOff, waitingCrash}, is.Waiting) {
			out = append(out, Record{Op: OpWaiting, Container: is.Name, To: is.Waiting})
		}
	}
	return out
}
