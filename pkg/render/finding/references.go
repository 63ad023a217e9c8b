package finding

// What becomes of objects that name an expanded object. Rules of this file
// belong to no Kruise kind: the objects are native ones, or Kruise objects
// that stay.
var _ = register(
	Rule{
		ID: "references/followed", Kind: "*", Severity: Exact,
		Becomes: "a reference to an expanded object names what the object became",
	},
	Rule{
		ID: "references/immutable", Kind: "*", Severity: Approximate,
		Becomes: "a reference that a cluster does not let change names what the object became",
		Action:  "delete this object in a cluster that holds it with the old reference, then apply",
	},
	Rule{
		ID: "references/per-piece", Kind: "*", Severity: Approximate,
		Becomes: "the target was split, and each piece has a copy of this object",
		Action:  "delete the original in a cluster that holds it",
	},
	Rule{
		ID: "references/per-piece-hpa", Kind: "*", Severity: Approximate,
		Becomes: "the target was split, and each piece has an autoscaler of its own: they share minReplicas and maxReplicas in the ratio of the rendered replicas, and no longer keep the ratio of the subsets",
		Action:  "check the limits of each autoscaler, and delete the original in a cluster that holds it",
	},
	Rule{
		ID: "references/selector", Kind: "*", Severity: Approximate,
		Becomes: "the target was split: the budget guards the pods of all pieces through the target's selector",
		Action:  "delete this budget in a cluster that holds it with targetRef, then apply: the field is immutable",
	},
	Rule{
		ID: "references/split", Kind: "*", Severity: Lost,
		Becomes: "the target was split into several objects and this object can only name one: it is left out",
		Action:  "write one object for each piece, or keep the target whole",
	},
	Rule{
		ID: "references/unfit", Kind: "*", Severity: Lost,
		Becomes: "the target became a kind that this object cannot work with: it is left out",
		Action:  "remove this object, or write what takes its place for the new kind",
	},
	Rule{
		ID: "references/gone", Kind: "*", Severity: Lost,
		Becomes: "the target is not in the output in any form: this object is left out",
		Action:  "remove this object from the input",
	},
)
