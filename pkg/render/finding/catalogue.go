package finding

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// Rules are all rules, sorted by kind and ID.
func Rules() []Rule { return slices.Clone(sorted()) }

var sorted = sync.OnceValue(func() []Rule {
	all := slices.Concat(
		advancedCronJobRules, broadcastJobRules, cloneSetRules, cloneSetScaleRules, cloneSetStrategyRules,
		containerRecreateRequestRules, daemonSetRules, ephemeralJobRules, imagePullJobRules, nodeImageRules,
		persistentPodStateRules, podProbeMarkerRules, podUnavailableBudgetRules, resourceDistributionRules,
		distributionTargetRules, sidecarSetRules, sidecarSetStrategyRules, sidecarSetAdmissionRules, statefulSetRules,
		statefulSetStrategyRules, unitedDeploymentRules, unitedDeploymentSubsetRules, unitedDeploymentScheduleRules,
		workloadSpreadRules, workloadSpreadSubsetRules, workloadSpreadPolicyRules,
		fromCronJobRules, fromDaemonSetRules, fromDeploymentRules, fromPodDisruptionBudgetRules, fromStatefulSetRules, convertRules,
		protectionRules, referenceRules, releaseRules, sidecarEndRules, startOrderRules, unknownKindRules,
	)
	slices.SortFunc(all, func(a, b Rule) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) })
	return all
})

// Lookup returns the rule with this ID. It panics when there is none, which is
// a programming error.
func Lookup(id string) Rule {
	r, ok := byID()[id]
	if !ok {
		panic(fmt.Sprintf("finding: no rule %q in the catalogue", id))
	}
	return r
}

var byID = sync.OnceValue(func() map[string]Rule {
	rules := make(map[string]Rule, len(sorted()))
	for _, r := range sorted() {
		if _, twice := rules[r.ID]; twice {
			panic(fmt.Sprintf("finding: two rules have the ID %q", r.ID))
		}
		rules[r.ID] = r
	}
	return rules
})
