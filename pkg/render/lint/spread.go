package lint

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Rules about WorkloadSpreads (docs/kruise/distribution.md#workloadspread and
// docs/kruise/distribution.md#observed-on-a-cluster).
var _ = advise(
	advice{
		Rule:  Rule{ID: "workloadspread/open-subset-first", Kind: kruise.KindWorkloadSpread, Severity: Warning, Doc: "A subset without maxReplicas before others is accepted and takes every pod."},
		kinds: []string{spread}, look: typed(openFirst),
	},
	advice{
		Rule:  Rule{ID: "workloadspread/limits-below-replicas", Kind: kruise.KindWorkloadSpread, Severity: Warning, Doc: "The limits of all subsets together are below the target's replicas: pods beyond them are created without any of this."},
		kinds: []string{spread}, look: typed(limitsBelow),
	},
	advice{
		Rule:  Rule{ID: "workloadspread/percentages-of-cloneset", Kind: kruise.KindWorkloadSpread, Severity: Warning, Doc: "With a target named as a CloneSet of v1beta1, percentages count as 0 until the status has counts: where all subsets are limited, no pod is ever placed."},
		kinds: []string{spread}, look: typed(percentagesOfCloneSet),
	},
	advice{
		Rule:  Rule{ID: "workloadspread/filter-matches-nothing", Kind: kruise.KindWorkloadSpread, Severity: Warning, Doc: "A targetFilter without selector matches no pod."},
		kinds: []string{spread}, look: typed(filterOfNothing),
	},
	advice{
		Rule:  Rule{ID: "workloadspread/subset-name", Kind: kruise.KindWorkloadSpread, Severity: Warning, Doc: "A subset name that is not a DNS label is accepted; names of what is rendered for the subset have to be."},
		kinds: []string{spread}, look: typed(subsetNames),
	},
	advice{
		Rule:  Rule{ID: "workloadspread/replicaset-target", Kind: kruise.KindWorkloadSpread, Severity: Warning, Doc: "Of a bare ReplicaSet the deletion costs are mirrored: pods of the first subset go first."},
		kinds: []string{spread}, look: typed(replicaSetTarget),
	},
	advice{
		Rule:  Rule{ID: "workloadspread/reserved-ordinals", Kind: kruise.KindWorkloadSpread, Severity: Warning, Doc: "Subsets of a StatefulSet are counted by ordinals, and reserveOrdinals are not understood: subsets get other numbers of pods than their limits say."},
		kinds: []string{spread}, look: typed(reservedTarget),
	},
)

const subsetField = "spec.subsets[%d].%s"

func openFirst(s *subject, w *kruise.WorkloadSpread) {
	for i, subset := range w.Spec.Subsets {
		if subset.MaxReplicas == nil && i < len(w.Spec.Subsets)-1 {
			s.say(fmt.Sprintf(subsetField, i, "name"), "limit it with maxReplicas, or put it last", "subset %s has no limit: those behind it get no pod", subset.Name)
			return
		}
	}
}

// targetOf is the workload that a reference names, among all objects.
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
		s.say("spec.subsets", "raise a limit, or leave maxReplicas out of the last subset", "has room for %d of %d pods: the rest is created without any of this", sum, n)
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
	s.say("spec.targetRef.apiVersion", "name the target as "+kruise.Group+"/"+kruise.V1alpha1+", or leave maxReplicas out of the last subset",
		"percentages count as 0 for a CloneSet that is named as %s: no pod will be placed", kruise.V1beta1)
}

func filterOfNothing(s *subject, w *kruise.WorkloadSpread) {
	if f := w.Spec.TargetFilter; f != nil && f.Selector == nil {
		s.say("spec.targetFilter", "give a selector, or leave the filter out", "has no selector, and so matches no pod")
	}
}

func subsetNames(s *subject, w *kruise.WorkloadSpread) {
	for i, subset := range w.Spec.Subsets {
		if faults := validation.IsDNS1123Label(subset.Name); len(faults) > 0 {
			s.say(fmt.Sprintf(subsetField, i, "name"), "use lower case letters, digits and -", "%q is not a DNS label", subset.Name)
		}
	}
}

func replicaSetTarget(s *subject, w *kruise.WorkloadSpread) {
	if ref := w.Spec.TargetReference; ref != nil && ref.Kind == kruise.KindReplicaSet {
		s.say("spec.targetRef", "use a Deployment", "pods of the first subset are deleted first: of a ReplicaSet alone the costs are the other way round")
	}
}

func reservedTarget(s *subject, w *kruise.WorkloadSpread) {
	if len(tree.Items(tree.Get(s.targetOf(w.Spec.TargetReference), "spec", "reserveOrdinals"))) > 0 {
		s.say("spec.targetRef", "take reserveOrdinals out, or place pods by affinity", "%s %s reserves ordinals, which count for the subsets all the same", strings.ToLower(w.Spec.TargetReference.Kind), w.Spec.TargetReference.Name)
	}
}
