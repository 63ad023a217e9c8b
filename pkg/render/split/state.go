package split

import (
	"math"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/allocate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// state is what allocation wants to know of a subset (docs/kruise/distribution.md#which-allocator).
// Rendering has no clock: a condition or pod that says unschedulable is taken as recent or as
// overdue, whichever counts.
func (f *found) state(subset string) allocate.State {
	var s allocate.State
	if w := f.workloads[subset]; w != nil {
		s.Current = 1 // what every kind of workload defaults to
		if n := tree.Get(w.Node(), "spec", "replicas"); n != nil {
			s.Current = count(n)
		}
		s.Ready = count(tree.Get(w.Node(), "status", "readyReplicas"))
	}
	s.Unschedulable = f.marked(subset) || f.stuck(subset)
	s.Reserved = f.reserved(subset)
	return s
}

// marked reports whether the subset's condition Schedulable is False.
func (f *found) marked(subset string) bool {
	condition, _ := tree.Find(tree.Get(f.status[subset], "conditions"), "type", "Schedulable")
	return tree.StrAt(condition, "status") == "False"
}

// stuck reports whether a pod of the subset waits for a node in vain.
func (f *found) stuck(subset string) bool {
	return slices.ContainsFunc(f.pods[subset], pending)
}

// pending is Kruise's test of a pod, without its age.
func pending(p *resource.Resource) bool {
	n := p.Node()
	scheduled, _ := tree.Find(tree.Get(n, "status", "conditions"), "type", "PodScheduled")
	return tree.StrAt(n, "status", "phase") == "Pending" &&
		tree.StrAt(n, "spec", "nodeName") == "" &&
		tree.Get(n, "metadata", "deletionTimestamp") == nil &&
		tree.StrAt(scheduled, "status") == "False" && tree.StrAt(scheduled, "reason") == "Unschedulable"
}

// reserved counts the subset's pods that are, or are about to be, replaced
// elsewhere; where no pod is known the status has the number.
func (f *found) reserved(subset string) int32 {
	pods, known := f.pods[subset]
	if !known {
		return count(tree.Get(f.status[subset], "reservedPods"))
	}
	var n int32
	for _, p := range pods {
		if p.Label(kruise.UnitedDeploymentReservedPodLabel) == "true" || pending(p) {
			n++
		}
	}
	return n
}

// count reads a number of pods; what is none counts as 0.
func count(n *tree.Node) int32 {
	v, _ := tree.Int(n)
	return int32(min(max(v, 0), math.MaxInt32))
}
