package lint

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const systemNamespace = metav1.NamespaceSystem

// Rules about objects that reach other pods, or other parts of them, than they seem to.
var reachAdvice = []advice{
	{id: "podprobemarker/container-missing", kinds: []string{kruise.Group + "/" + kruise.KindPodProbeMarker}, check: typed(probedContainers)},
	{id: "object/launch-priority-without-effect", kinds: []string{anything}, check: launchPriority},
	{id: "sidecarset/system-namespace", kinds: []string{sidecarSet}, check: typed(systemPods)},
	{id: "sidecarset/replaces-container", kinds: []string{sidecarSet}, check: typed(replacedContainers)},
	{id: "workloadspread/no-room-for-surge", kinds: []string{spread}, check: typed(noRoomForSurge)},
}

// containersOf returns the names of the containers of a pod template.
func containersOf(t template, lists ...string) []string {
	var out []string
	for _, list := range lists {
		for _, c := range tree.Items(tree.Get(t.spec, list)) {
			out = append(out, tree.StrAt(c, "name"))
		}
	}
	return out
}

func probedContainers(s *subject, m *kruise.PodProbeMarker) {
	selector, err := metav1.LabelSelectorAsSelector(m.Spec.Selector)
	if err != nil || m.Spec.Selector == nil {
		return
	}
	matched := s.selected(s.c.Facts.NamespaceOf(s.r), selector)
	if len(matched) == 0 {
		return
	}
	var names []string
	for _, t := range matched {
		names = append(names, containersOf(t, "containers", "initContainers")...)
	}
	for _, set := range s.c.Facts.All(kruise.Group, kruise.KindSidecarSet) { // they may inject it
		for _, list := range []string{"containers", "initContainers"} {
			for _, c := range tree.Items(tree.Get(set.Node(), "spec", list)) {
				names = append(names, tree.StrAt(c, "name"))
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for i, p := range m.Spec.Probes {
		if p.ContainerName != "" && !slices.Contains(names, p.ContainerName) {
			s.report(fmt.Sprintf("spec.probes[%d].containerName", i), "name one of the containers: "+strings.Join(names, ", "),
				"no matching pod template has a container %s: the probe never runs", p.ContainerName)
		}
	}
}

func launchPriority(s *subject) {
	const key = kruise.ContainerLaunchPriorityAnnotation
	found, _ := s.c.Templates(s.r)
	if s.r.Annotation(key) == "" || len(found) == 0 || s.r.Kind() == "Pod" {
		return
	}
	for _, t := range found {
		if tree.StrAt(t.Node, "metadata", "annotations", key) == "" {
			s.reportAt("metadata.annotations["+key+"]", "move it to "+t.Path+".metadata.annotations", "has no effect on a %s: Kruise reads it from pods", s.r.Kind())
			return
		}
	}
}

func systemPods(s *subject, set *kruise.SidecarSet) {
	const hint = "Kruise's webhook leaves namespaces such as kube-system out, unless it is configured otherwise"
	switch {
	case s.r.Namespace() != "":
		s.report("metadata.namespace", "remove it, and use spec.namespaceSelector", "a SidecarSet has no namespace: it is for pods of all namespaces that it selects")
	case tree.StrAt(s.r.Node(), "spec", "namespace") == systemNamespace:
		s.reportAt("spec.namespace", hint, "pods of %s get no sidecars", systemNamespace)
	case set.Spec.NamespaceSelector != nil:
		chosen, err := metav1.LabelSelectorAsSelector(set.Spec.NamespaceSelector)
		if err != nil {
			return
		}
		names := labels.Set{corev1.LabelMetadataName: systemNamespace}
		if _, named := chosen.RequiresExactMatch(corev1.LabelMetadataName); named && chosen.Matches(names) || namesIt(set.Spec.NamespaceSelector) {
			s.report("spec.namespaceSelector", hint, "pods of %s get no sidecars", systemNamespace)
		}
	}
}

// namesIt reports a selector that lists the system namespace among others.
func namesIt(sel *metav1.LabelSelector) bool {
	return slices.ContainsFunc(sel.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
		return r.Key == corev1.LabelMetadataName && r.Operator == metav1.LabelSelectorOpIn && slices.Contains(r.Values, systemNamespace)
	})
}

func replacedContainers(s *subject, set *kruise.SidecarSet) {
	matched, _ := s.matched()
	for _, list := range []struct {
		field string
		names []kruise.SidecarContainer
	}{{"containers", set.Spec.Containers}, {"initContainers", set.Spec.InitContainers}} {
		for i, c := range list.names {
			for _, t := range matched {
				if slices.Contains(containersOf(t, list.field), c.Name) {
					s.report(fmt.Sprintf("spec.%s[%d].name", list.field, i), "give the sidecar another name",
						"takes the place of container %s of %s, which then does not run", c.Name, t.owner.ID())
					break
				}
			}
		}
	}
}

func noRoomForSurge(s *subject, w *kruise.WorkloadSpread) {
	target := s.targetOf(w.Spec.TargetReference)
	n, ok := tree.Int(tree.Get(target, "spec", "replicas"))
	room := 0
	for _, subset := range w.Spec.Subsets {
		if m := subset.MaxReplicas; m == nil || m.Type != intstr.Int {
			return
		}
		room += subset.MaxReplicas.IntValue()
	}
	if surge := surgeOf(target, int(n)); ok && w.Spec.TargetFilter == nil && room >= int(n) && room < int(n)+surge {
		s.report("spec.subsets", "raise a limit, or leave maxReplicas out of the last subset",
			"has room for %s, and an update has up to %d: the rest is created without the settings of a subset", counted.Of(room, "pod"), int(n)+surge)
	}
}

// surgeOf returns how many pods an update adds to the replicas of a workload.
func surgeOf(target *tree.Node, replicas int) int {
	hub, _, err := kruise.ToHub(target)
	if err != nil {
		return 0
	}
	surge := tree.Get(hub, "spec", "updateStrategy", "rollingUpdate", "maxSurge")
	fallback := intstr.FromInt32(0)
	if tree.StrAt(hub, "kind") == kruise.KindDeployment {
		if tree.StrAt(hub, "spec", "strategy", "type") == "Recreate" {
			return 0
		}
		surge, fallback = tree.Get(hub, "spec", "strategy", "rollingUpdate", "maxSurge"), intstr.FromString("25%")
	}
	if surge != nil {
		fallback = intstr.Parse(tree.Str(surge))
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(&fallback, replicas, true)
	if err != nil {
		return 0
	}
	return max(n, 0)
}
