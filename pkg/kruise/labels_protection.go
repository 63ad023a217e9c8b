package kruise

// Deletion protection (docs/kruise/protection.md#deletion-protection), on any object.
const (
	// DeleteProtectionLabel is [DeleteProtectionAlways] or
	// [DeleteProtectionCascading]; other values do nothing.
	DeleteProtectionLabel     = "policy.kruise.io/delete-protection"
	DeleteProtectionAlways    = "Always"
	DeleteProtectionCascading = "Cascading"
)

// PodUnavailableBudget (docs/kruise/protection.md#podunavailablebudget).
const (
	// ProtectOperationsAnnotation, with commas, on a v1alpha1 budget is
	// spec.protectOperations of v1beta1.
	ProtectOperationsAnnotation = "kruise.io/pub-protect-operations"
	// ProtectTotalReplicasAnnotation on a v1alpha1 budget is
	// spec.protectTotalReplicas of v1beta1.
	ProtectTotalReplicasAnnotation = "pub.kruise.io/protect-total-replicas"
	// NoProtectAnnotation, "true" on a pod, takes it out of its budget.
	NoProtectAnnotation = "pub.kruise.io/no-protect"
	// RelatedBudgetAnnotation on a pod names its budget,
	// RelatedBudgetOlderAnnotation is the older spelling.
	RelatedBudgetAnnotation      = "pub.kruise.io/related-pub"
	RelatedBudgetOlderAnnotation = "kruise.io/related-pub"
)
