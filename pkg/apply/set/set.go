// Package set is the arithmetic of ApplySets, kubectl's contract for what belongs
// together and may be pruned (KEP-3659): which labels members carry, what a parent
// object says, and what has left a set. It knows no cluster.
package set

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The labels and annotations of the contract.
const (
	// PartOfLabel is on every member, with the ID of the set.
	PartOfLabel = "applyset.kubernetes.io/part-of"
	// IDLabel is on the parent, with the ID of its set.
	IDLabel = "applyset.kubernetes.io/id"
	// toolingAnnotation is on the parent: name and version of the tool whose set
	// it is, with a slash between them.
	toolingAnnotation = "applyset.kubernetes.io/tooling"
	// KindsAnnotation is on the parent: the kinds that members may be of.
	KindsAnnotation = "applyset.kubernetes.io/contains-group-kinds"
	// namespacesAnnotation is on the parent: the namespaces besides its own that
	// members may be in.
	namespacesAnnotation = "applyset.kubernetes.io/additional-namespaces"
)

// Tool is the name of this tool in [toolingAnnotation].
const Tool = "kubectl-kruise"

// Parent names the object that represents a set.
type Parent struct {
	// Kind is Secret or ConfigMap.
	Kind      string
	Namespace string
	Name      string
}

// ParseParent reads NAME, secret/NAME or configmap/NAME; a name alone means a
// Secret, as it does to kubectl.
func ParseParent(text, namespace string) (Parent, error) {
	kind, name, typed := strings.Cut(text, "/")
	if !typed {
		kind, name = "secret", text
	}
	p := Parent{Namespace: namespace, Name: name}
	switch strings.ToLower(kind) {
	case "secret", "secrets":
		p.Kind = "Secret"
	case "configmap", "configmaps", "cm":
		p.Kind = "ConfigMap"
	default:
		return p, fmt.Errorf("%q cannot be the parent of an ApplySet here", kind)
	}
	if name == "" || strings.Contains(name, "/") {
		return p, fmt.Errorf("%q names no object", text)
	}
	return p, nil
}

// String returns kind and name as kubectl would.
func (p Parent) String() string { return strings.ToLower(p.Kind) + "/" + p.Name }

// ID returns the label value that members of the set carry: the hash of
// NAME.NAMESPACE.KIND.GROUP, the group of both kinds of parent being empty.
func (p Parent) ID() string {
	sum := sha256.Sum256([]byte(p.Name + "." + p.Namespace + "." + p.Kind + "."))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// Contents is where members of a set may be. Both fields are sorted.
type Contents struct {
	Kinds []schema.GroupKind
	// Namespaces has the parent's own only when it has members.
	Namespaces []string
}

// Add adds the place of a member; namespace is "" for what has none.
func (c *Contents) Add(kind schema.GroupKind, namespace string) {
	if !slices.Contains(c.Kinds, kind) {
		c.Kinds = append(c.Kinds, kind)
		slices.SortFunc(c.Kinds, func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
	}
	c.addNamespace(namespace)
}

func (c *Contents) addNamespace(namespace string) {
	if namespace != "" && !slices.Contains(c.Namespaces, namespace) {
		c.Namespaces = append(c.Namespaces, namespace)
		slices.Sort(c.Namespaces)
	}
}

// With returns the places of both: while members may be of either, none must be
// forgotten.
func (c Contents) With(other Contents) Contents {
	out := Contents{slices.Clone(c.Kinds), slices.Clone(c.Namespaces)}
	for _, kind := range other.Kinds {
		out.Add(kind, "")
	}
	for _, namespace := range other.Namespaces {
		out.addNamespace(namespace)
	}
	return out
}

// Metadata returns the labels and annotations of the parent of a set with such
// contents; version is that of this tool.
func (p Parent) Metadata(c Contents, version string) (labels, annotations map[string]string) {
	kinds := make([]string, len(c.Kinds))
	for i, kind := range c.Kinds {
		kinds[i] = kind.String()
	}
	others := slices.DeleteFunc(slices.Clone(c.Namespaces), func(n string) bool { return n == p.Namespace })
	return map[string]string{IDLabel: p.ID()}, map[string]string{
		toolingAnnotation: Tool + "/" + version, KindsAnnotation: strings.Join(kinds, ","), namespacesAnnotation: strings.Join(others, ","),
	}
}

// Recorded reads what a parent that exists records about its members. The error says why
// the object is not to be touched: it belongs to another tool, or to another set.
func (p Parent) Recorded(labels, annotations map[string]string) (Contents, error) {
	c := Contents{Namespaces: []string{p.Namespace}}
	tool := annotations[toolingAnnotation]
	id, marked := labels[IDLabel]
	switch name := toolOf(tool); {
	case tool == "" && !marked:
		return c, fmt.Errorf("%s exists and is not a parent of an ApplySet", p)
	case name != Tool:
		return c, fmt.Errorf("%s belongs to the ApplySet of another tool, %q", p, tool)
	case id != p.ID():
		return c, fmt.Errorf("%s has the label %s=%s, which is not its own: %s", p, IDLabel, id, p.ID())
	}
	for _, text := range splitList(annotations[KindsAnnotation]) {
		c.Add(schema.ParseGroupKind(text), "")
	}
	for _, namespace := range splitList(annotations[namespacesAnnotation]) {
		c.addNamespace(namespace)
	}
	return c, nil
}

// toolOf is the name in NAME/VERSION.
func toolOf(tooling string) string {
	if i := strings.LastIndex(tooling, "/"); i >= 0 {
		return tooling[:i]
	}
	return tooling
}

func splitList(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ","), func(s string) bool { return s == "" })
}

// Labelled returns labels with that of a member. An error says that they name
// another set.
func (p Parent) Labelled(labels map[string]string) (map[string]string, error) {
	if other, ok := labels[PartOfLabel]; ok && other != p.ID() {
		return nil, fmt.Errorf("carries the label %s=%s of another ApplySet", PartOfLabel, other)
	}
	out := maps.Clone(labels)
	if out == nil {
		out = map[string]string{}
	}
	out[PartOfLabel] = p.ID()
	return out, nil
}

// Member is an object that carries a set's label.
type Member struct {
	Kind      schema.GroupKind
	Namespace string
	Name      string
	UID       string
	// Leaving is whether it is being deleted already.
	Leaving bool
}

// Left returns the members that are none any more: those whose uid is not kept.
// What is on its way out counts as gone. They are in the order to delete them:
// the kinds in the reverse of their order to be applied, then by name.
func Left(found []Member, kept map[string]bool, rank func(kind string) int) []Member {
	var out []Member
	seen := map[string]bool{}
	for _, m := range found {
		if !kept[m.UID] && !seen[m.UID] && !m.Leaving {
			seen[m.UID] = true
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b Member) int {
		return cmp.Or(
			cmp.Compare(rank(b.Kind.Kind), rank(a.Kind.Kind)), cmp.Compare(a.Kind.String(), b.Kind.String()),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
		)
	})
	return out
}
