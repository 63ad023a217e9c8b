package policy

import (
	"fmt"
	"maps"
	"slices"
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

// Matches returns a CEL expression for whether a selector matches labels, which is CEL for an
// object with metadata, such as object or namespaceObject.
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

// wide is how long a literal may grow on one line.
const wide = 100

// expression is CEL among the values of a literal.
type expression string

// literal returns a JSON-like value as CEL, with the type that CEL infers. Lines
// behind the first begin with indent.
func literal(v any, indent string) (cel, typ string) {
	switch v := v.(type) {
	case string:
		return Quote(v), "string"
	case bool:
		return strconv.FormatBool(v), "bool"
	case int64:
		return strconv.FormatInt(v, 10), "int"
	case float64:
		return strconv.FormatFloat(v, 'e', -1, 64), "double"
	case expression:
		return string(v), "dyn"
	case []any:
		values, typ := same(v, indent)
		return brackets("[", values, "]", indent), "list(" + typ + ")"
	case map[string]any:
		return mapping(v, indent)
	}
	return "null", "null"
}

// mapping keeps name in front, where a reader looks for it; other keys are sorted.
func mapping(m map[string]any, indent string) (cel, typ string) {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if (a == "name") != (b == "name") {
			if a == "name" {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	values := make([]any, len(keys))
	for i, key := range keys {
		values[i] = m[key]
	}
	members, typ := same(values, indent)
	for i, key := range keys {
		members[i] = Quote(key) + ": " + members[i]
	}
	return brackets("{", members, "}", indent), "map(" + typ + ")"
}

// same returns the literals of values, wrapped in dyn() unless all are of one type
// that is certain.
func same(values []any, indent string) (cel []string, typ string) {
	mixed := false
	cel = make([]string, len(values))
	for i, v := range values {
		s, t := literal(v, indent+"  ")
		cel[i] = s
		mixed = mixed || i > 0 && t != typ || empty(v)
		typ = t
	}
	if len(values) == 0 {
		return nil, "empty"
	}
	if !mixed || len(values) == 1 {
		return cel, typ
	}
	for i := range cel {
		cel[i] = "dyn(" + cel[i] + ")"
	}
	return cel, "dyn"
}

// empty reports whether v leaves the type of its elements open.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

func brackets(open string, items []string, end, indent string) string {
	line := strings.Join(items, ", ")
	if len(line)+len(indent) <= wide && !strings.Contains(line, "\n") {
		return open + line + end
	}
	return open + "\n" + indent + "  " + strings.Join(items, ",\n"+indent+"  ") + "\n" + indent + end
}
