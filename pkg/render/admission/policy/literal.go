package policy

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

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

// empty reports whether v says nothing of the type of its elements.
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
