package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TemplateHash pins a template: templates that make the same revision have the
// same hash, others have another. Like [rules.SameTemplate] it passes over nulls
// and metadata.creationTimestamp, and does not care how numbers were decoded. It
// has nothing to do with the names of revisions.
func TemplateHash(template map[string]any) string {
	text := make([]byte, 0, 4096)
	text = canonical(text, withMetadata(template))
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// withMetadata has labels and annotations in every template, as empty ones are
// none.
func withMetadata(template map[string]any) map[string]any {
	meta := map[string]any{"labels": map[string]any{}, "annotations": map[string]any{}}
	given, _ := template["metadata"].(map[string]any)
	for k, v := range given {
		if v != nil && k != "creationTimestamp" {
			meta[k] = v
		}
	}
	out := maps.Clone(template)
	if out == nil {
		out = map[string]any{}
	}
	out["metadata"] = meta
	return out
}

// canonical appends decoded JSON with sorted keys and without nulls.
func canonical(to []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		to = append(to, '{')
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key] == nil {
				continue
			}
			to = append(strconv.AppendQuote(to, key), ':')
			to = append(canonical(to, v[key]), ',')
		}
		return append(to, '}')
	case []any:
		to = append(to, '[')
		for _, item := range v {
			to = append(canonical(to, item), ',')
		}
		return append(to, ']')
	case string:
		return strconv.AppendQuote(to, v)
	case bool:
		return strconv.AppendBool(to, v)
	case float64:
		return strconv.AppendFloat(to, v, 'g', -1, 64)
	case int64:
		return strconv.AppendFloat(to, float64(v), 'g', -1, 64)
	case int:
		return strconv.AppendFloat(to, float64(v), 'g', -1, 64)
	}
	return append(to, "null"...)
}

// templateOf is what the object's revisions are made of: of a SidecarSet only what
// comes into pods, so that another partition is no other template.
func templateOf(w *cluster.Workload) map[string]any {
	return kindOf(w.Object).revised(w.Template)
}

// hashOf pins the template of a workload.
func hashOf(w *cluster.Workload) string { return TemplateHash(templateOf(w)) }

// unmarked is the template of a ReplicaSet without the label by which the client
// tells its pods apart, see [revisionMark].
func unmarked(template map[string]any) map[string]any {
	meta, _ := template["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	if _, ok := labels[revisionMark]; !ok {
		return template
	}
	out, meta, labels := maps.Clone(template), maps.Clone(meta), maps.Clone(labels)
	delete(labels, revisionMark)
	meta["labels"], out["metadata"] = labels, meta
	return out
}
