package finding

// Kinds of Kruise that this version does not know stay Kruise objects, under one
// rule.
var _ = register(Rule{
	ID: "kruise/not-expanded", Kind: "*", Severity: Lost,
	Becomes: "the object stays a Kruise object: it needs Kruise in the cluster",
	Action:  "install Kruise where this is applied, or replace the object by native ones",
})
