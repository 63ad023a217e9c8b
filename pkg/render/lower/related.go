package lower

import (
	"errors"
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
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// relatedObjects are the facts about workloads that other objects have. They are gathered once
// and only read afterwards.
type relatedObjects struct {
	// autoscaled are the workloads whose replicas an autoscaler owns.
	autoscaled map[resource.ID]bool
	// services are all Services by identity, the input's before the context's.
	services map[resource.ID]*resource.Resource
	// given are the Services of the input.
	given map[*resource.Resource]bool
	// former are scalable objects by the names they had before.
	former map[resource.ID]*resource.Resource
	// nodes are those of the cluster by name, where some object becomes
	// something on each.
	nodes []*corev1.Node
	// nodePlaces are the places of nodes by name, nodeLabels finds those of a selector.
	nodePlaces map[string][]int
	nodeLabels *kruise.LabelIndex
	// probedTemplate are the pod templates of the input, where some object probes pods.
	probed []probedTemplate
}

func gatherRelated(c *stage.Context, in []*resource.Resource) (a *relatedObjects, err error) {
	a = indexRelated(c, in)
	if slices.ContainsFunc(in, func(r *resource.Resource) bool { return r.Group() == kruise.Group && perNodeKinds[r.Kind()] }) {
		if a.nodes, err = nodesOf(c); err != nil {
			return a, err
		}
		a.nodePlaces = make(map[string][]int, len(a.nodes))
		for i, n := range a.nodes {
			a.nodePlaces[n.Name] = append(a.nodePlaces[n.Name], i)
		}
		a.nodeLabels = kruise.NewLabelIndex(len(a.nodes), func(i int) map[string]string { return a.nodes[i].Labels })
	}
	if slices.ContainsFunc(in, func(r *resource.Resource) bool { return r.Is(kruise.Group, kruise.KindPodProbeMarker) }) {
		a.probed = templatesOf(c, in)
	}
	return a, err
}

// perNodeKinds are the kinds that become something on each node.
var perNodeKinds = map[string]bool{kruise.KindAdvancedCronJob: true, kruise.KindBroadcastJob: true, kruise.KindImageListPullJob: true, kruise.KindImagePullJob: true}

// indexRelated gathers what needs no decoding.
func indexRelated(c *stage.Context, in []*resource.Resource) *relatedObjects {
	a := &relatedObjects{
		autoscaled: map[resource.ID]bool{}, services: map[resource.ID]*resource.Resource{},
		given: map[*resource.Resource]bool{}, former: map[resource.ID]*resource.Resource{},
	}
	for _, r := range c.Facts.Context("", "Service") {
		a.services[c.Facts.IDOf(r)] = r
	}
	for _, kind := range []string{kruise.KindCloneSet, kruise.KindDaemonSet, kruise.KindStatefulSet, kruise.KindUnitedDeployment} {
		for _, r := range c.Facts.Stream(kruise.Group, kind) {
			// While kustomize runs, references still have the names that it gave an object before
			// (docs/facts/kustomize.md#what-kustomize-makes-of-a-functions-output).
			for _, id := range stage.FormerIDs(c.Facts, r) {
				a.former[id] = r
			}
		}
	}
	for _, r := range in {
		if r.Is("", "Service") {
			a.services[c.Facts.IDOf(r)] = r
			a.given[r] = true
		}
		a.addAutoscaler(c, r)
	}
	for _, kind := range [][2]string{{"autoscaling", "HorizontalPodAutoscaler"}, {"keda.sh", "ScaledObject"}} {
		for _, r := range c.Facts.Context(kind[0], kind[1]) {
			a.addAutoscaler(c, r)
		}
	}
	return a
}

// addAutoscaler records the target of an autoscaler, and the parts of a target that was
// split before.
func (a *relatedObjects) addAutoscaler(c *stage.Context, r *resource.Resource) {
	if !r.Is("autoscaling", "HorizontalPodAutoscaler") && !r.Is("keda.sh", "ScaledObject") {
		return
	}
	ref := tree.Get(r.Node(), "spec", "scaleTargetRef")
	target := c.Facts.Find(targetID(c, r, ref))
	if target == nil {
		target = a.former[targetID(c, r, ref)]
	}
	if target == nil {
		return
	}
	id := c.Facts.IDOf(target)
	a.autoscaled[id] = true
	parts, _ := c.Lineage.Resolve(target.ID())
	for _, p := range parts {
		id.Group, id.Kind, id.Name = resource.GroupOf(p.APIVersion), p.Kind, p.Name
		a.autoscaled[id] = true
	}
}

func targetID(c *stage.Context, r *resource.Resource, ref *tree.Node) resource.ID {
	return resource.ID{
		Group: resource.GroupOf(tree.StrAt(ref, "apiVersion")), Kind: tree.StrAt(ref, "kind"),
		Namespace: c.Facts.NamespaceOf(r), Name: tree.StrAt(ref, "name"),
	}
}

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

// fitsNode reports whether a BroadcastJob would put a pod on the node: its selector
// and required affinity match, its taints and a cordon are tolerated, and its
// whole allocatable suffices, whatever else runs there (docs/kruise/jobs.md#broadcastjob).
func fitsNode(pod *corev1.PodSpec, node *corev1.Node) bool {
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
	return hasResources(node.Status.Allocatable, podRequests(pod))
}

// hasResources reports whether a node's whole allocatable suffices. A resource that a node does not
// list is no reason against it, unless it is a device: the node lists others then.
func hasResources(have, want corev1.ResourceList) bool {
	for name, q := range want {
		there, known := have[name]
		if !known && len(have) > 0 {
			known = !slices.Contains(nodeResources, name)
		}
		if known && q.Cmp(there) > 0 {
			return false
		}
	}
	return true
}

// nodeResources are the resources that every node has.
var nodeResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

// podRequests returns what the scheduler counts for a pod: its requests, and limits without a
// request.
func podRequests(spec *corev1.PodSpec) corev1.ResourceList {
	pod := &corev1.Pod{Spec: *spec.DeepCopy()}
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			requests := corev1.ResourceList{}
			maps.Copy(requests, list[i].Resources.Limits)
			maps.Copy(requests, list[i].Resources.Requests)
			list[i].Resources.Requests = requests
		}
	}
	return podresources.PodRequests(pod, podresources.PodResourcesOptions{})
}

// nodeCount is the number of nodes that the object's annotation gives, for clusters
// whose nodes are not known by name.
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

// nodesUnknown refuses a job that becomes one for each node.
func (o *object) nodesUnknown(field string) error {
	err := o.r.Fault(field, "name them with --with nodes.yaml or --live, or give their number in the annotation "+kruise.NodesAnnotation,
		"it becomes a Job per node, but no node is known")
	if e, ok := errors.AsType[*resource.Error](err); ok {
		e.ID = o.id("nodes-unknown")
	}
	return err
}
