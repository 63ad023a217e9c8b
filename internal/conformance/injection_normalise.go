package conformance

import (
	"maps"
	"slices"
	"strings"
)

// normalise applies the rules of the area's README to our pod: what is a
// default and stated nowhere goes. What LimitRanges of the input add at the
// server is added.
func (s *scene) normalise(pod map[string]any) {
	spec, _ := pod["spec"].(map[string]any)
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range items(spec[list]) {
			s.limit(c)
			prune(c, s.statedFor(c))
		}
	}
	if metadata, ok := pod["metadata"].(map[string]any); ok && metadata["generateName"] != nil {
		metadata["name"] = "<name>"
	}
	// The pod is compared as a whole: what is left out of the recording is left
	// out here.
	leaveOut(pod)
}

// statedFor returns the containers of the input that c comes from.
func (s *scene) statedFor(c any) []any {
	name := text(c, "name")
	for _, suffix := range []string{"-1", "-2"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && len(s.stated[name]) == 0 {
			name = base
		}
	}
	return s.stated[name]
}

// defaults are what the API server writes into containers by itself.
var defaults = map[string]any{
	"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
	"protocol": "TCP", "scheme": "HTTP", "apiVersion": "v1", "divisor": "0",
	"timeoutSeconds": int64(1), "periodSeconds": int64(10), "successThreshold": int64(1), "failureThreshold": int64(3),
}

// prune removes from v the defaults that none of stated has.
func prune(v any, stated []any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Collect(maps.Keys(v)) {
			var below []any
			for _, st := range stated {
				if m, ok := st.(map[string]any); ok && m[key] != nil {
					below = append(below, m[key])
				}
			}
			if len(below) == 0 && byDefault(v, key) {
				delete(v, key)
				continue
			}
			prune(v[key], below)
		}
	case []any:
		for i, item := range v {
			var below []any
			for _, st := range stated {
				if l, ok := st.([]any); ok && i < len(l) {
					below = append(below, l[i])
				}
			}
			prune(item, below)
		}
	}
}

func byDefault(m map[string]any, key string) bool {
	switch value := m[key]; key {
	case "imagePullPolicy":
		image, _ := m["image"].(string)
		return value == policyFor(image)
	case "resources", "securityContext":
		empty, ok := value.(map[string]any)
		return ok && len(empty) == 0
	default:
		d, ok := defaults[key]
		return ok && d == value
	}
}

func policyFor(image string) string {
	name, _, digest := strings.Cut(image, "@")
	_, tag, tagged := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	if tag == "latest" || !tagged && !digest {
		return "Always"
	}
	return "IfNotPresent"
}

// limit adds to container c what a LimitRange of the input adds at the server.
func (s *scene) limit(c any) {
	for _, r := range s.ranges {
		for _, item := range items(field(r, "spec", "limits")) {
			fill(c, "limits", field(item, "default"))
			fill(c, "requests", field(item, "defaultRequest"))
		}
	}
}

func fill(c any, list string, from any) {
	container, _ := c.(map[string]any)
	values, _ := from.(map[string]any)
	for name, v := range values {
		if field(container, "resources", list, name) != nil {
			continue
		}
		resources := mapAt(container, "resources")
		mapAt(resources, list)[name] = v
	}
}

func mapAt(m map[string]any, key string) map[string]any {
	child, ok := m[key].(map[string]any)
	if !ok {
		child = map[string]any{}
		m[key] = child
	}
	return child
}

// leaveOut removes what other webhooks and admission plugins do at run time,
// and the hash annotations, which hold times: none of it is the renderer's.
func leaveOut(pod map[string]any) {
	metadata, _ := pod["metadata"].(map[string]any)
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		for _, key := range []string{
			"kruise.io/sidecarset-hash", "kruise.io/sidecarset-hash-without-image",
			"kruise.io/related-pub", "pub.kruise.io/related-pub", "kubernetes.io/limit-ranger",
		} {
			delete(annotations, key)
		}
		if len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	spec, _ := pod["spec"].(map[string]any)
	gates := leaving(items(spec["readinessGates"]), func(g map[string]any) bool {
		return g["conditionType"] == "KruisePodReady" || g["conditionType"] == "InPlaceUpdateReady"
	})
	setList(spec, "readinessGates", gates)
	for _, c := range items(spec["containers"]) {
		container, _ := c.(map[string]any)
		setList(container, "env", leaving(items(container["env"]), func(e map[string]any) bool {
			return e["name"] == "KRUISE_CONTAINER_BARRIER"
		}))
		// The workload's own webhook writes Always into its containers (semantics
		// sidecarset 10); it is compared where workloads are lowered.
		if metadata["name"] == "<name>" && container["imagePullPolicy"] == "Always" {
			delete(container, "imagePullPolicy")
		}
	}
}

func leaving(list []any, drop func(map[string]any) bool) []any {
	var out []any
	for _, item := range list {
		if m, ok := item.(map[string]any); !ok || !drop(m) {
			out = append(out, item)
		}
	}
	return out
}

func setList(m map[string]any, key string, list []any) {
	if len(list) == 0 {
		delete(m, key)
		return
	}
	m[key] = list
}

func items(v any) []any { l, _ := v.([]any); return l }
