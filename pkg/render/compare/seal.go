package compare

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/mask"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// sealed is a secret value: it can be compared, and whatever shows it shows
// [mask.Masked].
type sealed struct{ content string }

func (sealed) String() string { return mask.Masked }

func (sealed) GoString() string { return mask.Masked }

// MarshalJSON writes the mask.
func (sealed) MarshalJSON() ([]byte, error) { return json.Marshal(mask.Masked) }

// seal replaces all that a Secret holds, also one that a ResourceDistribution
// distributes. stringData and data are one, as they are once stored.
func seal(r *resource.Resource, v map[string]any) {
	switch {
	case r.Is("", "Secret"):
		sealSecret(v)
	case r.Is(kruise.Group, kruise.KindResourceDistribution):
		spec, _ := v["spec"].(map[string]any)
		if inner, ok := spec["resource"].(map[string]any); ok && inner["kind"] == "Secret" {
			sealSecret(inner)
		}
	}
}

// open are the fields of a Secret that are none.
var open = map[string]bool{"apiVersion": true, "kind": true, "metadata": true, "type": true, "immutable": true}

func sealSecret(v map[string]any) {
	data := map[string]any{}
	for _, key := range []string{"data", "stringData"} {
		held, ok := v[key].(map[string]any)
		if !ok {
			continue
		}
		for name, value := range held {
			data[name] = sealed{content(value, key == "data")}
		}
		delete(v, key)
	}
	for key, value := range v {
		if !open[key] && value != nil {
			v[key] = sealed{text(value)}
		}
	}
	if meta, ok := v["metadata"].(map[string]any); ok {
		if annotations, ok := meta["annotations"].(map[string]any); ok {
			delete(annotations, corev1.LastAppliedConfigAnnotation)
		}
	}
	if len(data) > 0 {
		v["data"] = data
	}
}

// content is what a value holds: base64 is decoded, so that line breaks in it and
// the choice of the field do not count.
func content(value any, encoded bool) string {
	s := text(value)
	if !encoded {
		return s
	}
	if plain, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), "")); err == nil {
		return string(plain)
	}
	return "not base64: " + s
}

func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// shown is a value as it may be read: sealed ones as their mask, and what is
// likely to be secret elsewhere masked as in plans.
func shown(path []string, v any, object map[string]any) any {
	if v == nil {
		return nil
	}
	last := path[len(path)-1]
	switch _, text := v.(string); {
	case path[0] == "data" && mask.SecretName(last):
		return mask.Masked
	case text && mask.SecretName(last) && !names(last):
		return mask.Masked
	}
	for i, step := range slices.Backward(path) {
		if step == "metadata" {
			return unsealed(mask.Value(path[i:], v, nil))
		}
	}
	return unsealed(mask.Value(path, v, object))
}

// names reports whether a field rather says where a secret is than what it is.
func names(key string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc([]string{"name", "names", "ref", "refs", "path", "namespace", "seconds", "audience", "type"}, func(end string) bool {
		return strings.HasSuffix(key, end)
	})
}

func unsealed(v any) any {
	switch v := v.(type) {
	case sealed:
		return mask.Masked
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = unsealed(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = unsealed(item)
		}
		return out
	}
	return v
}
