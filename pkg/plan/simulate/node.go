package simulate

import (
	"container/heap"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// node is one node with the images on it.
type node struct {
	*cluster.Node
	// name is that of the Node, rank the place among [World.ranked].
	name   string
	rank   int
	pods   int
	images map[string]bool
	// pulling are the pods that wait for an image, by image.
	pulling map[string][]func()
}

// AddNode adds a node, or replaces its labels; images are on it from the start.
func (w *World) AddNode(name string, labels map[string]string, images ...string) {
	n := w.nodes[name]
	if n == nil {
		n = &node{name: name, images: map[string]bool{}, pulling: map[string][]func(){}}
		w.nodes[name] = n
		heap.Push(&w.ranked, n)
		i, _ := slices.BinarySearch(w.nodeNames, name)
		w.nodeNames = slices.Insert(w.nodeNames, i, name)
	}
	var taints []corev1.Taint
	if n.Node != nil {
		taints = n.Taints
	}
	n.Node = &cluster.Node{Name: name, Labels: maps.Clone(labels), Taints: taints}
	for _, image := range images {
		n.images[image] = true
	}
	w.see(n)
	w.nodesChanged()
}

// LabelNode merges labels of a node; nil removes one.
func (w *World) LabelNode(name string, labels map[string]*string) error {
	n := w.nodes[name]
	if n == nil {
		return plan.ErrNotFound
	}
	now := maps.Clone(n.Labels)
	if now == nil {
		now = map[string]string{}
	}
	for k, v := range labels {
		if v == nil {
			delete(now, k)
			continue
		}
		now[k] = *v
	}
	w.AddNode(name, now)
	return nil
}

// nodesChanged has everybody look who goes by nodes.
func (w *World) nodesChanged() {
	w.version++
	w.active = w.at
	for _, o := range w.sorted() {
		if o.ref.Kind == kruise.KindDaemonSet {
			w.wake(o)
		}
	}
	w.retryPending()
}

// schedule binds a pod: to the node that it asks for, or to the emptiest, the
// next one in turn among equals.
func (w *World) schedule(e *pod, want string) {
	n := w.nodes[want]
	if want == "" {
		n = w.nodeFor(e)
	}
	if n == nil {
		if !rules.Unschedulable(e.Pod) {
			c := cluster.SetTo(string(corev1.PodScheduled), corev1.ConditionFalse, corev1.PodReasonUnschedulable, "no node has room for the pod")
			w.change(e, cluster.PodChange{Conditions: []cluster.Condition{c}}, "unschedulable")
		}
		w.pending = append(w.pending, e)
		return
	}
	w.occupy(n, 1)
	w.moves++
	bound := e.With(cluster.PodChange{
		Labels:     topology(n.Labels),
		Conditions: []cluster.Condition{cluster.SetTo(string(corev1.PodScheduled), corev1.ConditionTrue, "", "")},
	}, w.now())
	bound.Node = n.Name
	w.put(e, bound, "scheduled")
}

func (w *World) full(n *node) bool { return w.opt.Capacity > 0 && n.pods >= w.opt.Capacity }

// topology are the labels that Kubernetes copies from a node to its pods.
func topology(labels map[string]string) map[string]*string {
	var out map[string]*string
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		if v, ok := labels[key]; ok {
			if out == nil {
				out = map[string]*string{}
			}
			out[key] = &v
		}
	}
	return out
}

// retryPending schedules the pods that no node had room for, the oldest first.
func (w *World) retryPending() {
	waiting := w.pending
	w.pending = nil
	for i, e := range waiting {
		if w.emptiest() == nil {
			w.pending = append(w.pending, waiting[i:]...)
			return
		}
		if w.pods[e.UID] == e && !e.Deleting {
			w.schedule(e, "")
		}
	}
}

func sortedNodes(nodes map[string]*cluster.Node) []string { return slices.Sorted(maps.Keys(nodes)) }
