package admission

import (
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// expansion is the name under which deletion protection is expanded.
const expansion = "DeletionProtection"

// policiesServed is the version of Kubernetes that serves
// ValidatingAdmissionPolicy v1 (docs/facts/kubernetes.md#features-by-version).
const policiesServed = 30

// Protect is the stage that keeps Kruise's deletion protection without
// Kruise: for each kind of object in the output that carries the label, a
// ValidatingAdmissionPolicy with its binding refuses the same deletions
// (docs/kruise/protection.md#deletion-protection). The label itself stays where it is.
func Protect(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	if !c.Expand(expansion) {
		return in, nil
	}
	out := slices.Clip(in)
	for _, k := range protectedKinds {
		first := k.report(c, in)
		if first == nil && c.ProtectAll && len(in) > 0 {
			first = in[0] // no object asked for the policy
		}
		if first == nil || !c.Since(policiesServed) {
			continue
		}
		for _, n := range []*tree.Node{k.policy(), k.binding()} {
			made := resource.Derived(n, first)
			made.SetSubset("") // it is about all objects of the kind
			if !slices.ContainsFunc(in, func(r *resource.Resource) bool { return r.ID() == made.ID() }) {
				out = append(out, made)
			}
		}
	}
	return out, nil
}

// report speaks of each protected object of the kind in the output, and returns
// the first.
func (k protectedKind) report(c *stage.Context, in []*resource.Resource) (first *resource.Resource) {
	const field = "metadata.labels[" + kruise.DeleteProtectionLabel + "]"
	for _, r := range in {
		if !r.Is(k.group, k.name) {
			continue
		}
		value := r.Label(kruise.DeleteProtectionLabel)
		if value != kruise.DeleteProtectionAlways && value != kruise.DeleteProtectionCascading {
			continue
		}
		if first == nil {
			first = r
		}
		switch {
		case !c.Since(policiesServed):
			c.Findings.Add("deletionprotection/older", r, field, "")
		case value == kruise.DeleteProtectionAlways:
			c.Findings.Add("deletionprotection/always", r, field, "")
		case k.scaled:
			c.Findings.Add("deletionprotection/cascading", r, field, "")
		case k.counted:
			c.Findings.Add("deletionprotection/cascading-counted", r, field, "")
		}
	}
	return first
}

// protectedKind is one native kind that Kruise protects.
type protectedKind struct {
	group, version, name, plural string
	// scaled kinds block Cascading while spec.replicas is above 0; counted ones
	// while something else exists, which a policy cannot count.
	scaled, counted bool
}

var protectedKinds = []protectedKind{
	{group: "apps", version: "v1", name: kruise.KindDeployment, plural: "deployments", scaled: true},
	{group: "apps", version: "v1", name: kruise.KindReplicaSet, plural: "replicasets", scaled: true},
	{group: "apps", version: "v1", name: kruise.KindStatefulSet, plural: "statefulsets", scaled: true},
	{version: "v1", name: "Namespace", plural: "namespaces", counted: true},
	{group: "apiextensions.k8s.io", version: "v1", name: "CustomResourceDefinition", plural: "customresourcedefinitions", counted: true},
	{version: "v1", name: "Service", plural: "services"},
	{group: "networking.k8s.io", version: "v1", name: "Ingress", plural: "ingresses"},
}

const policyVersion = "admissionregistration.k8s.io/v1"

func (k protectedKind) policyName() string { return "kubectl-kruise-protect-" + k.plural }

// policy refuses the deletion of objects of the kind with the label. What is
// being deleted already is let go, so that finalizers can finish.
func (k protectedKind) policy() *tree.Node {
	values := tree.Seq(tree.String(kruise.DeleteProtectionAlways))
	validations := tree.Seq(k.validation(kruise.DeleteProtectionAlways, "", ""))
	if k.scaled {
		values.Content = append(values.Content, tree.String(kruise.DeleteProtectionCascading))
		validations.Content = append(validations.Content,
			k.validation(kruise.DeleteProtectionCascading, "!has(oldObject.spec.replicas) || oldObject.spec.replicas == 0", " and replicas above 0"))
	}
	return tree.Map("apiVersion", policyVersion, "kind", "ValidatingAdmissionPolicy",
		"metadata", tree.Map("name", k.policyName()),
		"spec", tree.Map(
			"failurePolicy", "Fail",
			"matchConstraints", tree.Map(
				"resourceRules", tree.Seq(tree.Map(
					"apiGroups", tree.Seq(tree.String(k.group)), "apiVersions", tree.Seq(tree.String(k.version)),
					"operations", tree.Seq(tree.String("DELETE")), "resources", tree.Seq(tree.String(k.plural)),
				)),
				"objectSelector", tree.Map("matchExpressions", tree.Seq(tree.Map(
					"key", kruise.DeleteProtectionLabel, "operator", "In", "values", values,
				))),
			),
			"matchConditions", tree.Seq(tree.Map("name", "not-yet-deleted", "expression", "!has(oldObject.metadata.deletionTimestamp)")),
			"validations", validations,
		))
}

// validation lets an object go that has another value of the label, or for which
// a condition holds. The message is as Kruise words it.
func (k protectedKind) validation(value, unless, more string) *tree.Node {
	expression := fmt.Sprintf("oldObject.metadata.labels['%s'] != '%s'", kruise.DeleteProtectionLabel, value)
	if unless != "" {
		expression += " || " + unless
	}
	return tree.Map(
		"expression", expression,
		"message", fmt.Sprintf("forbidden by ResourcesProtectionDeletion for %s=%s%s; remove the label to delete the object", kruise.DeleteProtectionLabel, value, more),
		"reason", "Forbidden",
	)
}

func (k protectedKind) binding() *tree.Node {
	return tree.Map("apiVersion", policyVersion, "kind", "ValidatingAdmissionPolicyBinding",
		"metadata", tree.Map("name", k.policyName()),
		"spec", tree.Map("policyName", k.policyName(), "validationActions", tree.Seq(tree.String("Deny"))))
}
