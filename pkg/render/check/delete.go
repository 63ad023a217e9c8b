package check

import (
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const protection = "metadata.labels[" + kruise.DeleteProtectionLabel + "]"

// deletionCheck has the rules for deleting the object.
type deletionCheck struct{ *subject }

// checkDeletion reports why the object may not be deleted
// (docs/kruise/protection.md#podunavailablebudget and
// docs/kruise/protection.md#deletion-protection). An object that is terminating may be.
func checkDeletion(s *subject) {
	k := deletionCheck{s}
	if tree.Get(k.r.Node(), "metadata", "deletionTimestamp") != nil {
		return
	}
	if k.r.Is("", "Pod") {
		k.podUnderBudget()
		return
	}
	cascading := cascadingRules[k.r.Group()+"/"+k.r.Kind()]
	if cascading == nil {
		return
	}
	switch k.r.Label(kruise.DeleteProtectionLabel) {
	case kruise.DeleteProtectionAlways:
		k.refuse("it is always protected")
	case kruise.DeleteProtectionCascading:
		cascading(k)
	}
}

func (k deletionCheck) refuse(format string, args ...any) {
	k.faultUnder(protected, protection, "remove the label first", "the object cannot be deleted: "+format, args...)
}

// cascadingRules are, for each kind that protection covers, what the policy Cascading
// refuses.
var cascadingRules = map[string]func(deletionCheck){
	"apps/Deployment":                  hasReplicas,
	"apps/ReplicaSet":                  hasReplicas,
	"apps/StatefulSet":                 hasReplicas,
	kruise.Group + "/CloneSet":         hasReplicas,
	kruise.Group + "/StatefulSet":      hasReplicas,
	kruise.Group + "/UnitedDeployment": hasReplicas,
	"/Namespace":                       namespaceInUse,
	// The feature gate that counts the objects of a definition is off by default.
	"apiextensions.k8s.io/CustomResourceDefinition": func(k deletionCheck) {
		k.refuse("Kruise's feature gate DeletionProtectionForCRDCascadingGate is off, and Cascading refuses then")
	},
	// Cascading means nothing to these.
	"/Service":                  func(deletionCheck) {},
	"networking.k8s.io/Ingress": func(deletionCheck) {},
	"extensions/Ingress":        func(deletionCheck) {},
}

// hasReplicas refuses to delete a workload with replicas.
func hasReplicas(k deletionCheck) {
	if n := replicasOf(k.r); n > 0 {
		k.refuse("it has %s", counted.Of(n, "replica"))
	}
}

// namespaceInUse refuses to delete a namespace with active pods or bound claims.
func namespaceInUse(k deletionCheck) {
	pods, claims := 0, 0
	for _, r := range k.inNamespace("", "Pod") {
		if kruise.ActivePod(r.Node()) {
			pods++
		}
	}
	for _, r := range k.inNamespace("", "PersistentVolumeClaim") {
		phase := tree.StrAt(r.Node(), "status", "phase")
		if (phase == "" || phase == "Bound") && tree.Get(r.Node(), "metadata", "deletionTimestamp") == nil {
			claims++
		}
	}
	switch {
	case pods > 0:
		k.refuse("the namespace has %s", counted.Of(pods, "active pod"))
	case claims > 0:
		k.refuse("the namespace has %s", counted.Of(claims, "bound claim"))
	}
}

// inNamespace returns the objects of a kind in the namespace that is to be deleted.
func (k deletionCheck) inNamespace(group, kind string) []*resource.Resource {
	return slices.DeleteFunc(k.c.Facts.All(group, kind), func(r *resource.Resource) bool {
		return k.c.Facts.NamespaceOf(r) != k.r.Name()
	})
}

// podUnderBudget refuses to delete a pod whose budget allows no further one to go
// (docs/kruise/protection.md#podunavailablebudget).
func (k deletionCheck) podUnderBudget() {
	pod := k.r.Node()
	exempt, _ := strconv.ParseBool(k.r.Annotation(kruise.NoProtectAnnotation))
	if exempt || !readyPod(pod) {
		return
	}
	for _, r := range k.c.Facts.All(kruise.PolicyGroup, kruise.KindPodUnavailableBudget) {
		b := podBudget{s: k.subject}
		if _, err := kruise.Decode(r.Node(), &b.PodUnavailableBudget); err != nil || k.c.Facts.NamespaceOf(r) != k.c.Facts.NamespaceOf(k.r) {
			continue
		}
		b.live = tree.Get(r.Node(), "status") != nil
		if b.covers(k.r) && b.refuses() {
			k.faultUnder(budgetSpent, "metadata.name", "wait until more pods are available", "PodUnavailableBudget %s allows no further disruption", r.Name())
		}
	}
}

// podBudget is a budget with the pod that is to be deleted.
type podBudget struct {
	kruise.PodUnavailableBudget
	s *subject
	// live is set if the budget has a status, with Kruise's own counts.
	live bool
}

// covers reports whether the budget protects the pod.
func (b *podBudget) covers(r *resource.Resource) bool {
	if b.Spec.Selector != nil {
		return matches(b.Spec.Selector, r.Labels())
	}
	if b.Spec.TargetReference == nil {
		return false
	}
	owner := controllerOf(r)
	if owner != nil && !refersTo(b.Spec.TargetReference, owner) {
		owner = b.topController(owner)
	}
	return owner != nil && refersTo(b.Spec.TargetReference, owner)
}

// topController returns the Deployment of a ReplicaSet, nil where a known ReplicaSet has
// none; any other owner is its own.
func (b *podBudget) topController(owner *tree.Node) *tree.Node {
	if tree.StrAt(owner, "kind") == kruise.KindReplicaSet {
		if set := b.s.findInNamespace("apps", kruise.KindReplicaSet, tree.StrAt(owner, "name")); set != nil {
			return controllerOf(set)
		}
	}
	return owner
}

func (b *podBudget) refuses() bool {
	if ignored := b.Spec.IgnoredPodSelector; ignored != nil && matches(ignored, b.s.r.Labels()) {
		return false
	}
	if ops := b.Spec.ProtectOperations; len(ops) > 0 && !slices.Contains(ops, kruise.PubDeleteOperation) {
		return false
	}
	_, disrupted := b.Status.DisruptedPods[b.s.r.Name()]
	_, unavailable := b.Status.UnavailablePods[b.s.r.Name()]
	if disrupted || unavailable {
		return false
	}
	if b.live {
		return b.Status.DesiredAvailable > 0 && b.Status.UnavailableAllowed <= 0
	}
	expected, available := b.count()
	desired := b.desired(expected)
	return desired > 0 && available <= desired
}

// readyPod reports a pod that counts as available for a budget
// (docs/kruise/protection.md#podunavailablebudget).
func readyPod(pod *tree.Node) bool {
	phase := tree.StrAt(pod, "status", "phase")
	if !kruise.ActivePod(pod) || phase != "" && phase != "Running" {
		return false
	}
	for key := range tree.Strings(tree.Get(pod, "metadata", "labels")) {
		if strings.HasPrefix(key, kruise.UnavailablePodLabelPrefix) {
			return false
		}
	}
	conditions := tree.Get(pod, "status", "conditions")
	ready, _ := tree.Find(conditions, "type", "Ready")
	return conditions == nil || tree.StrAt(ready, "status") == "True"
}

// desired returns the number of pods that must stay available.
func (b *podBudget) desired(expected int) int {
	if v := b.Spec.MinAvailable; v != nil {
		n, _ := intstr.GetScaledValueFromIntOrPercent(v, expected, true)
		return n
	}
	n, _ := intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(b.Spec.MaxUnavailable, intstr.FromInt32(0)), expected, true)
	return max(0, expected-n)
}

