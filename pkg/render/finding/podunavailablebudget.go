package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// What becomes of a PodUnavailableBudget (docs/kruise/protection.md#podunavailablebudget).
var podUnavailableBudgetRules = []Rule{
	{
		ID: "podunavailablebudget/selector", Kind: kruise.KindPodUnavailableBudget, Severity: Exact,
		Fields:  []string{"spec.selector"},
		Becomes: "the same selector",
	},
	{
		ID: "podunavailablebudget/target", Kind: kruise.KindPodUnavailableBudget, Severity: Approximate,
		Fields:  []string{"spec.targetRef"},
		Becomes: "the selector of the target, so pods of other workloads with the same labels count, too",
		Action:  "keep selectors of workloads apart",
	},
	{
		ID: "podunavailablebudget/limit", Kind: kruise.KindPodUnavailableBudget, Severity: Exact,
		Fields:  []string{"spec.maxUnavailable", "spec.minAvailable"},
		Becomes: "the same field; percentages are rounded up by both kinds, and pods that are not ready can always be evicted (AlwaysAllow)",
	},
	{
		ID: "podunavailablebudget/total", Kind: kruise.KindPodUnavailableBudget, Severity: Exact,
		Fields:  []string{"spec.protectTotalReplicas"},
		Becomes: "minAvailable as a number, calculated from the given total",
	},
	{
		ID: "podunavailablebudget/eviction", Kind: kruise.KindPodUnavailableBudget, Severity: Exact,
		Fields:  []string{"spec.protectOperations"},
		Becomes: "evictions are refused by the same arithmetic; with code 429 instead of Kruise's 403, so that drains wait and retry",
	},
	{
		ID: "podunavailablebudget/operations", Kind: kruise.KindPodUnavailableBudget, When: "DELETE or UPDATE, the default", Severity: Lost,
		Fields:  []string{"spec.protectOperations"},
		Becomes: "a PodDisruptionBudget covers only evictions: it does not limit deletions and updates of pods, including those of a rollout",
		Action:  "limit rollouts with maxUnavailable, and remove pods by eviction; or use --driver client, which honors the whole budget",
	},
	{
		ID: "podunavailablebudget/operations-client", Kind: kruise.KindPodUnavailableBudget, When: byClient, Severity: Approximate,
		Fields:  []string{"spec.protectOperations"},
		Becomes: "kept in the strategy annotation: this tool honors the whole budget; deletions and updates by others are not limited",
		Action:  "remove pods by eviction",
	},
	{
		ID: "podunavailablebudget/no-eviction", Kind: kruise.KindPodUnavailableBudget, When: "EVICT is not protected", Severity: Lost,
		Fields:  []string{"spec.protectOperations"},
		Becomes: "not rendered: a PodDisruptionBudget covers only evictions",
		Action:  "add EVICT, or limit rollouts with maxUnavailable",
	},
	{
		ID: "podunavailablebudget/ignored", Kind: kruise.KindPodUnavailableBudget, When: "one requirement", Severity: Exact,
		Fields:  []string{"spec.ignoredPodSelector"},
		Becomes: "its opposite is added to the selector",
	},
	{
		ID: "podunavailablebudget/ignored-several", Kind: kruise.KindPodUnavailableBudget, When: "several requirements", Severity: Lost,
		Fields:  []string{"spec.ignoredPodSelector"},
		Becomes: "these pods are protected and counted, too: a selector cannot express \"not both\"",
		Action:  "mark the ignored pods with one label",
	},
}
