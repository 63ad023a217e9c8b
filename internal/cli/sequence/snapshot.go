package sequence

import (
	"errors"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// many is how many pods there are taken to be where nobody says: with a hundred of
// them every percentage is a whole number.
const many = 100

// assume settles how many pods there are, on both sides.
func (w *rollout) assume() {
	w.was, w.next = copied(w.was), copied(w.next)
	before, after := tree.Get(w.was.Node(), "spec", "replicas"), tree.Get(w.next.Node(), "spec", "replicas")
	switch {
	case w.next.Kind() == kruise.KindSidecarSet:
		w.known.Count = false
		return
	case w.next.Kind() == kruise.KindDaemonSet:
		n, _ := tree.Int(tree.Get(w.was.Node(), "status", "desiredNumberScheduled"))
		w.known.Count = n > 0
		return
	case w.scaled[w.id(w.next)], before == nil && after == nil:
		w.known.Count = false
		w.setReplicas(w.was, many)
		w.setReplicas(w.next, many)
	case after == nil:
		tree.SetAt(w.next.Edit(), tree.Clone(before), "spec", "replicas")
	}
}

func (w *rollout) setReplicas(r *resource.Resource, n int64) {
	tree.SetAt(r.Edit(), tree.Int64(n), "spec", "replicas")
}

func copied(r *resource.Resource) *resource.Resource {
	return resource.Parsed(tree.Clone(tree.Root(r.Node())), nil, r.Origin)
}

// snapshot is what is known of the old state: with the pods of the context, or with
// pods made up, which the plan is tried on and nobody is told of. Where even those
// would not come up it is the object alone.
func (w *rollout) snapshot() (plan.Snapshot, error) {
	others := slices.Concat(w.others(w.Old), w.others(w.Context))
	if clusterread.HasPods(others) {
		s, err := w.recorded(others)
		if err != nil || len(s.Pods) > 0 {
			return s, err
		}
	}
	others = slices.DeleteFunc(others, func(r *resource.Resource) bool { return r.Is("", "Pod") })
	s, err := clusterread.Invent(w.was, w.around(others), clusterread.Invention{Pods: w.pods(), Gates: w.Gates})
	if err == nil {
		return s, nil
	}
	reason := err
	if fault, ok := errors.AsType[*resource.Error](err); ok {
		reason = fault.Err
	}
	w.warn("not simulated, so it may not be able to finish: %v", reason)
	read, err := cluster.ReadWorkload(w.was.Node())
	return plan.Snapshot{Workload: read, Gates: w.Gates.Gates}, w.was.Wrap(err, "")
}

// around leaves out what would carry the pods of a SidecarSet: how many there are
// in a cluster its manifests do not say.
func (w *rollout) around(list []*resource.Resource) []*resource.Resource {
	if w.next.Kind() != kruise.KindSidecarSet {
		return list
	}
	return slices.DeleteFunc(list, func(r *resource.Resource) bool { return cluster.IsWorkload(r.Group(), r.Kind()) })
}

// pods is how many are made up; 0 is what the manifest says.
func (w *rollout) pods() int {
	if !w.known.Count {
		return many
	}
	n, _ := tree.Int(tree.Get(w.was.Node(), "status", "desiredNumberScheduled"))
	return int(n)
}

// others are the objects of a list beside the workload itself.
func (w *rollout) others(list []*resource.Resource) []*resource.Resource {
	own := w.id(w.next)
	return slices.DeleteFunc(slices.Clone(list), func(r *resource.Resource) bool { return w.id(r) == own })
}

// recorded is what the context holds.
func (w *rollout) recorded(others []*resource.Resource) (plan.Snapshot, error) {
	for _, r := range []*resource.Resource{w.was, w.next} {
		if r.Namespace() == "" && r.Kind() != kruise.KindSidecarSet {
			tree.SetAt(r.Edit(), tree.String(w.namespace()), "metadata", "namespace")
		}
	}
	st, err := clusterread.ReadObjects(others)
	if err != nil {
		return plan.Snapshot{}, err
	}
	w.at = clusterread.RecordedAt(st.Pods)
	given := w.identify(st.Pods)
	st.Objects = append(st.Objects, w.was.Node())
	ref := cluster.Ref{Group: w.was.Group(), Kind: w.was.Kind(), Namespace: w.was.Namespace(), Name: w.was.Name()}
	s, err := clusterread.Snapshot(st, ref, w.Gates.Gates, w.at)
	if err == nil && !given {
		bare := *s.Workload
		bare.UID = ""
		s.Workload = &bare
	}
	if err == nil && len(s.Pods) > 0 {
		w.known.Pods = true
		w.known.Count = w.known.Count || !w.scaled[w.id(w.next)]
	}
	return s, w.was.Wrap(err, "")
}

// identify gives the workload the uid that its pods know their owner by. It is
// false where nobody knows one: nothing may be pinned to what a model makes up.
func (w *rollout) identify(pods []*cluster.Pod) bool {
	if tree.StrAt(w.was.Node(), "metadata", "uid") != "" {
		return true
	}
	for _, p := range pods {
		if o := p.Owner; o.UID != "" && o.Kind == w.was.Kind() && o.Name == w.was.Name() && p.Namespace == w.was.Namespace() {
			tree.SetAt(w.was.Edit(), tree.String(o.UID), "metadata", "uid")
			return true
		}
	}
	return false
}
