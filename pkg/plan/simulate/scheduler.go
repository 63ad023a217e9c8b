package simulate

import (
	"container/heap"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// scheduler keeps the nodes and binds pods to them.
type scheduler struct {
	*parts

	nodes     map[string]*node
	nodeNames []string
	ranked    ranking
	pending   []*pod
	// published are the nodes as others see them, and lent is whether others hold the map:
	// then it must not change.
	published map[string]*cluster.Node
	shared    bool
}

// node is one node with the images on it.
type node struct {
	*cluster.Node
	// name is that of the Node, rank the place among [scheduler.ranked].
	name   string
	rank   int
	pods   int
	images map[string]bool
	// pulling is when an image arrives that is on its way, by image.
	pulling map[string]time.Duration
}

// addNode adds a node, or replaces its labels; images are on it from the start.
func (s *scheduler) addNode(name string, labels map[string]string, images ...string) {
	n := s.nodes[name]
	if n == nil {
		n = &node{name: name, images: map[string]bool{}, pulling: map[string]time.Duration{}}
		s.nodes[name] = n
		heap.Push(&s.ranked, n)
		i, _ := slices.BinarySearch(s.nodeNames, name)
		s.nodeNames = slices.Insert(s.nodeNames, i, name)
	}
	var taints []corev1.Taint
	if n.Node != nil {
		taints = n.Taints
	}
	n.Node = &cluster.Node{Name: name, Labels: maps.Clone(labels), Taints: taints}
	for _, image := range images {
		n.images[image] = true
	}
	s.publish(n)
	s.nodesChanged()
}

// taint sets the taints of a node.
func (s *scheduler) taint(name string, taints []corev1.Taint) {
	n := s.nodes[name]
	next := *n.Node
	next.Taints = taints
	n.Node = &next
	s.publish(n)
	s.nodesChanged()
}

// nodesChanged wakes the controllers that go by nodes.
func (s *scheduler) nodesChanged() {
	s.store.version++
	s.clock.active = s.clock.at
	for _, o := range s.store.sortedObjects() {
		if o.ref.Kind == kruise.KindDaemonSet {
			s.controllers.wake(o)
		}
	}
	s.retryPending()
}

// publish shows a node to others as it is now.
func (s *scheduler) publish(n *node) {
	if s.shared {
		s.published, s.shared = maps.Clone(s.published), false
	}
	s.published[n.Name] = n.Node
}

// share gives the nodes to others, who may keep them: they never change.
func (s *scheduler) share() map[string]*cluster.Node {
	s.shared = true
	return s.published
}

// schedule binds a pod: to the node that it asks for, or to the emptiest, the
// next one in turn among equals.
func (s *scheduler) schedule(e *pod, want string) {
	n := s.nodes[want]
	if want == "" {
		n = s.nodeFor(e)
	}
	if n == nil {
		if !rules.Unschedulable(e.Pod) {
			c := cluster.SetTo(string(corev1.PodScheduled), corev1.ConditionFalse, corev1.PodReasonUnschedulable, "no node has room for the pod")
			s.pods.change(e, cluster.PodChange{Conditions: []cluster.Condition{c}}, "unschedulable")
		}
		s.pending = append(s.pending, e)
		return
	}
	s.occupy(n, 1)
	s.store.moves++
	// The labels that Kubernetes copies from a node to its pods.
	var out map[string]*string
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		if v, ok := n.Labels[key]; ok {
			if out == nil {
				out = map[string]*string{}
			}
			out[key] = &v
		}
	}
	bound := e.With(cluster.PodChange{
		Labels:     out,
		Conditions: []cluster.Condition{cluster.SetTo(string(corev1.PodScheduled), corev1.ConditionTrue, "", "")},
	}, s.clock.now())
	bound.Node = n.Name
	s.pods.put(e, bound, "scheduled")
}

// nodeFor is the node that the scheduler finds for a pod: of those that fit, the
// one that it prefers most, and of these the emptiest. A pod that was there
// before goes anywhere.
func (s *scheduler) nodeFor(e *pod) *node {
	if !s.opt.Affinity || e.prototype == nil {
		return s.emptiest()
	}
	if e.prototype.placement == nil {
		p, err := placementOf(e.prototype.template)
		if err != nil {
			s.clock.errs = append(s.clock.errs, err)
			return nil
		}
		e.prototype.placement = p
	}
	var best *node
	most := int64(0)
	for _, name := range s.nodeNames {
		n := s.nodes[name]
		score, ok := e.prototype.placement.fits(n.Node)
		if ok && !s.full(n) && (best == nil || score > most || score == most && n.pods < best.pods) {
			best, most = n, score
		}
	}
	return best
}

// placement is where the pods of one template can be, and would like to be.
type placement struct {
	required    nodeaffinity.RequiredNodeAffinity
	preferred   *nodeaffinity.PreferredSchedulingTerms
	tolerations []corev1.Toleration
}

func placementOf(template map[string]any) (*placement, error) {
	var pod corev1.PodTemplateSpec
	if _, err := tree.Decode(tree.FromValue(template), &pod); err != nil {
		return nil, err
	}
	p := &placement{required: nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: pod.Spec}), tolerations: pod.Spec.Tolerations}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		terms, err := nodeaffinity.NewPreferredSchedulingTerms(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		if err != nil {
			return nil, err
		}
		p.preferred = terms
	}
	return p, nil
}

// fits reports whether a node may have the pods, and how much they would like to
// be there.
func (p *placement) fits(n *cluster.Node) (score int64, ok bool) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}, Spec: corev1.NodeSpec{Taints: n.Taints}}
	if matches, err := p.required.Match(node); err != nil || !matches || !spread.Tolerates(p.tolerations, node) {
		return 0, false
	}
	if p.preferred != nil {
		score = p.preferred.Score(node)
	}
	return score, true
}

// emptiest is the node with the fewest pods, nil where all are full.
func (s *scheduler) emptiest() *node {
	if len(s.ranked) == 0 || s.full(s.ranked[0]) {
		return nil
	}
	return s.ranked[0]
}

func (s *scheduler) full(n *node) bool { return s.opt.Capacity > 0 && n.pods >= s.opt.Capacity }

// occupy counts pods that come to a node or go.
func (s *scheduler) occupy(n *node, pods int) {
	n.pods += pods
	heap.Fix(&s.ranked, n.rank)
}

// retryPending schedules the pods that no node had room for, the oldest first.
func (s *scheduler) retryPending() {
	waiting := s.pending
	s.pending = nil
	for i, e := range waiting {
		if s.emptiest() == nil {
			s.pending = append(s.pending, waiting[i:]...)
			return
		}
		if s.store.podsByUID[e.UID] == e && !e.Deleting {
			s.schedule(e, "")
		}
	}
}

// ranking is a heap of all nodes: the first is the one with the fewest pods, and of
// equals the first by name. Each pod that is scheduled asks for it, so a look at
// all nodes would make large clusters quadratic.
type ranking []*node

func (r ranking) Len() int { return len(r) }

func (r ranking) Less(i, j int) bool {
	return r[i].pods < r[j].pods || r[i].pods == r[j].pods && r[i].name < r[j].name
}

func (r ranking) Swap(i, j int) {
	r[i], r[j] = r[j], r[i]
	r[i].rank, r[j].rank = i, j
}

func (r *ranking) Push(x any) {
	n := x.(*node)
	n.rank = len(*r)
	*r = append(*r, n)
}

// Pop is there for the interface: no node ever goes.
func (r *ranking) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}
