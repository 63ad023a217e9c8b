package finding

// The kinds that stay Kruise objects. One rule serves them all: it goes, kind
// by kind, as the renderer learns to expand them.
var _ = register(Rule{
	ID: "kruise/not-expanded", Kind: "*", Severity: Lost,
	Becomes: "the object stays a Kruise object: it needs Kruise in the cluster",
	Action:  "install Kruise where this is applied, or replace the object by native ones",
})
