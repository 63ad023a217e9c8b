package conformance

import (
	"maps"
	"slices"
	"strings"
)

// normalise applies the rules of the area's README to our pod. What LimitRanges
// of the input add at the server is added.
func (s *scene) normalise(pod map[string]any) {
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range items(field(pod, "spec", list)) {
			s.limit(c)
		}
	}
	if metadata, ok := pod["metadata"].(map[string]any); ok && metadata["generateName"] != nil {
		metadata["name"] = "<name>"
	}
	// The pod is compared as a whole: what is left out of the recording is left
	// out here.
	leaveOut(pod)
	alike(pod)
}

// alike writes a pod as the API server does where the README says nothing:
// amounts, paths of probes, ports on the host's network.
func alike(pod map[string]any) {
	quantities(pod)
	spec, _ := pod["spec"].(map[string]any)
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range items(spec[list]) {
			probed(c)
			for _, p := range items(field(c, "ports")) {
				if port, _ := p.(map[string]any); spec["hostNetwork"] == true && port["hostPort"] == nil {
					port["hostPort"] = port["containerPort"]
				}
			}
		}
	}
}

// probed gives every httpGet below v its path.
func probed(v any) {
	m, _ := v.(map[string]any)
	for key, child := range m {
		if get, ok := child.(map[string]any); ok && key == "httpGet" && get["path"] == nil {
			get["path"] = "/"
		}
		probed(child)
	}
}

// defaults are what the API server writes into containers and volumes by
// itself.
var defaults = map[string]any{
	"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
	"protocol": "TCP", "scheme": "HTTP", "apiVersion": "v1", "divisor": "0",
	"timeoutSeconds": int64(1), "periodSeconds": int64(10), "successThreshold": int64(1), "failureThreshold": int64(3),
	"defaultMode": int64(420), "type": "", "expirationSeconds": int64(3600),
}

// withoutDefaults returns a copy of our pod without the defaults that the
// recorded one lacks. The recording keeps those that the input states; ours then
// must have them, too. A stored revision holds all of them.
func withoutDefaults(pod, want map[string]any) map[string]any {
	out := copied(pod)
	for _, list := range []string{"containers", "initContainers", "volumes"} {
		prune(field(out, "spec", list), field(want, "spec", list))
	}
	return out
}

// prune removes from v the defaults that want lacks.
func prune(v, want any) {
	switch v := v.(type) {
	case map[string]any:
		other, _ := want.(map[string]any)
		for _, key := range slices.Collect(maps.Keys(v)) {
			if _, there := other[key]; !there && byDefault(v, key) {
				delete(v, key)
				continue
			}
			prune(v[key], other[key])
		}
	case []any:
		other, _ := want.([]any)
		for i := range min(len(v), len(other)) {
			prune(v[i], other[i])
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
	delete(pod, "status")
	for _, key := range []string{"uid", "creationTimestamp", "generation", "resourceVersion", "managedFields"} {
		delete(metadata, key)
	}
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
		// The workload's own webhook writes Always into its containers
		// (docs/kruise/sidecarset.md#observed-on-a-cluster); it is compared where workloads are
		// lowered.
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
