package clusterread

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// ReadObjects sorts objects into a state. Faults are placed in their files.
func ReadObjects(list []*resource.Resource) (simulate.State, error) {
	s := simulate.State{Revisions: map[cluster.Ref][]cluster.Revision{}}
	var errs resource.Errors
	for _, r := range list {
		errs.Add(r.Wrap(addObject(&s, r), ""))
	}
	return s, errs.Err()
}

func addObject(s *simulate.State, r *resource.Resource) error {
	switch {
	case r.Is("", "Pod"):
		var p corev1.Pod
		if _, err := tree.Decode(r.Node(), &p); err != nil {
			return err
		}
		s.Pods = append(s.Pods, cluster.ReadPod(&p))
	case r.Is("", "Node"):
		var n corev1.Node
		if _, err := tree.Decode(r.Node(), &n); err != nil {
			return err
		}
		s.Nodes = append(s.Nodes, cluster.ReadNode(&n))
	case r.Is("apps", "ControllerRevision"):
		var c appsv1.ControllerRevision
		if _, err := tree.Decode(r.Node(), &c); err != nil {
			return err
		}
		return addRevision(s, &c)
	case r.Is("", "Namespace"), r.Is("policy", "PodDisruptionBudget"), r.Is(kruise.PolicyGroup, kruise.KindPodUnavailableBudget), cluster.IsWorkload(r.Group(), r.Kind()):
		s.Objects = append(s.Objects, r.Node())
	}
	return nil
}

// addRevision adds a stored template to those of the workload that owns it. One
// without an owner belongs to nothing and is passed over.
func addRevision(s *simulate.State, c *appsv1.ControllerRevision) error {
	ref, ok := revisionOwner(c)
	if !ok {
		return nil
	}
	revision, err := cluster.ReadRevision(c)
	if err != nil {
		return err
	}
	s.Revisions[ref] = append(s.Revisions[ref], revision)
	return nil
}

// revisionOwner returns the workload of a revision; those of SidecarSets name theirs in
// a label (docs/kruise/sidecarset.md#which-pods-match).
func revisionOwner(c *appsv1.ControllerRevision) (cluster.Ref, bool) {
	if name := c.Labels[kruise.SidecarSetNameLabel]; name != "" {
		return cluster.Ref{Group: kruise.Group, Kind: kruise.KindSidecarSet, Name: name}, true
	}
	o := metav1.GetControllerOfNoCopy(c)
	if o == nil {
		return cluster.Ref{}, false
	}
	return cluster.Ref{Group: resource.GroupOf(o.APIVersion), Kind: o.Kind, Namespace: c.Namespace, Name: o.Name}, true
}

// Snapshot returns what is known of one workload in a state at a time.
func Snapshot(s simulate.State, ref cluster.Ref, gates cluster.Gates, now time.Time) (plan.Snapshot, error) {
	w, err := Load(s, gates, now)
	if err != nil {
		return plan.Snapshot{}, err
	}
	return w.Snapshot(ref)
}

// Load returns a model cluster that is in a state at a time. Its snapshots of several workloads
// are those of [Snapshot].
func Load(s simulate.State, gates cluster.Gates, now time.Time) (*simulate.World, error) {
	w := simulate.New(simulate.Options{Gates: gates, Start: now})
	return w, w.Load(s)
}

// ReadSource rebuilds the Kruise workload that a native one was rendered from; faults
// are placed in its file.
func ReadSource(carrier *resource.Resource, kind, name string) (*cluster.Workload, error) {
	w, err := cluster.ReadSource(carrier.Node(), kind, name)
	return w, carrier.Wrap(err, "")
}

// HasPods reports whether there are pods among the objects.
func HasPods(list []*resource.Resource) bool {
	return slices.ContainsFunc(list, func(r *resource.Resource) bool { return r.Is("", "Pod") })
}
