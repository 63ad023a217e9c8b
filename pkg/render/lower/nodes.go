package lower

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	podresources "k8s.io/component-helpers/resource"
	corehelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// nodesOf returns the nodes among the objects of the cluster, by name. Nodes of
// the input count, too: they are no less known.
func nodesOf(c *stage.Context) ([]*corev1.Node, error) {
	byName := map[string]*corev1.Node{}
	for _, r := range slices.Backward(c.Facts.All("", "Node")) {
		node := &corev1.Node{}
		if _, err := tree.Decode(r.Node(), node); err != nil {
			return nil, r.Wrap(err, "")
		}
		byName[node.Name] = node
	}
	out := make([]*corev1.Node, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, byName[name])
	}
	return out, nil
}

// fits reports whether a BroadcastJob would put a pod on the node: its selector
// and required affinity match, its taints and a cordon are tolerated, and its
// whole allocatable suffices, whatever else runs there (docs/kruise/jobs.md#broadcastjob).
func fits(pod *corev1.PodSpec, node *corev1.Node) bool {
	matches, err := nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: *pod}).Match(node)
	if err != nil || !matches {
		return false
	}
	taints := node.Spec.Taints
	if node.Spec.Unschedulable {
		taints = append(slices.Clone(taints), corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	hard := func(t *corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }
	if _, untolerated := corehelpers.FindMatchingUntoleratedTaint(klog.Logger{}, taints, pod.Tolerations, hard, false); untolerated {
		return false
	}
	return enough(node.Status.Allocatable, requests(pod))
}

// enough reports whether a node's whole allocatable suffices. What nobody has said of
// a node is no reason against it; a device that the others are listed without is.
func enough(have, want corev1.ResourceList) bool {
	for name, q := range want {
		there, known := have[name]
		if !known && len(have) > 0 {
			known = !slices.Contains(ordinary, name)
		}
		if known && q.Cmp(there) > 0 {
			return false
		}
	}
	return true
}

// ordinary are the resources that every node has.
var ordinary = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

// requests is what the scheduler counts of a pod, with limits where there is no
// request.
func requests(spec *corev1.PodSpec) corev1.ResourceList {
	pod := &corev1.Pod{Spec: *spec.DeepCopy()}
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			list[i].Resources.Requests = asked(list[i].Resources)
		}
	}
	return podresources.PodRequests(pod, podresources.PodResourcesOptions{})
}

func asked(r corev1.ResourceRequirements) corev1.ResourceList {
	out := maps.Clone(r.Limits)
	if out == nil {
		out = corev1.ResourceList{}
	}
	maps.Copy(out, r.Requests)
	return out
}

// nodeCount is the number of nodes that the object's annotation gives, where
// nobody knows their names.
func (o *object) nodeCount() (count int, given bool, err error) {
	text := o.r.Annotation(kruise.NodesAnnotation)
	if text == "" {
		return 0, false, nil
	}
	count, err = strconv.Atoi(text)
	if err != nil || count < 1 {
		return 0, true, o.r.Fault("metadata.annotations["+kruise.NodesAnnotation+"]", "a whole number such as \"5\"", "%q is not a number of nodes", text)
	}
	return count, true, nil
}
