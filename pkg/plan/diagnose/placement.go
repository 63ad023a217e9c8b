package diagnose

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Placement is where the pods of a workload are, compared with where a WorkloadSpread or a
// UnitedDeployment would place them, and why they differ. The arithmetic is that of packages
// allocate and spread.
type Placement struct {
	// Object is the WorkloadSpread or UnitedDeployment, TYPE/NAME.
	Object string `json:"object"`
	// Target is the workload that a WorkloadSpread spreads.
	Target    string `json:"target,omitempty"`
	Namespace string `json:"namespace"`
	Replicas  int    `json:"replicas"`
	// Strategy is Fixed or Adaptive.
	Strategy string   `json:"strategy"`
	Subsets  []Subset `json:"subsets"`
	// Why is about the whole.
	Why []string `json:"why,omitempty"`
}

// Subset is one place for pods. The last one of a placement may have the pods that are in no
// subset.
type Subset struct {
	Name string `json:"name"`
	// Limits are what the spec gives, as written there.
	Limits string      `json:"limits,omitempty"`
	Wish   int         `json:"wish"`
	Pods   []PlacedPod `json:"pods"`
	Ready  int         `json:"ready"`
	Why    []string    `json:"why,omitempty"`
}

// PlacedPod is a pod that counts.
type PlacedPod struct {
	Name  string `json:"name"`
	Node  string `json:"node,omitempty"`
	Ready bool   `json:"ready"`
	// Unschedulable is the scheduler's message about a pod without a node.
	Unschedulable string `json:"unschedulable,omitempty"`
}

// Outside is the name of the place of pods that are in no subset.
const Outside = "(none)"

// add counts a pod in.
func (s *Subset) add(p *cluster.Pod) {
	out := PlacedPod{Name: p.Name, Node: p.Node, Ready: rules.Ready(p)}
	if rules.Unschedulable(p) {
		c, _ := p.Condition(string(corev1.PodScheduled))
		out.Unschedulable = c.Message
	}
	if out.Ready {
		s.Ready++
	}
	s.Pods = append(s.Pods, out)
}

// addUnschedulable reports how many pods find no node, and why the first does not.
func (s *Subset) addUnschedulable() {
	waiting := slices.DeleteFunc(slices.Clone(s.Pods), func(p PlacedPod) bool { return p.Unschedulable == "" })
	if len(waiting) > 0 {
		s.Why = append(s.Why, counted.With(len(waiting), "pod finds", "pods find")+" no node: "+strings.TrimSuffix(waiting[0].Unschedulable, "."))
	}
}

// Size is how many pods are wanted, in words.
func (p *Placement) Size() string { return counted.With(p.Replicas, "replica", "replicas") }

func (p *Placement) pods() int {
	n := 0
	for _, s := range p.Subsets {
		n += len(s.Pods)
	}
	return n
}
