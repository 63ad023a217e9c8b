package finding

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// Rule is one entry of the catalogue: what becomes of a field.
type Rule struct {
	// ID is stable across releases: kind in lower case, a slash, a short name.
	ID string
	// Kind is the Kruise kind, or "*" for all.
	Kind string
	// Fields are the dotted paths that the rule answers for, in the newest API
	// version; a path answers for everything below it. List elements are "[]".
	Fields []string
	// When names the case in which the rule applies, where several rules answer
	// for a field ("" = always): the form of the output, the driver.
	When string
	// Severity of the findings that the rule makes.
	Severity Severity
	// Becomes is what the field becomes, or how the output differs.
	Becomes string
	// Action is what the user can do; it may be empty for Exact.
	Action string
}

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
