package set

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Contents says where members of a set may be. Both fields are sorted.
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
		ToolingAnnotation: Tool + "/" + version, KindsAnnotation: strings.Join(kinds, ","), NamespacesAnnotation: strings.Join(others, ","),
	}
}

// Recorded reads what a parent that exists says of its members. The error says why
// the object is not to be touched: it belongs to another tool, or to another set.
func (p Parent) Recorded(labels, annotations map[string]string) (Contents, error) {
	c := Contents{Namespaces: []string{p.Namespace}}
	tool := annotations[ToolingAnnotation]
	id, marked := labels[IDLabel]
	switch name := toolOf(tool); {
	case tool == "" && !marked:
		return c, fmt.Errorf("%s exists and is not a parent of an ApplySet", p)
	case name != Tool:
		return c, fmt.Errorf("%s belongs to the ApplySet of another tool, %q", p, tool)
	case id != p.ID():
		return c, fmt.Errorf("%s has the label %s=%s, which is not its own: %s", p, IDLabel, id, p.ID())
	}
	for _, text := range parts(annotations[KindsAnnotation]) {
		c.Add(schema.ParseGroupKind(text), "")
	}
	for _, namespace := range parts(annotations[NamespacesAnnotation]) {
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

func parts(list string) []string {
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
