package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// store keeps what the cluster consists of: objects, pods and namespaces. It decides nothing.
type store struct {
	// ids counts the uids that were given out.
	ids        int
	objects    map[cluster.Ref]*object
	owners     map[string]*object
	podsByUID  map[string]*pod
	podsByName map[podName]*pod
	all        podList
	namespaces map[string]map[string]string
	// sets are the SidecarSets, in the order of their names.
	sets []*object
	// version counts changes of what all snapshots show, moves pods that came or went.
	version, moves uint64
}

type podName struct{ namespace, name string }

// newUID returns a uid that nothing else has, what was loaded from another world
// included.
func (s *store) newUID() string {
	for {
		s.ids++
		id := "uid-" + strconv.Itoa(s.ids)
		if s.podsByUID[id] == nil && s.owners[id] == nil {
			return id
		}
	}
}

// object is one stored object with what its controller keeps about it.
type object struct {
	ref cluster.Ref
	// doc is the object as it was written, in its version, without status.
	doc *tree.Node
	// workload is nil for kinds that no controller here runs.
	workload  *cluster.Workload
	revisions []cluster.Revision
	// templates are pods as the revisions make them, by name of the revision.
	templates map[string]*prototype
	pods      podList
	// answers is what is remembered of its pods from pass to pass.
	answers cluster.Answers
	// claims are those that may belong to its pods, as they were after so many changes of all claims.
	claims     []*cluster.Claim
	claimsRead int
	// parent is the Deployment of a ReplicaSet, children those of a Deployment.
	parent   *object
	children []*object
	wakeup
	// refusals are how often in a row its writes were refused, refusal is why the
	// last one was.
	refusals int
	refusal  string
	// version counts its changes and those of its pods.
	version  uint64
	progress plan.Progress
	// recorded is the version at which progress was recorded last.
	recorded uint64
	verified map[string]plan.Result
	pulled   pullCounts
	// pulling are images that were asked for.
	pulling map[string]bool
	// pulls are those that went wrong.
	pulls map[string]plan.PullState
	// restarts are those that were asked for, by plan.RestartKey.
	restarts map[string]restart
	// carrier is the native object that carries this one, which then has no
	// controller; shadow is the other way round.
	carrier, shadow *object
	// base is what a snapshot has as the recorded template.
	base map[string]any
}

func newObject(ref cluster.Ref) *object {
	return &object{
		ref: ref, templates: map[string]*prototype{}, verified: map[string]plan.Result{}, pulling: map[string]bool{},
		pulls: map[string]plan.PullState{}, restarts: map[string]restart{},
	}
}

// remembered is what a controller may remember of the object's pods, nil for nothing.
func (o *object) remembered(opt *Options) *cluster.Answers {
	if opt.forgets {
		return nil
	}
	return &o.answers
}

// pod is one pod with its place in the lists, and what its node knows of it. The
// pod itself is shared with every snapshot that shows it: a change replaces it.
type pod struct {
	*cluster.Pod
	owner      *object
	inAll, inO int
	// runtime is one entry per container.
	runtime []container
	// stopping is true as soon as the node has begun to stop it, ended when nothing
	// of it runs any more.
	stopping, stopped bool
	// weights are what it counts for the budgets that cover it.
	weights []weight
	// memberOf are the budgets that may cover it, where there are many.
	memberOf []*members
	// class is how the recorder counts it.
	class class
	// prototype is what the pod was made from; nil for one that was there before.
	prototype *prototype
}

// container is what the node knows of one container beyond the pod's status.
type container struct {
	// image is what runs, or what is being started.
	image string
	// started is whether a container of this name has ever run, healthy whether it
	// has run for long enough to be ready.
	started, running, healthy bool
	// failed is whether the image could not be pulled.
	failed  bool
	crashes int
	// generation changes whenever what was planned for the container is void.
	generation int
}

// podList keeps pods and, at the same places, what is in them now, so that a
// controller sees them without a copy.
type podList struct {
	pods []*pod
	now  []*cluster.Pod
}

func (l *podList) add(p *pod) int {
	place := len(l.now)
	l.pods, l.now = append(l.pods, p), append(l.now, p.Pod)
	return place
}

// set shows what is in the pod of a place now.
func (l *podList) set(i int, p *cluster.Pod) { l.now[i] = p }

// drop removes the pod of a place; the last one takes it, and is returned so
// that it learns of it.
func (l *podList) drop(i int) *pod {
	last := len(l.now) - 1
	moved := l.pods[last]
	l.pods[i] = moved
	l.set(i, l.now[last])
	l.pods[last], l.now[last] = nil, nil
	l.pods, l.now = l.pods[:last], l.now[:last]
	return moved
}

// lookup returns an object, or an error that wraps [plan.ErrNotFound].
func (s *store) lookup(ref cluster.Ref) (*object, error) {
	if o := s.objects[ref]; o != nil {
		return o, nil
	}
	return nil, fmt.Errorf("%s: %w", ref, plan.ErrNotFound)
}

