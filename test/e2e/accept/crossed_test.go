package accept

import (
	"fmt"
	"maps"
	"strings"
)

// crossed are further objects of Kruise's kinds: what one input says of a kind
// joined with what others of the same kind say. Many of them are nothing that
// Kruise takes; what is rendered all the same must be right.
func crossed(inputs []input) []input {
	byKind := map[string][]map[string]any{}
	var kinds []string
	for _, in := range inputs {
		for _, d := range in.stream {
			kind := fmt.Sprint(d["apiVersion"], " ", d["kind"])
			if strings.HasSuffix(kind, " ResourceDistribution") {
				continue // it takes whatever fields for a ConfigMap
			}
			if _, whole := d["spec"].(map[string]any); !whole || !strings.Contains(kind, "kruise.io/") {
				continue
			}
			if byKind[kind] == nil {
				kinds = append(kinds, kind)
			}
			byKind[kind] = append(byKind[kind], d)
		}
	}
	var out []input
	for _, kind := range kinds {
		for i, d := range byKind[kind] {
			for _, step := range []int{1, 5} {
				other := byKind[kind][(i+step)%len(byKind[kind])]
				joined := joined(d, other).(map[string]any)
				joined["metadata"] = d["metadata"]
				out = append(out, input{name: fmt.Sprintf("crossed %s %d and %d", kind, i, i+step), stream: []map[string]any{joined}})
			}
		}
	}
	return out
}

// joined has the fields of both; where both have one, that of a.
func joined(a, b any) any {
	left, ok := a.(map[string]any)
	right, too := b.(map[string]any)
	if !ok || !too {
		return a
	}
	out := maps.Clone(right)
	for key, value := range left {
		if other, both := out[key]; both {
			value = joined(value, other)
		}
		out[key] = value
	}
	return out
}
