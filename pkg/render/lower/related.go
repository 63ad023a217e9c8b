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
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/selectors"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// around is what the other objects say about workloads. It is gathered once
// and only read afterwards.
type around struct {
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
	nodeLabels *selectors.Labelled
	// probed are the pod templates of the input, where some object probes pods.
	probed []probed
}

func surroundings(c *stage.Context, in []*resource.Resource) (a *around, err error) {
	a = about(c, in)
	if slices.ContainsFunc(in, func(r *resource.Resource) bool { return r.Group() == kruise.Group && onNodes[r.Kind()] }) {
		if a.nodes, err = nodesOf(c); err != nil {
			return a, err
		}
		a.indexNodes()
	}
	if slices.ContainsFunc(in, func(r *resource.Resource) bool { return r.Is(kruise.Group, kruise.KindPodProbeMarker) }) {
		a.probed = templatesOf(c, in)
	}
	return a, err
}

func (a *around) indexNodes() {
	a.nodePlaces = make(map[string][]int, len(a.nodes))
	for i, n := range a.nodes {
		a.nodePlaces[n.Name] = append(a.nodePlaces[n.Name], i)
	}
	a.nodeLabels = selectors.NewLabelled(len(a.nodes), func(i int) map[string]string { return a.nodes[i].Labels })
}

// onNodes are the kinds that become something on each node.
var onNodes = map[string]bool{kruise.KindAdvancedCronJob: true, kruise.KindBroadcastJob: true, kruise.KindImageListPullJob: true, kruise.KindImagePullJob: true}

// about gathers what can be gathered without decoding.
func about(c *stage.Context, in []*resource.Resource) *around {
	a := &around{
		autoscaled: map[resource.ID]bool{}, services: map[resource.ID]*resource.Resource{},
		given: map[*resource.Resource]bool{}, former: map[resource.ID]*resource.Resource{},
	}
	for _, r := range c.Facts.Context("", "Service") {
		a.services[c.Facts.IDOf(r)] = r
	}
	for _, kind := range []string{kruise.KindCloneSet, kruise.KindDaemonSet, kruise.KindStatefulSet, kruise.KindUnitedDeployment} {
		for _, r := range c.Facts.Stream(kruise.Group, kind) {
			a.remember(c, r)
		}
	}
	for _, r := range in {
		if r.Is("", "Service") {
			a.services[c.Facts.IDOf(r)] = r
			a.given[r] = true
		}
		a.scaler(c, r)
	}
	for _, kind := range [][2]string{{"autoscaling", "HorizontalPodAutoscaler"}, {"keda.sh", "ScaledObject"}} {
		for _, r := range c.Facts.Context(kind[0], kind[1]) {
			a.scaler(c, r)
		}
	}
	return a
}

// remember notes what kustomize called an object before: while it runs,
// references still hold those names
// (docs/facts/kustomize.md#what-kustomize-makes-of-a-functions-output).
func (a *around) remember(c *stage.Context, r *resource.Resource) {
	for _, id := range stage.FormerIDs(c.Facts, r) {
		a.former[id] = r
	}
}

// scaler notes the target of an autoscaler. A target that was split before is
// followed to its parts.
func (a *around) scaler(c *stage.Context, r *resource.Resource) {
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

// enough reports whether a node's whole allocatable suffices. A resource that a node does not
// list is no reason against it, unless it is a device: the node lists others then.
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
