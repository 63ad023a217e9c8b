package lint

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Rules about WorkloadSpreads (docs/kruise/distribution.md#workloadspread and
// docs/kruise/distribution.md#observed-on-a-cluster).
var spreadAdvice = []advice{
	{id: "workloadspread/open-subset-first", kinds: []string{spread}, check: typed(warnUnlimitedFirst)},
	{id: "workloadspread/limits-below-replicas", kinds: []string{spread}, check: typed(limitsBelow)},
	{id: "workloadspread/percentages-of-cloneset", kinds: []string{spread}, check: typed(percentagesOfCloneSet)},
	{id: "workloadspread/filter-matches-nothing", kinds: []string{spread}, check: typed(filterOfNothing)},
	{id: "workloadspread/subset-name", kinds: []string{spread}, check: typed(subsetNames)},
	{id: "workloadspread/replicaset-target", kinds: []string{spread}, check: typed(replicaSetTarget)},
	{id: "workloadspread/reserved-ordinals", kinds: []string{spread}, check: typed(reservedTarget)},
}

const subsetField = "spec.subsets[%d].%s"

func warnUnlimitedFirst(s *subject, w *kruise.WorkloadSpread) {
	for i, subset := range w.Spec.Subsets {
		if subset.MaxReplicas == nil && i < len(w.Spec.Subsets)-1 {
			s.report(fmt.Sprintf(subsetField, i, "name"), "limit it with maxReplicas, or put it last", "subset %s has no limit: the subsets after it get no pod", subset.Name)
			return
		}
	}
}

// targetOf returns the workload that a reference refers to, nil if it is not known.
func (s *subject) targetOf(ref *kruise.TargetReference) *tree.Node {
	if ref == nil {
		return nil
	}
	r := s.c.Facts.Find(resource.ID{Group: resource.GroupOf(ref.APIVersion), Kind: ref.Kind, Namespace: s.c.Facts.NamespaceOf(s.r), Name: ref.Name})
	if r == nil {
		return nil
	}
	return r.Node()
}

func limitsBelow(s *subject, w *kruise.WorkloadSpread) {
	n, ok := tree.Int(tree.Get(s.targetOf(w.Spec.TargetReference), "spec", "replicas"))
	sum := 0
	for _, subset := range w.Spec.Subsets {
		if m := subset.MaxReplicas; m == nil || m.Type != intstr.Int {
			return
		}
		sum += subset.MaxReplicas.IntValue()
	}
	if ok && w.Spec.TargetFilter == nil && sum < int(n) {
		s.report("spec.subsets", "raise a limit, or leave maxReplicas out of the last subset", "has room for %d of the pods (%d): the rest is created without the settings of a subset", sum, n)
	}
}

func percentagesOfCloneSet(s *subject, w *kruise.WorkloadSpread) {
	ref := w.Spec.TargetReference
	if ref == nil || ref.Kind != kruise.KindCloneSet || ref.APIVersion != kruise.Group+"/"+kruise.V1beta1 {
		return
	}
	for _, subset := range w.Spec.Subsets {
		if subset.MaxReplicas == nil || subset.MaxReplicas.Type == intstr.Int {
			return
		}
	}
	s.report("spec.targetRef.apiVersion", "name the target as "+kruise.Group+"/"+kruise.V1alpha1+", or leave maxReplicas out of the last subset",
		"percentages count as 0 for a CloneSet that is named as %s: no pod will be placed", kruise.V1beta1)
}

func filterOfNothing(s *subject, w *kruise.WorkloadSpread) {
	if f := w.Spec.TargetFilter; f != nil && f.Selector == nil {
		s.report("spec.targetFilter", "give a selector, or leave the filter out", "has no selector, and so matches no pod")
	}
}

func subsetNames(s *subject, w *kruise.WorkloadSpread) {
	for i, subset := range w.Spec.Subsets {
		if faults := validation.IsDNS1123Label(subset.Name); len(faults) > 0 {
			s.report(fmt.Sprintf(subsetField, i, "name"), "use lower case letters, digits and -", "%q is not a DNS label", subset.Name)
		}
	}
}

func replicaSetTarget(s *subject, w *kruise.WorkloadSpread) {
	if ref := w.Spec.TargetReference; ref != nil && ref.Kind == kruise.KindReplicaSet {
		s.report("spec.targetRef", "use a Deployment", "pods of the first subset are deleted first: the costs are inverted for a bare ReplicaSet")
	}
}

func reservedTarget(s *subject, w *kruise.WorkloadSpread) {
	if len(tree.Items(tree.Get(s.targetOf(w.Spec.TargetReference), "spec", "reserveOrdinals"))) > 0 {
		s.report("spec.targetRef", "remove reserveOrdinals, or place pods by affinity", "%s %s reserves ordinals, which also count for the subsets", strings.ToLower(w.Spec.TargetReference.Kind), w.Spec.TargetReference.Name)
	}
}

// Rules about UnitedDeployments (docs/kruise/distribution.md#uniteddeployment).
var unitedAdvice = []advice{
	{id: "uniteddeployment/partition-updates-nothing", kinds: []string{united}, check: typed(subsetPartitions)},
	{id: "uniteddeployment/match-fields", kinds: []string{united}, check: typed(matchFields)},
}

func subsetPartitions(s *subject, u *kruise.UnitedDeployment) {
	if u.Spec.UpdateStrategy.ManualUpdate == nil {
		return
	}
	partitions := u.Spec.UpdateStrategy.ManualUpdate.Partitions
	for _, name := range slices.Sorted(maps.Keys(partitions)) {
		field := "spec.updateStrategy.manualUpdate.partitions[" + name + "]"
		if partitions[name] > 0 && u.Spec.Template.DeploymentTemplate != nil {
			s.report(field, "a Deployment uses its own strategy", "is ignored: subsets of Deployments have no partition")
			continue
		}
		i := slices.IndexFunc(u.Spec.Topology.Subsets, func(sub kruise.Subset) bool { return sub.Name == name })
		if i < 0 {
			continue
		}
		if n := u.Spec.Topology.Subsets[i].Replicas; n != nil && n.Type == intstr.Int && n.IntVal > 0 && partitions[name] >= n.IntVal {
			s.report(field, "lower the partition to update pods", "keeps all pods of the subset (%d) at the old revision", n.IntVal)
		}
	}
}

func matchFields(s *subject, u *kruise.UnitedDeployment) {
	for i, sub := range u.Spec.Topology.Subsets {
		if len(sub.NodeSelectorTerm.MatchFields) > 0 {
			s.report(fmt.Sprintf("spec.topology.subsets[%d].nodeSelectorTerm.matchFields", i), "use matchExpressions, such as one on kubernetes.io/hostname", "is ignored")
		}
	}
}

// Rules about releases of Kruise. Those about what a release refuses or drops are in package
// check.
var releaseAdvice = []advice{{id: "uniteddeployment/form-by-release", kinds: []string{united}, check: formByRelease}}

func formByRelease(s *subject) {
	if s.c.Kruise.IsZero() && s.c.Kruise.Read(s.r.Node()).ByFields {
		s.reportAt("spec.template.cloneSetTemplate.spec", "set the release with --kruise-version",
			"these fields are of CloneSet v1alpha1: releases up to %s accept them here, later releases do not", kruise.NewestRelease)
	}
}

// Rules about PersistentPodStates, and about the annotations that make one
// (docs/kruise/distribution.md#persistentpodstate).
var podStateAdvice = []advice{
	{id: "persistentpodstate/weight", kinds: []string{podState}, check: typed(podStateWeights)},
	{id: "statefulset/pod-state-annotations", kinds: []string{statefulSet, "apps/StatefulSet"}, check: podStateAnnotations},
}

func podStateWeights(s *subject, p *kruise.PersistentPodState) {
	for i, t := range p.Spec.PreferredPersistentTopology {
		if t.Weight < 1 || t.Weight > 100 {
			s.report(fmt.Sprintf("spec.preferredPersistentTopology[%d].weight", i), "from 1 to 100", "pods with the weight %d are refused by the API server: no pod with a recorded state can be recreated", t.Weight)
		}
	}
}

func podStateAnnotations(s *subject) {
	annotations := tree.Strings(tree.Get(s.r.Node(), "metadata", "annotations"))
	at := func(key string) string { return "metadata.annotations[" + key + "]" }
	topologies := []string{kruise.RequiredPersistentTopologyAnnotation, kruise.PreferredPersistentTopologyAnnotation}
	on := annotations[kruise.AutoGeneratePersistentPodStateAnnotation] == "true"
	if on && annotations[topologies[0]]+annotations[topologies[1]] == "" {
		s.report(at(kruise.AutoGeneratePersistentPodStateAnnotation), "add "+topologies[0]+" or "+topologies[1], "has no effect: no topology is given")
	}
	_, switched := annotations[kruise.AutoGeneratePersistentPodStateAnnotation]
	for _, key := range append(topologies, kruise.PersistentPodAnnotationsAnnotation) {
		value, given := annotations[key]
		switch {
		case given && !switched:
			s.report(at(key), "add "+kruise.AutoGeneratePersistentPodStateAnnotation+`: "true"`, "has no effect: no PersistentPodState is created")
		case strings.ContainsAny(value, " \t\n"):
			s.report(at(key), "remove the blanks", "blanks become part of the keys, which then match nothing")
		}
	}
}

// Rules about fields that have no effect (docs/kruise/distribution.md#resourcedistribution,
// docs/kruise/workloads.md#advanced-daemonset).
var distributionAdvice = []advice{
	{id: "resourcedistribution/ignored-field", kinds: []string{shared}, check: typed(ignoredTargets)},
	{id: "daemonset/ignored-field", kinds: []string{daemonSet}, check: typed(ignoredLifecycle)},
}

func ignoredTargets(s *subject, d *kruise.ResourceDistribution) {
	t := d.Spec.Targets
	if t.AllNamespaces && len(t.IncludedNamespaces.List) > 0 {
		s.report("spec.targets.includedNamespaces", "remove one of the two", "is ignored: allNamespaces is set")
	}
	if t.AllNamespaces && len(t.NamespaceSelector.MatchLabels)+len(t.NamespaceSelector.MatchExpressions) > 0 {
		s.report("spec.targets.namespaceSelector", "remove one of the two", "is ignored: allNamespaces is set")
	}
	var meta struct{ Metadata metav1.ObjectMeta }
	if json.Unmarshal(d.Spec.Resource.Raw, &meta) == nil && meta.Metadata.Namespace != "" {
		s.report("spec.resource.metadata.namespace", "remove it: the targets define the namespaces", "is ignored")
	}
}

func ignoredLifecycle(s *subject, d *kruise.DaemonSet) {
	if l := d.Spec.Lifecycle; l != nil && l.PreNormal != nil {
		s.report("spec.lifecycle.preNormal", "only preDelete has an effect here", "is ignored")
	}
}
