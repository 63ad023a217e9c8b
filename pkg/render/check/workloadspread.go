package check

import (
	"encoding/json"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const (
	spreadSubsets  = "spec.subsets"
	spreadSchedule = "spec.scheduleStrategy"
	// spreadRetry is how many seconds a subset stays closed after a pod did not fit. In that
	// time every other subset must have been tried.
	spreadRetry = 295
)

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindWorkloadSpread, object: kruise.WorkloadSpread{},
	open:  []string{"spec.subsets.patch"},
	check: workloadSpread,
})

var spreadTarget = targetRule{
	path: "spec.targetRef", whiteList: kruise.WorkloadSpreadWhiteListKey, assumed: true,
	permitted: []string{
		"apps.kruise.io/CloneSet", "apps/Deployment", "apps/ReplicaSet", "batch/Job", "apps/StatefulSet", "apps.kruise.io/StatefulSet",
	},
}

// spreadCheck gathers the faults of one WorkloadSpread.
type spreadCheck struct {
	*subject
	spec *kruise.WorkloadSpreadSpec
}

// workloadSpread holds the rules of the webhook (docs/kruise/distribution.md#workloadspread).
func workloadSpread(s *subject) {
	var spread kruise.WorkloadSpread
	if !s.read(&spread) {
		return
	}
	k := &spreadCheck{subject: s, spec: &spread.Spec}
	switch ref := k.spec.TargetReference; {
	case ref == nil:
		k.fault(spreadTarget.path, "", "a target is required")
	case targetNamed(k.subject, spreadTarget, ref):
		uniqueTarget(k.subject, spreadTarget, ref)
		k.patches(ref)
	}
	if f := k.spec.TargetFilter; f != nil && f.Selector != nil {
		validSelector(k.subject, "spec.targetFilter.selector", f.Selector)
	}
	if !k.tooManySubsets(spreadSubsets, len(k.spec.Subsets)) {
		k.subsets()
		k.limits()
		k.schedule()
	}
	var old kruise.WorkloadSpread
	if k.decodeOld(&old) {
		immutableFields(k.subject, fieldChange{spreadTarget.path, old.Spec.TargetReference, k.spec.TargetReference})
	}
}

func (k *spreadCheck) subsets() {
	if len(k.spec.Subsets) == 0 {
		k.fault(spreadSubsets, "", "at least one subset is required")
	}
	seen := map[string]bool{}
	for i, s := range k.spec.Subsets {
		at := fmt.Sprintf("%s[%d]", spreadSubsets, i)
		switch {
		case s.Name == "":
			k.fault(at+".name", "", "a subset needs a name")
		case seen[s.Name]:
			k.fault(at+".name", "", "there are two subsets %s", s.Name)
		}
		seen[s.Name] = true
		if s.RequiredNodeSelector != nil {
			nodeTerm(k.subject, at+".requiredNodeSelector", s.RequiredNodeSelector)
		}
		preferredNodes(k.subject, at+".preferredNodeSelector", s.PreferredNodeSelector)
		tolerations(k.subject, at+".tolerations", s.Tolerations)
	}
}

// limits wants values of one type, and percentages that add up to 100%.
func (k *spreadCheck) limits() {
	sum, percents, first := 0, -1, (*intstr.IntOrString)(nil)
	last := len(k.spec.Subsets) - 1
	ordered := k.spec.TargetReference != nil && k.spec.TargetReference.Kind == kruise.KindStatefulSet
	for i, s := range k.spec.Subsets {
		at := fmt.Sprintf("%s[%d].maxReplicas", spreadSubsets, i)
		limit := s.MaxReplicas
		if limit == nil {
			continue
		}
		if _, err := strconv.ParseUint(limit.StrVal, 10, 31); err == nil {
			k.accepted(func() { numberOrPartOfWhole(k.subject, at, limit) })
			continue
		}
		if !numberOrPartOfWhole(k.subject, at, limit) {
			continue
		}
		if first == nil {
			first = limit
		}
		p, percentage := percent(limit)
		switch {
		case percentage && ordered:
			k.fault(at, "give numbers", "the pods of a StatefulSet are divided by numbers, not by percentages")
		case limit.Type != first.Type:
			k.fault(at, "give numbers or percentages everywhere", "maxReplicas must be of the same type in all subsets")
		case percentage:
			sum += p
			if percents < 0 {
				percents = i
			}
		}
	}
	if percents >= 0 && (sum > 100 || sum < 100 && k.spec.Subsets[last].MaxReplicas != nil) {
		k.fault(fmt.Sprintf("%s[%d].maxReplicas", spreadSubsets, percents), "make them add up to 100%, or leave maxReplicas out of the last subset",
			"the percentages add up to %d%%", sum)
	}
}

