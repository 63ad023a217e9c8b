package rules

import (
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// CloneSet is a CloneSet with all that its rules look at.
type CloneSet struct {
	Spec *kruise.CloneSetSpec
	// Current and Update are the revisions in the status; an empty Current is
	// read as Update (docs/kruise/workloads.md#revisions).
	Current, Update string
	// Pods are those that the CloneSet owns, in any order.
	Pods []*cluster.Pod
	// Nodes are needed for scale-down under topology spread constraints.
	Nodes map[string]*cluster.Node
	Gates cluster.Gates
	Now   time.Time
	// Counted is what Count(false) says, for whoever asks several questions about
	// the same moment; nil has each count anew.
	Counted *CloneSetCounts
	// Survey is what was seen at the last look; nil has every pod looked at.
	Survey *Survey
}

// active returns the pods that the controller sees.
func (c *CloneSet) active() []*cluster.Pod { return filter(c.Pods, Active) }

// rolling returns the rolling update strategy, an empty one when there is none.
func (c *CloneSet) rolling() kruise.RollingUpdateCloneSetStrategy {
	if r := c.Spec.UpdateStrategy.RollingUpdate; r != nil {
		return *r
	}
	return kruise.RollingUpdateCloneSetStrategy{}
}

func (c *CloneSet) updated(p *cluster.Pod) bool { return AtRevision(p, c.Update) }

func (c *CloneSet) available(p *cluster.Pod) bool {
	return Available(p, seconds(c.Spec.MinReadySeconds), c.Now)
}

// marked reports whether the pod is a specified delete: by its label, or named
// in scaleStrategy.podsToDelete.
func (c *CloneSet) marked(p *cluster.Pod) bool {
	return SpecifiedDelete(p) || c.named(p)
}

func (c *CloneSet) named(p *cluster.Pod) bool {
	list := c.Spec.ScaleStrategy.PodsToDelete
	return len(list) > 0 && slices.Contains(list, p.Name)
}

// settled reports whether no rollout is in progress.
func (c *CloneSet) settled() bool {
	return c.Current == "" || cluster.Hash(c.Current) == cluster.Hash(c.Update)
}

func filter(list []*cluster.Pod, keep func(*cluster.Pod) bool) []*cluster.Pod {
	var out []*cluster.Pod
	for _, p := range list {
		if keep(p) {
			out = append(out, p)
		}
	}
	return out
}

func count(list []*cluster.Pod, what func(*cluster.Pod) bool) int {
	n := 0
	for _, p := range list {
		if what(p) {
			n++
		}
	}
	return n
}

func not(f func(*cluster.Pod) bool) func(*cluster.Pod) bool {
	return func(p *cluster.Pod) bool { return !f(p) }
}
