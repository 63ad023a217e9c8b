package rules

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Forecast predicts which pods an update of a CloneSet reaches when its partition falls step by
// step. It makes the controller's own passes ([CloneSet.Scale] and [CloneSet.TakeUpdate], which
// the simulator makes too) over copies of the pods, and pods are available in the order of the
// passes that started them. Surge pods make the controller delete old pods at the end of each
// step, and pods that are replaced change what scatterStrategy counts: neither can be read off an
// order that is sorted once.
type Forecast struct {
	set *CloneSet
	// mode is what an update does to a pod.
	mode  func(*cluster.Pod) UpdateMode
	total int
	// goal is how many pods are updated at the end of the present step.
	goal int
	// origin are the pods that were given, by the copy that takes the place of each.
	origin map[*cluster.Pod]*cluster.Pod
	// starting are pods that are not available yet, by the pass that started them.
	starting [][]*cluster.Pod
	made     int
	out      []Reached
	// leaving is how many pods the change takes away for good; seen are pods that were reached. Both
	// are for a forecast of a whole change.
	leaving int
	seen    map[*cluster.Pod]bool
}

// Reached is a pod that an update reaches.
type Reached struct {
	Pod *cluster.Pod
	// Surplus is true for a pod that scale-down deletes because a surge pod has taken
	// its place.
	Surplus bool
	// Named is true for a pod that podsToDelete or its label names, Leaves for one that
	// no other pod takes the place of. Only a forecast of a whole change has both.
	Named, Leaves bool
}

// Forecasts reports whether only a [Forecast] knows which pods an update reaches; a
// [Queue] does otherwise.
func (c *CloneSet) Forecasts() bool {
	rolling := c.unpaused()
	limits := *c.Spec
	limits.UpdateStrategy.RollingUpdate = &rolling
	return LimitsOfCloneSet(&limits).MaxSurge > 0 || len(rolling.ScatterStrategy) > 0
}

func (c *CloneSet) unpaused() kruise.RollingUpdateCloneSetStrategy {
	rolling := c.rolling()
	rolling.Paused = false
	return rolling
}

// Forecast starts a forecast for total pods. Lifecycle hooks, minReadySeconds and the
// rate of scaling only take time and are left out.
func (c *CloneSet) Forecast(total int, mode func(*cluster.Pod) UpdateMode) *Forecast {
	f := c.forecast(total, mode)
	f.goal = f.updated()
	// What the present partition makes of the pods is no part of the first step.
	f.settle()
	f.out = nil
	return f
}

// ForecastChange starts a forecast of a change that is written as a whole, number of pods and
// podsToDelete included: what these do is a part of the first step. updated is how many pods
// are up to date before it.
func (c *CloneSet) ForecastChange(total, updated int, mode func(*cluster.Pod) UpdateMode) *Forecast {
	f := c.forecast(total, mode)
	f.goal, f.seen, f.leaving = min(updated, total), map[*cluster.Pod]bool{}, max(len(c.active())-total, 0)
	return f
}

func (c *CloneSet) forecast(total int, mode func(*cluster.Pod) UpdateMode) *Forecast {
	set, spec, rolling := *c, *c.Spec, c.unpaused()
	spec.Replicas = new(int32(total))
	spec.Lifecycle, spec.MinReadySeconds, spec.ScaleStrategy.MaxUnavailable = nil, 0, nil
	spec.UpdateStrategy.RollingUpdate = &rolling
	set.Spec, set.Pods, set.Answers = &spec, slices.Clone(c.Pods), &cluster.Answers{}
	f := &Forecast{set: &set, mode: mode, total: total, origin: map[*cluster.Pod]*cluster.Pod{}}
	for _, p := range set.Pods {
		f.origin[p] = p
	}
	return f
}

func (f *Forecast) updated() int {
	n := f.set.Count(false)
	return n.New.Active
}

// Take returns the pods that change when n more of them may be updated, in the order
// in which the controller comes to them. Pods that are not there yet are not among
// them.
func (f *Forecast) Take(n int) []Reached {
	f.out = nil
	f.goal = min(f.goal+n, f.total)
	f.settle()
	f.rest()
	return f.out
}

// settle makes passes until there is nothing to do. Each creates, marks, deletes or
// updates a pod, none of which happens to a pod twice.
func (f *Forecast) settle() {
	kept := intstr.FromInt32(int32(max(f.total-f.goal, 0)))
	f.set.Spec.UpdateStrategy.RollingUpdate.Partition = &kept
	for range 8 * (len(f.set.Pods) + f.total + 1) {
		f.starting = append(f.starting, nil)
		acted := f.pass()
		if last := len(f.starting) - 1; len(f.starting[last]) == 0 {
			f.starting = f.starting[:last]
		}
		if !acted && !f.started() {
			return
		}
	}
}

// started makes the pods available that one pass started, the earliest first, and
// reports whether there were any.
func (f *Forecast) started() bool {
	if len(f.starting) == 0 {
		return false
	}
	for _, p := range f.starting[0] {
		if i := slices.Index(f.set.Pods, p); i >= 0 {
			ready := *p
			ready.Conditions = []cluster.Condition{{Type: string(corev1.PodReady), Status: corev1.ConditionTrue, Since: f.set.Now}}
			f.origin[&ready] = f.origin[p]
			f.set.Pods[i] = &ready
		}
	}
	f.starting = f.starting[1:]
	return true
}

