package finding

// templateRules are what becomes of a pod template, for a kind whose rules begin
// with id (docs/kruise/workloads.md#what-is-added-to-pods,
// docs/kruise/protection.md#container-launch-priority and
// docs/kruise/protection.md#other-features). They are the same for all kinds, but for pull
// policies.
func templateRules(kind, id string) []Rule {
	return templateRulesAt(kind, id, "spec.template")
}

// templateRulesAt is templateRules for a template in another field.
func templateRulesAt(kind, id, at string) []Rule {
	return []Rule{
		keptTemplate(kind, id, at),
		{
			ID: id + "/readiness-gates", Kind: kind, Severity: Approximate,
			Fields:  []string{at + ".spec.readinessGates"},
			Becomes: "the gates InPlaceUpdateReady and KruisePodReady are removed: only Kruise sets them, and without it the pods would never become ready",
			Action:  "no action needed, unless another controller sets these conditions",
		},
		{
			ID: id + "/enhanced-liveness", Kind: kind, Severity: Lost,
			Fields:  []string{at + ".metadata.annotations[apps.kruise.io/using-enhanced-liveness]"},
			Becomes: "stays in the template, but liveness probes remain with the kubelet",
			Action:  "remove the annotation",
		},
	}
}

// keptTemplate is the rule of a template that stays.
func keptTemplate(kind, id, at string) Rule {
	return Rule{
		ID: id + "/template", Kind: kind, Severity: Exact,
		Fields:  []string{at},
		Becomes: "the same template, apart from what other findings report",
	}
}

// alwaysPulled is the rule of kinds whose template Kruise's webhook gives a pull
// policy.
func alwaysPulled(kind, id string) Rule {
	return Rule{
		ID: id + "/image-pull-policy", Kind: kind, Severity: Exact,
		Fields:  []string{"spec.template.spec.containers[].imagePullPolicy"},
		Becomes: "containers without a policy get Always, as from Kruise's webhook, whatever their tag; the policy of init containers depends on the tag in both cases",
	}
}

// workloadRules are what becomes of what all workloads with pods of their own
// have.
func workloadRules(kind, id string) []Rule {
	return append(templateRules(kind, id),
		Rule{
			ID: id + "/selector", Kind: kind, Severity: Exact,
			Fields:  []string{"spec.selector"},
			Becomes: "the same field; Services and budgets select the same pods",
		},
		Rule{
			ID: id + "/revision-history", Kind: kind, Severity: Exact,
			Fields:  []string{"spec.revisionHistoryLimit"},
			Becomes: "the same field; both kinds default to 10",
		},
	)
}
