package policy

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Quote returns the CEL literal of a text. CEL reads every escape that Go writes
// in the quotes of valid UTF-8.
func Quote(s string) string { return strconv.Quote(strings.ToValidUTF8(s, "\uFFFD")) }

// Strings returns the CEL literal of a list of texts.
func Strings(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = Quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// Pointer returns a JSON pointer with its keys escaped, such as
// /metadata/annotations/example.com~1key; it still has to be quoted.
func Pointer(keys ...string) string {
	var b strings.Builder
	for _, key := range keys {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
	}
	return b.String()
}

// Literal returns the CEL literal of a YAML value. Kubernetes' CEL refuses lists
// and mappings of mixed types unless their values are wrapped in dyn(); typed
// objects would break the API server's conversion (docs/facts/kubelet.md#admission-policies).
func Literal(n *tree.Node) string {
	s, _ := literal(tree.Value(n), "")
	return s
}

// Object is Literal of a mapping in which some fields are CEL.
func Object(n *tree.Node, fields map[string]string) string {
	v, _ := tree.Value(n).(map[string]any)
	for field, cel := range fields {
		v[field] = expression(cel)
	}
	s, _ := literal(v, "")
	return s
}

// Identifier makes a name a CEL identifier behind a prefix. Names that are DNS
// labels stay different.
func Identifier(prefix, name string) string {
	return prefix + "_" + strings.ReplaceAll(name, "-", "_")
}

// Matches returns CEL that tells whether a selector matches labels, which is CEL
// for an object with metadata, such as object or namespaceObject.
func Matches(s labels.Selector, of string) string {
	requirements, selectable := s.Requirements()
	if !selectable {
		return "false"
	}
	terms := []string{}
	for _, r := range requirements {
		terms = append(terms, requirement(r, of))
	}
	if len(terms) == 0 {
		return "true"
	}
	return strings.Join(terms, " && ")
}

func requirement(r labels.Requirement, of string) string {
	value := of + ".metadata.?labels[?" + Quote(r.Key()) + "]"
	in := fmt.Sprintf("%s.optMap(v, v in %s).orValue(false)", value, Strings(r.Values().List()))
	switch r.Operator() {
	case selection.Exists:
		return value + ".hasValue()"
	case selection.DoesNotExist:
		return "!" + value + ".hasValue()"
	case selection.NotIn, selection.NotEquals:
		return "!" + in
	default:
		return in
	}
}
