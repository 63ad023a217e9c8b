// Package policy builds MutatingAdmissionPolicies that change pods when they are created, each
// with its binding, and the CEL text in them. The callers decide what such a policy does. It
// relies on docs/facts/kubernetes.md#mutating-admission-policies and
// docs/facts/kubelet.md#admission-policies: changes are JSON patches, since apply configurations
// may not touch lists without keys.
package policy

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// group is the API group of admission policies.
const group = "admissionregistration.k8s.io"

// Served is the version of Kubernetes that serves MutatingAdmissionPolicy v1, on
// by default (docs/facts/kubernetes.md#features-by-version).
const Served = 36

// Previewed is the first version of Kubernetes that has MutatingAdmissionPolicy at
// all, off by default.
const Previewed = 32

// previews are the versions before that, off by default, by the version of
// Kubernetes that brought them; newest first.
var previews = []struct {
	since   int
	version string
}{{34, "v1beta1"}, {Previewed, "v1alpha1"}}

// APIVersion returns the newest apiVersion of MutatingAdmissionPolicy that the
// output's API server serves, "" when there is none. Versions that are off by
// default count only with [stage.Context.PreviewAPIs].
func APIVersion(c *stage.Context) string {
	if c.Since(Served) {
		return group + "/v1"
	}
	for _, p := range previews {
		if c.PreviewAPIs && c.Since(p.since) {
			return group + "/" + p.version
		}
	}
	return ""
}

// Policy changes pods that match while they are created. Whenever it cannot be
// evaluated, the pod is refused, as with Kruise's webhooks.
type Policy struct {
	// Name is that of the policy and of its binding; see [Name].
	Name string
	// Source is the value of kruise.SourceLabel, see kruise.SourceValue.
	Source string
	// Namespaces and Pods are label selectors; nil selects all.
	Namespaces, Pods *tree.Node
	// Conditions must all hold, else the pod is left alone. At most 64. The API server
	// gives them no namespaceObject.
	Conditions []Named
	// Variables are evaluated when first asked for, as variables.NAME; each sees
	// those before it.
	Variables []Named
	// Patch is CEL that gives a list of JSONPatch; see [Patch].
	Patch string
	// Params is an object that the CEL reads as params; nil for none.
	Params *Params
}

// Named is CEL with a name: an identifier for a variable, a qualified name for a
// condition.
type Named struct{ Name, Expression string }

// Params is the object that a policy is parameterised by. A policy whose object
// does not exist does nothing.
type Params struct{ APIVersion, Kind, Namespace, Name string }

// Name returns the name for the policy of an object: kubectl-kruise, its kind in
// lower case, its namespace if it has one, and its name.
func Name(kind, namespace, name string) string {
	piece := name
	if namespace != "" {
		piece = namespace + "." + name
	}
	const longest = 253
	return stage.PieceName("kubectl-kruise-"+strings.ToLower(kind), piece, longest, false)
}

// Objects returns the policy and its binding in an apiVersion of [APIVersion].
func (p *Policy) Objects(apiVersion string) []*tree.Node {
	binding := tree.Map("policyName", p.Name)
	if q := p.Params; q != nil {
		binding = tree.Map("policyName", p.Name, "paramRef", tree.Map(
			"name", q.Name, "namespace", q.Namespace, "parameterNotFoundAction", "Allow"))
	}
	return []*tree.Node{
		tree.Map("apiVersion", apiVersion, "kind", "MutatingAdmissionPolicy", "metadata", p.metadata(), "spec", p.spec()),
		tree.Map("apiVersion", apiVersion, "kind", "MutatingAdmissionPolicyBinding", "metadata", p.metadata(), "spec", binding),
	}
}

func (p *Policy) metadata() *tree.Node {
	return tree.Map("name", p.Name, "labels", tree.Map(kruise.SourceLabel, p.Source))
}