// sortedObjects returns the objects in the order of their names: nothing may depend on
// the order of a map.
func (s *store) sortedObjects() []*object {
	out := slices.Collect(maps.Values(s.objects))
	slices.SortFunc(out, func(a, b *object) int { return compareRefs(a.ref, b.ref) })
	return out
}

func compareRefs(a, b cluster.Ref) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Kind, b.Kind),
		strings.Compare(a.Group, b.Group), strings.Compare(a.Name, b.Name))
}

// ownerOf returns the object that an owner reference of a namespace names: by
// its uid or, where that is not known, by its name.
func (s *store) ownerOf(namespace string, owner cluster.Owner) *object {
	if o := s.owners[owner.UID]; o != nil || owner.Kind == "" {
		return o
	}
	var first *object // in the order of names
	for ref, o := range s.objects {
		if ref.Kind == owner.Kind && ref.Name == owner.Name && ref.Namespace == namespace && o.workload != nil &&
			(first == nil || compareRefs(ref, first.ref) < 0) {
			first = o
		}
	}
	return first
}

// workloadOf finds the workload that a pod ends up with, as admission asks for it.
func (s *store) workloadOf(namespace string, owner cluster.Owner) *cluster.Workload {
	o := s.ownerOf(namespace, owner)
	switch {
	case o == nil:
		return nil
	case o.parent != nil:
		return o.parent.workload
	}
	return o.workload
}

// findPod returns the pod of a reference, never its successor of the same name: a uid
// that is given must be the pod's.
func (s *store) findPod(ref plan.PodRef) (*pod, error) {
	e := s.podsByName[podName{ref.Namespace, ref.Name}]
	if e == nil || (ref.UID != "" && e.UID != ref.UID) {
		return nil, fmt.Errorf("pod %s: %w", ref.Name, plan.ErrNotFound)
	}
	return e, nil
}

// touch notes that a snapshot of the object would show something new.
func (s *store) touch(o *object) {
	for ; o != nil; o = o.parent {
		o.version++
		if o.shadow != nil {
			o.shadow.version++
		}
	}
}

// listSet keeps the list of SidecarSets, in the order of their names, after one of them was
// written.
func (s *store) listSet(set *object) {
	place, known := slices.BinarySearchFunc(s.sets, set.ref, func(o *object, ref cluster.Ref) int { return compareRefs(o.ref, ref) })
	if known {
		s.sets[place] = set
		return
	}
	s.sets = slices.Insert(s.sets, place, set)
}

// podsOf returns the pods that the object's controller sees, in a list that must
// not be kept.
func (s *store) podsOf(o *object) []*cluster.Pod {
	if o.carrier != nil {
		return s.podsOf(o.carrier)
	}
	return podsOf(s.all.now, o)
}

// podsIn are the pods of a namespace, in a list that must not be kept.
func (s *store) podsIn(namespace string) []*cluster.Pod {
	if len(s.namespaces) <= 1 {
		return s.all.now
	}
	var out []*cluster.Pod
	for _, p := range s.all.now {
		if p.Namespace == namespace {
			out = append(out, p)
		}
	}
	return out
}

// revisionsOf are the stored templates; those of a Deployment are its
// ReplicaSets.
func (s *store) revisionsOf(o *object) []cluster.Revision {
	if o.ref.Kind != kruise.KindDeployment {
		return o.revisions
	}
	var out []cluster.Revision
	for _, child := range o.children {
		rs := child.workload
		n, _ := strconv.ParseInt(rs.Annotations[cluster.DeploymentRevisionAnnotation], 10, 64)
		out = append(out, cluster.Revision{Name: rs.Name, Number: n, Template: cluster.WithLabel(rs.Template, appsv1.DefaultDeploymentUniqueLabelKey, nil)})
	}
	return out
}

// concerns reports whether one of a budget's pods is the object's.
func (s *store) concerns(o *object, budget []*cluster.Pod) bool {
	return slices.ContainsFunc(budget, func(p *cluster.Pod) bool {
		e := s.podsByUID[p.UID]
		switch {
		case o.ref.Kind == kruise.KindSidecarSet:
			return true
		case e == nil || e.owner == nil:
			return false
		}
		return e.owner == o || e.owner.parent == o || e.owner.shadow == o
	})
}

// versionOf changes whenever the snapshot does.
func (s *store) versionOf(o *object) string {
	return strconv.FormatUint(o.version, 36) + "." + strconv.FormatUint(s.version, 36)
}

// PodNamed finds a pod by its name, nil when it is gone.
func (s *store) PodNamed(namespace, name string) *cluster.Pod {
	if e := s.podsByName[podName{namespace, name}]; e != nil {
		return e.Pod
	}
	return nil
}
