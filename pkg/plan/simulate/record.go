package simulate

import (
	"math"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// recorder keeps what happens to the pods of one workload. Until it has a target
// it only counts.
type recorder struct {
	target   *object
	base     time.Duration
	start    time.Time
	revision string
	// turned is when the target first had another revision, negative before.
	turned   time.Duration
	wanted   int
	counts   counts
	extremes extremes
	records  []Record
	samples  []Sample
	steps    []StepMark
	// made are pods that were created since the beginning.
	made                map[string]bool
	restarts, recreated int
	pulls, writes       int
	outcome             Outcome
	reason              string
	// end is when a run was over; 0 while nobody has said so.
	end time.Duration
	// on is told of each record, which is how tests act from outside.
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

// Watch begins a new timeline, of one workload and its pods.
func (w *World) Watch(ref cluster.Ref) error {
	o, err := w.lookup(ref)
	if err != nil {
		return err
	}
	w.rec = recorder{
		target: o, base: w.at, start: w.now(), made: map[string]bool{}, turned: -1,
		extremes: extremes{available: math.MaxInt, ready: math.MaxInt},
	}
	w.rec.retarget(w)
	w.rec.sample(w)
	return nil
}

// Timeline returns what has happened since [World.Watch].
func (w *World) Timeline() Timeline {
	r := &w.rec
	return Timeline{
		Start: r.start, Records: r.records, Samples: r.samples, Steps: r.steps,
		Summary: Summary{
			Outcome: r.outcome, Reason: r.reason, Duration: max(r.lasted(w), 0),
			MostDown: r.extremes.down, MostPods: r.extremes.pods,
			Restarts: r.restarts, Recreated: r.recreated, Pulls: r.pulls, Writes: r.writes,
		},
	}
}

// lasted is until the end or, without one, until something happened last.
func (r *recorder) lasted(w *World) time.Duration {
	if r.end > 0 {
		return r.end - r.base
	}
	return w.active - r.base
}

// retarget counts anew when the target wants another number of pods, or another
// revision.
func (r *recorder) retarget(w *World) {
	if r.target == nil || r.target.workload == nil {
		return
	}
	wanted, revision := w.wanted(r.target), kindOf(r.target).updateRevision(r.target)
	if r.made != nil && wanted == r.wanted && revision == r.revision && len(r.samples) > 0 {
		return
	}
	if r.revision != "" && revision != r.revision && r.turned < 0 {
		r.turned = w.at - r.base
	}
	r.wanted, r.revision, r.counts = wanted, revision, counts{}
	for _, e := range w.all.pods {
		e.class = r.classify(e)
		r.counts.add(e.class, 1)
	}
	r.sample(w)
}

func (r *recorder) classify(e *pod) class {
	if !r.owns(e) {
		return class{}
	}
	c := class{counted: true, terminating: e.Deleting, updated: r.updated(e.Pod)}
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
func (r *recorder) sample(w *World) {
	n := r.counts
	s := Sample{At: w.at - r.base, Old: n.oldUp, New: n.newUp, OldDown: n.oldDown, NewDown: n.newDown, Wanted: r.wanted}
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

func same(a, b Sample) bool {
	a.At = b.At
	return a == b
}

// reclassify counts a pod as it now is.
func (r *recorder) reclassify(w *World, e *pod) {
	now := r.classify(e)
	if now == e.class {
		return
	}
	r.counts.add(e.class, -1)
	r.counts.add(now, 1)
	e.class = now
	r.sample(w)
}

func (r *recorder) created(w *World, e *pod) {
	if r.target == nil {
		return
	}
	r.add(w, e, Record{Op: OpCreate})
	if r.owns(e) {
		r.made[e.UID] = true
	}
	r.reclassify(w, e)
	w.fate(e, "")
}

func (r *recorder) gone(w *World, e *pod) {
	if r.target == nil {
		return
	}
	r.add(w, e, Record{Op: OpGone})
	r.counts.add(e.class, -1)
	e.class = class{}
	r.sample(w)
}

// add keeps a record of a pod of the target.
func (r *recorder) add(w *World, e *pod, rec Record) {
	if r.target == nil || !r.owns(e) {
		return
	}
	rec.At, rec.Pod, rec.UID, rec.Node, rec.Revision = w.at-r.base, e.Name, e.UID, e.Node, revisionOf(e.Pod)
	r.records = append(r.records, rec)
	if r.on != nil {
		r.on(rec)
	}
}
