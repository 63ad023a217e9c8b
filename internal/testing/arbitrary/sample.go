package arbitrary

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// deepest is how far a sample goes into its schema.
const deepest = 5

// byName are values that fit fields of these names, valid ones and others.
var byName = map[string][]any{
	"name":             {"main", "web", "extra", "Bad_Name", ""},
	"containerName":    {"main", "none"},
	"namespace":        {"default", "kube-system", "Bad_"},
	"image":            {"registry.example.com/app:2.0", "app", "App:1", " app:1", ""},
	"images":           {[]any{"app:1", "app:1"}, []any{}, []any{"app:1", "web:1"}},
	"command":          {[]any{"sh"}, []any{}},
	"key":              {"a", "topology.kubernetes.io/zone", "a b", ""},
	"operator":         {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Equal", "Like"},
	"values":           {[]any{"a"}, []any{}, []any{"1"}, []any{"a", "b"}},
	"schedule":         {"0 0 * * *", "@every 1h", "TZ=UTC 0 0 * * *", "x"},
	"timeZone":         {"UTC", "Europe/Berlin", "Mars/Olympus", "Local"},
	"partition":        {0.0, 1.0, "50%", "101%", -1.0},
	"maxUnavailable":   {0.0, 1.0, "20%", "101%", -1.0},
	"maxSurge":         {0.0, 1.0, "20%", "101%", -1.0},
	"matchLabels":      {map[string]any{"rnd": "web"}, map[string]any{"a b": "c"}, map[string]any{}},
	"labels":           {map[string]any{"rnd": "web"}, map[string]any{"a b": "c"}, map[string]any{"a": strings.Repeat("x", 64)}},
	"annotations":      {map[string]any{"a": "b"}, map[string]any{"a b": "c"}},
	"reserveOrdinals":  {[]any{1.0, "2"}, []any{"1-3"}, []any{"3-1"}, []any{-1.0}},
	"cpu":              {"100m", "-1", "x"},
	"mountPath":        {"/data", "", "a:b"},
	"devicePath":       {"/dev/x", "/data"},
	"apiVersion":       {"apps/v1", "apps.kruise.io/v1beta1", "v1"},
	"kind":             {kruise.KindCloneSet, kruise.KindDeployment, "ConfigMap", "Nothing"},
	"podConditionType": {"x.io/a", "Ready", "a b"},
	"resourceVersion":  {"1"},
}

// sample makes a value for a field of this name.
func (m *mutator) sample(name string, schema map[string]any, depth int) any {
	if fit := byName[name]; len(fit) > 0 && m.IntN(4) > 0 {
		v := m.pick(fit...)
		return copied(map[string]any{"": v})[""]
	}
	schema = m.resolved(schema)
	if several, _ := schema["anyOf"].([]any); len(several) > 0 {
		schema, _ = several[m.IntN(len(several))].(map[string]any)
		schema = m.resolved(schema)
	}
	if values, _ := schema["enum"].([]any); len(values) > 0 && m.IntN(4) > 0 {
		return m.pick(values...)
	}
	switch kindOf(schema) {
	case "integer":
		return m.pick(-1.0, 0.0, 1.0, 5.0, 30.0, 65536.0, 2147483647.0)
	case "number":
		return m.pick(0.5, 1.0)
	case "boolean":
		return m.IntN(2) == 0
	case "array":
		items, _ := schema["items"].(map[string]any)
		if depth >= deepest {
			return []any{}
		}
		return []any{m.sample(name, items, depth+1)}
	case "object":
		return m.mapping(schema, depth)
	}
	return m.pick("a", "", "main", "10", "50%", "Bad Value")
}

// mapping sets what is required, and some of the rest.
func (m *mutator) mapping(schema map[string]any, depth int) map[string]any {
	out := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	if depth >= deepest {
		return out
	}
	if others, ok := schema["additionalProperties"].(map[string]any); ok && len(properties) == 0 {
		out["a"] = m.sample("", others, depth+1)
		return out
	}
	required, _ := schema["required"].([]any)
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		below, _ := properties[key].(map[string]any)
		if slices.Contains(required, any(key)) && m.IntN(10) > 0 || m.IntN(len(properties)+1) < 2 {
			out[key] = m.sample(key, below, depth+1)
		}
	}
	return out
}

// kindOf is the type of a schema, or of the first of several that is not null.
func kindOf(schema map[string]any) string {
	switch t := schema["type"].(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if one != "null" {
				name, _ := one.(string)
				return name
			}
		}
	}
	return ""
}
