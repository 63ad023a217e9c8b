package finding

// What becomes of the label that protects objects from deletion
// (docs/kruise/protection.md#deletion-protection), on native objects of the output.
var _ = register(
	Rule{
		ID: "deletionprotection/always", Kind: "DeletionProtection", When: "Always", Severity: Exact,
		Fields:  []string{"metadata.labels[policy.kruise.io/delete-protection]"},
		Becomes: "the label stays, and a ValidatingAdmissionPolicy with its binding refuses the deletion",
	},
	Rule{
		ID: "deletionprotection/cascading", Kind: "DeletionProtection", When: "Cascading, on a workload", Severity: Exact,
		Fields:  []string{"metadata.labels[policy.kruise.io/delete-protection]"},
		Becomes: "the label stays, and a ValidatingAdmissionPolicy with its binding refuses the deletion while spec.replicas is above 0",
	},
	Rule{
		ID: "deletionprotection/cascading-counted", Kind: "DeletionProtection", When: "Cascading, on a Namespace or CustomResourceDefinition", Severity: Lost,
		Fields:  []string{"metadata.labels[policy.kruise.io/delete-protection]"},
		Becomes: "nothing: a policy cannot count what is inside",
		Action:  "set Always",
	},
	Rule{
		ID: "deletionprotection/older", Kind: "DeletionProtection", When: "--kubernetes-version below 1.30", Severity: Lost,
		Fields:  []string{"metadata.labels[policy.kruise.io/delete-protection]"},
		Becomes: "the label stays, but nothing refuses the deletion: API servers serve no ValidatingAdmissionPolicy v1",
		Action:  "guard the label with a webhook",
	},
)