// count returns the desired number of pods and the number of available ones, as far as they
// are known.
func (b *podBudget) count() (expected, available int) {
	pods := b.s.c.Facts.All("", "Pod")
	if !slices.Contains(pods, b.s.r) {
		pods = append(pods, b.s.r)
	}
	replicas := map[resource.ID]int{}
	for _, r := range pods {
		if b.s.c.Facts.NamespaceOf(r) != b.s.c.Facts.NamespaceOf(b.s.r) || !b.covers(r) {
			continue
		}
		if readyPod(r.Node()) {
			available++
		}
		if owner := controllerOf(r); owner != nil {
			b.add(replicas, owner)
		}
	}
	for _, n := range replicas {
		expected += n
	}
	if ref := b.Spec.TargetReference; ref != nil {
		if target := b.s.findInNamespace(resource.GroupOf(ref.APIVersion), ref.Kind, ref.Name); target != nil {
			expected = replicasOf(target)
		}
	}
	if n := b.Spec.ProtectTotalReplicas; n != nil {
		expected = int(*n)
	}
	return expected, available
}

// add counts the replicas of a controller once, and those of a Deployment for its
// ReplicaSets. A controller that is not known has as many as it has known pods.
func (b *podBudget) add(replicas map[resource.ID]int, owner *tree.Node) {
	if above := b.topController(owner); above != nil {
		owner = above
	}
	id := resource.ID{Group: resource.GroupOf(tree.StrAt(owner, "apiVersion")), Kind: tree.StrAt(owner, "kind"), Name: tree.StrAt(owner, "name")}
	workload := b.s.findInNamespace(id.Group, id.Kind, id.Name)
	switch {
	case unscaled[id.Group+"/"+id.Kind]:
		replicas[id] = beyondScale
	case workload == nil:
		replicas[id]++
	default:
		replicas[id] = replicasOf(workload)
	}
}

// unscaled are the kinds without the subresource scale. Kruise counts -1 pods for such a
// workload, which makes maxUnavailable ineffective.
var unscaled = map[string]bool{
	"apps/DaemonSet": true, "batch/Job": true, kruise.Group + "/DaemonSet": true, kruise.Group + "/BroadcastJob": true,
}

const beyondScale = -1

// replicasOf returns the desired number of pods of a workload; the default is 1.
func replicasOf(r *resource.Resource) int {
	if unscaled[r.Group()+"/"+r.Kind()] {
		return beyondScale
	}
	n := tree.Get(r.Node(), "spec", "replicas")
	if n == nil {
		return 1
	}
	v, _ := tree.Int(n)
	return int(v)
}

func matches(sel *metav1.LabelSelector, set map[string]string) bool {
	chosen, err := metav1.LabelSelectorAsSelector(sel)
	return err == nil && chosen.Matches(labels.Set(set))
}

// controllerOf returns the owner reference that is the controller's, nil when
// there is none.
func controllerOf(r *resource.Resource) *tree.Node {
	for _, ref := range tree.Items(tree.Get(r.Node(), "metadata", "ownerReferences")) {
		if tree.Bool(tree.Get(ref, "controller")) {
			return ref
		}
	}
	return nil
}
