package describe

import (
	"encoding/base64"
	"fmt"
)

// Hidden is an object with the values of Secrets taken out, as the verb shows it.
func Hidden(o map[string]any) map[string]any { return hidden(o) }

// hidden is an object with the values of Secrets taken out: a ResourceDistribution
// holds a whole one. Of each the size is told, as kubectl does of a Secret. The object
// itself stays as it is.
func hidden(o map[string]any) map[string]any {
	if o["kind"] == "Secret" {
		return sized(o)
	}
	out := make(map[string]any, len(o))
	for k, v := range o {
		out[k] = hiddenValue(v)
	}
	return out
}

func hiddenValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return hidden(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = hiddenValue(v[i])
		}
		return out
	}
	return v
}

// sized is a Secret with sizes for values, and without annotations: one of them may be
// a copy of it.
func sized(secret map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range secret {
		switch k {
		case "data", "stringData":
			out[k] = sizes(v, k == "data")
		case "metadata":
			meta, _ := v.(map[string]any)
			bare := map[string]any{}
			for k, v := range meta {
				if k != "annotations" {
					bare[k] = v
				}
			}
			out[k] = bare
		default:
			out[k] = v
		}
	}
	return out
}

func sizes(v any, encoded bool) any {
	values, ok := v.(map[string]any)
	if !ok {
		return "(not shown)"
	}
	out := make(map[string]any, len(values))
	for k, v := range values {
		text := fmt.Sprint(v)
		if plain, err := base64.StdEncoding.DecodeString(text); encoded && err == nil {
			text = string(plain)
		}
		out[k] = fmt.Sprintf("%d bytes", len(text))
	}
	return out
}