func (p *Policy) spec() *tree.Node {
	spec := tree.Map("failurePolicy", "Fail", "reinvocationPolicy", "Never", "matchConstraints", p.constraints())
	if p.Params != nil {
		tree.Set(spec, "paramKind", tree.Map("apiVersion", p.Params.APIVersion, "kind", p.Params.Kind))
	}
	named(spec, "matchConditions", p.Conditions)
	named(spec, "variables", p.Variables)
	tree.Set(spec, "mutations", tree.Seq(tree.Map(
		"patchType", "JSONPatch", "jsonPatch", tree.Map("expression", text(p.Patch)))))
	return spec
}

func (p *Policy) constraints() *tree.Node {
	n := tree.Map("resourceRules", tree.Seq(tree.Map(
		"apiGroups", tree.Seq(tree.String("")), "apiVersions", tree.Seq(tree.String("v1")),
		"operations", tree.Seq(tree.String("CREATE")), "resources", tree.Seq(tree.String("pods")),
	)))
	if p.Namespaces != nil {
		tree.Set(n, "namespaceSelector", p.Namespaces)
	}
	if p.Pods != nil {
		tree.Set(n, "objectSelector", p.Pods)
	}
	return n
}

func named(spec *tree.Node, field string, list []Named) {
	if len(list) == 0 {
		return
	}
	items := make([]*tree.Node, len(list))
	for i, e := range list {
		items[i] = tree.Map("name", e.Name, "expression", text(e.Expression))
	}
	tree.Set(spec, field, tree.Seq(items...))
}

// text is a scalar for CEL: several lines stay lines, and what would need quotes
// stays without.
func text(expression string) *tree.Node {
	n := tree.String(expression)
	if strings.ContainsAny(expression, "\n#") || strings.Contains(expression, ": ") {
		n.Style = yaml.LiteralStyle
	}
	return n
}

// Patch gathers operations of a JSON patch, in order. Paths and values are CEL.
type Patch struct {
	terms []string
	// unless is a condition under which nothing happens, "" for none.
	unless string
}

// Op returns one operation; value is "" for remove.
func Op(op, path, value string) string {
	if value == "" {
		return fmt.Sprintf("JSONPatch{op: %q, path: %s}", op, path)
	}
	return fmt.Sprintf("JSONPatch{op: %q, path: %s, value: %s}", op, path, value)
}

// Do adds operations that always happen.
func (p *Patch) Do(ops ...string) { p.terms = append(p.terms, "["+strings.Join(ops, ", ")+"]") }

// When adds operations that happen if a condition, which is CEL, holds.
func (p *Patch) When(condition string, ops ...string) {
	p.terms = append(p.terms, "("+condition+" ? ["+strings.Join(ops, ", ")+"] : [])")
}

// Annotate sets an annotation of the pod; value is CEL. The mapping must be there,
// see [Patch.Annotations].
func (p *Patch) Annotate(key, value string) {
	p.Do(Op("add", Quote(Pointer("metadata", "annotations", key)), value))
}

// Annotations makes sure that the pod has a mapping of annotations.
func (p *Patch) Annotations() { p.ensure("object.metadata", "annotations", "{}", "metadata") }

// List makes sure that the pod's spec has a list, such as volumes.
func (p *Patch) List(field string) { p.ensure("object.spec", field, "[]", "spec") }

func (p *Patch) ensure(of, field, value, at string) {
	p.When(fmt.Sprintf("!has(%s.%s)", of, field), Op("add", Quote(Pointer(at, field)), value))
}

// Unless keeps the whole patch from pods for which a condition, which is CEL,
// holds. Conditions of the policy would do, but do not know the namespace.
func (p *Patch) Unless(condition string) { p.unless = condition }

// String returns the CEL of the whole list, an operation on each line.
func (p *Patch) String() string {
	all := strings.Join(p.terms, " +\n")
	if p.unless == "" {
		return all
	}
	return p.unless + " ? [] : (\n" + all + ")"
}