// pass reports whether it changed anything.
func (f *Forecast) pass() bool {
	if s := f.set.Scale(); s.Acts() {
		f.scale(s)
		return true
	}
	return f.update(f.set.TakeUpdate().Pods)
}

// update reports whether it changed anything.
func (f *Forecast) update(list []*cluster.Pod) bool {
	for i, p := range list {
		mode := f.modeOf(p)
		if mode == ModeNotAllowed { // it ends the controller's pass
			return i > 0
		}
		f.reach(p, Reached{})
		if mode == ModeRecreate {
			f.relabel(p, kruise.SpecifiedDeleteLabel, "true")
		} else {
			f.renew(p)
		}
	}
	return len(list) > 0
}

func (f *Forecast) scale(s CloneSetScale) {
	for _, p := range s.Undo {
		f.relabel(p, kruise.LifecycleStateLabel, string(StateNormal))
	}
	for _, p := range s.Delete {
		f.remove(p)
		f.replace(p, &cluster.Pod{Deleting: true})
	}
	for range s.CreateOld {
		f.create(f.set.Current)
	}
	for range s.CreateNew {
		f.create(f.set.Update)
	}
}

// modeOf is what an update does to a pod. One that is made on the way is asked for by its
// own labels.
func (f *Forecast) modeOf(p *cluster.Pod) UpdateMode {
	if origin := f.origin[p]; origin != nil {
		return f.mode(origin)
	}
	return f.mode(p)
}

// rest takes pods that the controller would never come to, such as those of a
// CloneSet without any budget: a plan lists them and warns.
func (f *Forecast) rest() {
	f.starting = [][]*cluster.Pod{nil}
	missing := f.goal - f.updated()
	if missing <= 0 {
		return
	}
	order := f.set.UpdateCandidates(false)
	for _, p := range order[:upTo(missing, len(order))] {
		f.reach(p, Reached{})
		f.renew(p)
	}
}

// remove notes why a pod is deleted that no update has marked.
func (f *Forecast) remove(p *cluster.Pod) {
	marked := f.set.marked(p)
	switch {
	case f.seen == nil && !marked && !f.set.updated(p):
		f.reach(p, Reached{Surplus: true})
	case f.seen == nil || f.origin[p] == nil || f.seen[f.origin[p]]:
	case f.leaving > 0:
		f.leaving--
		f.reach(p, Reached{Named: marked, Leaves: true})
	default:
		f.reach(p, Reached{Named: marked, Surplus: !marked})
	}
}

func (f *Forecast) reach(p *cluster.Pod, r Reached) {
	r.Pod = f.origin[p]
	if r.Pod == nil {
		return
	}
	f.out = append(f.out, r)
	if f.seen != nil {
		f.seen[r.Pod] = true
	}
}

// renew makes a pod one of the update revision, which starts.
func (f *Forecast) renew(p *cluster.Pod) {
	updated := f.starts(withLabels(p.Labels, revisionLabels(f.set.Update)))
	delete(updated.Labels, kruise.LifecycleStateLabel)
	updated.Name, updated.UID, updated.Node, updated.Created = p.Name, p.UID, p.Node, p.Created
	f.replace(p, updated)
}

// relabel gives a pod one more label.
func (f *Forecast) relabel(p *cluster.Pod, key, value string) {
	changed := *p
	changed.Digested = cluster.Digest{}
	changed.Labels = withLabels(p.Labels, map[string]string{key: value})
	f.origin[&changed] = f.origin[p]
	f.replace(p, &changed)
}

// create makes a pod in the place of one that went, so that what is known of the others holds.
func (f *Forecast) create(revision string) {
	f.made++
	p := f.starts(withLabels(f.set.Spec.Template.Labels, revisionLabels(revision)))
	p.Name = "new-" + strconv.Itoa(f.made)
	p.UID, p.Node, p.Created = p.Name, p.Name, f.set.Now
	if i := slices.IndexFunc(f.set.Pods, func(p *cluster.Pod) bool { return p.Name == "" }); i >= 0 {
		f.set.Pods[i] = p
		return
	}
	f.set.Pods = append(f.set.Pods, p)
}

// replace puts a pod in the place of another.
func (f *Forecast) replace(old, by *cluster.Pod) {
	f.set.Pods[slices.Index(f.set.Pods, old)] = by
}

// starts is a pod that is not available before the controller has nothing else to do.
func (f *Forecast) starts(labels map[string]string) *cluster.Pod {
	p := &cluster.Pod{Labels: labels, Phase: corev1.PodRunning}
	last := len(f.starting) - 1
	f.starting[last] = append(f.starting[last], p)
	return p
}

func revisionLabels(revision string) map[string]string {
	return map[string]string{cluster.RevisionLabel: revision}
}

// withLabels returns labels with more of them.
func withLabels(labels, more map[string]string) map[string]string {
	out := make(map[string]string, len(labels)+len(more))
	maps.Copy(out, labels)
	maps.Copy(out, more)
	return out
}
