package rules

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Placing says in a few words what gives a pod its place in an update order: the
// first of the sort keys in which it differs from a plain ready pod.
type Placing struct {
	strategy  *kruise.UpdatePriorityStrategy
	selectors []labels.Selector
	// weights spell the sums that came up.
	weights map[int]string
}

// Placing explains the order of [CloneSet.Queue].
func (c *CloneSet) Placing() *Placing { return newPlacing(c.rolling().PriorityStrategy) }

// Placing explains the order of [SidecarSet.Queue].
func (s *SidecarSet) Placing() *Placing { return newPlacing(s.Spec.UpdateStrategy.PriorityStrategy) }

func newPlacing(strategy *kruise.UpdatePriorityStrategy) *Placing {
	p := &Placing{strategy: strategy, weights: map[int]string{}}
	if strategy != nil {
		p.selectors = weightSelectors(strategy)
	}
	return p
}

// Of explains one pod.
func (l *Placing) Of(p *cluster.Pod) string {
	switch {
	case preparingUpdate(p):
		return "chosen before, and prepared"
	case l.strategy != nil && len(l.strategy.WeightPriority) > 0:
		return l.weight(weightOf(p, l.strategy, l.selectors))
	case l.strategy != nil && len(l.strategy.OrderPriority) > 0:
		if i := keyOf(p, l.strategy); i >= 0 {
			return "by its label " + l.strategy.OrderPriority[i].OrderedKey
		}
		return "has none of the labels of orderPriority"
	case p.Node == "":
		return "not bound to a node"
	case p.Phase != corev1.PodRunning:
		return "phase " + string(p.Phase)
	case !podReady(p):
		return "not ready"
	}
	return "most recently ready first"
}

func (l *Placing) weight(sum int) string {
	text, ok := l.weights[sum]
	if !ok {
		text = "priority weight " + strconv.Itoa(sum)
		l.weights[sum] = text
	}
	return text
}
