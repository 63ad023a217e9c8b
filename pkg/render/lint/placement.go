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
	{
		Rule:  Rule{ID: "workloadspread/open-subset-first", Kind: kruise.KindWorkloadSpread, Severity: Warning, Doc: "A subset without maxReplicas before others is accepted and takes every pod."},
		kinds: []string{spread}, check: typed(warnUnlimitedFirst),
	},
	{
		Rule:  Rule{ID: "workloadspread/limits-below-replicas", Kind: kruise.KindWorkloadSpread, Severity: Warning, Doc: "The limits of all subsets together are below the target's replicas: pods beyond them are created without the settings of a subset."},
		kinds: []string{spread}, check: typed(limitsBelow),
	},
	{
		Rule:  Rule{ID: "workloadspread/percentages-of-cloneset", Kind: kruise.KindWorkloadSpread, Severity: Warning, Doc: "With a target named as a CloneSet of v1beta1, percentages count as 0 until the status has counts: where all subsets are limited, no pod is ever placed."},
		kinds: []string{spread}, check: typed(percentagesOfCloneSet),
	},
	{
		Rule:  Rule{ID: "workloadspread/filter-matches-nothing", Kind: kruise.KindWorkloadSpread, Severity: Warning, Doc: "A targetFilter without selector matches no pod."},
		kinds: []string{spread}, check: typed(filterOfNothing),
	},
	{
		Rule:  Rule{ID: "workloadspread/subset-name", Kind: kruise.KindWorkloadSpread, Severity: Warning, Doc: "A subset name that is not a DNS label is accepted; names of objects that are rendered for the subset must be one."},
		kinds: []string{spread}, check: typed(subsetNames),
	},
	{
		Rule:  Rule{ID: "workloadspread/replicaset-target", Kind: kruise.KindWorkloadSpread, Severity: Warning, Doc: "The deletion costs of a bare ReplicaSet are inverted: pods of the first subset are deleted first."},
		kinds: []string{spread}, check: typed(replicaSetTarget),
	},
	{
		Rule:  Rule{ID: "workloadspread/reserved-ordinals", Kind: kruise.KindWorkloadSpread, Severity: Warning, Doc: "Subsets of a StatefulSet are counted by ordinals, and reserveOrdinals are not understood: the numbers of pods differ from the limits of the subsets."},
		kinds: []string{spread}, check: typed(reservedTarget),
	},
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
	{
		Rule:  Rule{ID: "uniteddeployment/partition-updates-nothing", Kind: kruise.KindUnitedDeployment, Severity: Warning, Doc: "A partition as large as its subset keeps all its pods at the old revision; a partition of a subset of Deployments is ignored."},
		kinds: []string{united}, check: typed(subsetPartitions),
	},
	{
		Rule:  Rule{ID: "uniteddeployment/match-fields", Kind: kruise.KindUnitedDeployment, Severity: Warning, Doc: "Of a nodeSelectorTerm only matchExpressions are used."},
		kinds: []string{united}, check: typed(matchFields),
	},
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
var releaseAdvice = []advice{{
	Rule:  Rule{ID: "uniteddeployment/form-by-release", Kind: kruise.KindUnitedDeployment, Severity: Info, Doc: "A cloneSetTemplate has the form of CloneSet v1alpha1, which every release of Kruise up to 1.9 reads; later releases read only that of v1beta1."},
	kinds: []string{united}, check: formByRelease,
}}

func formByRelease(s *subject) {
	if s.c.Kruise.IsZero() && s.c.Kruise.Read(s.r.Node()).ByFields {
		s.reportAt("spec.template.cloneSetTemplate.spec", "set the release with --kruise-version",
			"these fields are of CloneSet v1alpha1: releases up to %s accept them here, later releases do not", kruise.NewestRelease)
	}
}

// Rules about PersistentPodStates, and about the annotations that make one
// (docs/kruise/distribution.md#persistentpodstate).
var podStateAdvice = []advice{
	{
		Rule:  Rule{ID: "persistentpodstate/weight", Kind: kruise.KindPersistentPodState, Severity: Warning, Doc: "A weight below 1 or above 100 is accepted, and every pod that it is put into is refused."},
		kinds: []string{podState}, check: typed(podStateWeights),
	},
	{
		Rule:  Rule{ID: "statefulset/pod-state-annotations", Kind: kruise.KindStatefulSet, Severity: Warning, Doc: "Annotations that make a PersistentPodState: a switch without a topology makes none, a topology without the switch neither, and blanks around commas become part of the keys."},
		kinds: []string{statefulSet, "apps/StatefulSet"}, check: podStateAnnotations,
	},
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
	{
		Rule:  Rule{ID: "resourcedistribution/ignored-field", Kind: kruise.KindResourceDistribution, Severity: Warning, Doc: "With allNamespaces the included namespaces and the selector are ignored; a namespace in the resource always is."},
		kinds: []string{shared}, check: typed(ignoredTargets),
	},
	{
		Rule:  Rule{ID: "daemonset/ignored-field", Kind: kruise.KindDaemonSet, Severity: Warning, Doc: "Only preDelete has an effect in the lifecycle of a DaemonSet."},
		kinds: []string{daemonSet}, check: typed(ignoredLifecycle),
	},
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