// schedule wants an Adaptive schedule to have an unlimited last subset, and a time that is
// short enough to try all subsets.
func (k *spreadCheck) schedule() {
	strategy := k.spec.ScheduleStrategy
	oneOf(k.subject, spreadSchedule+".type", strategy.Type, kruise.FixedWorkloadSpreadScheduleStrategyType, kruise.AdaptiveWorkloadSpreadScheduleStrategyType)
	if strategy.Adaptive == nil || strategy.Adaptive.RescheduleCriticalSeconds == nil {
		return
	}
	if strategy.Type != kruise.AdaptiveWorkloadSpreadScheduleStrategyType {
		k.fault(spreadSchedule+".type", "set type: Adaptive", "adaptive only goes with type Adaptive")
	}
	const path = spreadSchedule + ".adaptive"
	seconds := *strategy.Adaptive.RescheduleCriticalSeconds
	n := len(k.spec.Subsets)
	if n > 1 && k.spec.Subsets[n-1].MaxReplicas != nil {
		k.fault(path, "leave maxReplicas out of the last subset", "the last subset must accept all remaining pods")
	}
	if seconds < 0 || n > 1 && int(seconds) > spreadRetry/(n-1) {
		k.fault(path+".rescheduleCriticalSeconds", "", "%d is not between 0 and %d", seconds, spreadRetry/max(n-1, 1))
	}
}

// patches tries each subset's patch on the pods of the target, where that is
// known (docs/kruise/sidecarset.md#observed-on-a-cluster).
func (k *spreadCheck) patches(ref *kruise.TargetReference) {
	var pods *tree.Node
	if target := k.findInNamespace(resource.GroupOf(ref.APIVersion), ref.Kind, ref.Name); target != nil {
		pods = tree.Get(target.Node(), "spec")
	}
	for i, s := range k.spec.Subsets {
		path := fmt.Sprintf("%s[%d].patch", spreadSubsets, i)
		if len(s.Patch.Raw) == 0 {
			continue
		}
		var patch map[string]any
		if json.Unmarshal(s.Patch.Raw, &patch) != nil {
			k.accepted(func() {
				k.fault(path, "write metadata and spec as in a pod template", "a patch must be a mapping: no pod gets this one")
			})
		} else if tree.IsMap(tree.Get(pods, "template")) {
			k.patchedPods(path, pods, patch)
		}
	}
}

// patchedPods reports faults of the pods that only the patched template has.
func (k *spreadCheck) patchedPods(path string, spec *tree.Node, patch map[string]any) {
	template := tree.Get(spec, "template")
	claims := claimsOf(spec)
	known := map[string]bool{}
	for _, problem := range k.problems(template, claims) {
		known[withoutIndices(problem)] = true // a patch moves list elements
	}
	whole, _ := tree.Value(template).(map[string]any)
	merged, err := kruise.PatchTemplate(whole, patch)
	if err != nil {
		k.fault(path, "the patch is a strategic merge patch of the pod", "does not fit the pods of the target: %v", err)
		return
	}
	for _, problem := range k.problems(tree.FromValue(merged), claims) {
		if !known[withoutIndices(problem)] {
			k.fault(path, "", "makes a pod that is refused: %s", problem)
		}
	}
}

// problems are the faults of a pod template as text, with their paths.
func (k *spreadCheck) problems(n *tree.Node, claims []corev1.PersistentVolumeClaim) (list []string) {
	var t corev1.PodTemplateSpec
	if _, err := tree.Decode(n, &t); err != nil {
		return []string{err.Error()}
	}
	refused, _ := podErrors("pod", &t, claims)
	for _, e := range sortedErrors(refused) {
		list = append(list, e.Field+": "+wordsOf(e))
	}
	return list
}

// claimsOf are the claim templates of a workload, as far as they can be read.
func claimsOf(spec *tree.Node) []corev1.PersistentVolumeClaim {
	var claims []corev1.PersistentVolumeClaim
	if list := tree.Get(spec, "volumeClaimTemplates"); list == nil {
		return nil
	} else if _, err := tree.Decode(list, &claims); err != nil {
		return nil
	}
	return claims
}
