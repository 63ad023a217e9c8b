package conformance

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// podText is a pod in one line, without what is not the WorkloadSpread's doing:
// marks of its controller, the node, defaults, and imagePullPolicy and readiness
// gates as other webhooks write them.
func podText(name, version string, pending bool, labels, annotations map[string]string, spec map[string]any) string {
	pod := map[string]any{
		"labels": ownTexts(labels), "annotations": ownTexts(annotations), "spec": ownSpec(spec),
		"name": name, "version": version, "pending": pending,
	}
	line, err := json.Marshal(pod)
	if err != nil {
		return err.Error()
	}
	return string(line)
}

// others are labels of native controllers that have no prefix.
var others = append([]string{"controller-uid", "job-name"}, versionLabels...)

// ownTexts leaves out labels and annotations of controllers, except the two that
// are compared. A uid is the same as any other.
func ownTexts(m map[string]string) map[string]any {
	out := map[string]any{}
	for key, v := range m {
		prefix, _, _ := strings.Cut(key, "/")
		foreign := strings.HasSuffix(prefix, "kruise.io") || strings.HasSuffix(prefix, "kubernetes.io") || prefix == "kubectl-kruise.dev"
		switch {
		case key == matchedAnnotation:
			out[key] = matchText(v)
		case key == costAnnotation, !foreign && !slices.Contains(others, key):
			out[key] = v
		}
	}
	return out
}

// matchText is the annotation with a placeholder for the uid.
func matchText(v string) string {
	var m map[string]string
	if json.Unmarshal([]byte(v), &m) != nil {
		return v
	}
	if m["uid"] != "" {
		m["uid"] = "<uid>"
	}
	text, _ := json.Marshal(m)
	return string(text)
}

// ownSpec leaves out what the node, a StatefulSet or other webhooks wrote, and
// defaults, also where the input states them.
func ownSpec(spec map[string]any) map[string]any {
	out := copied(spec)
	for _, key := range []string{"nodeName", "hostname", "subdomain", "readinessGates"} {
		delete(out, key)
	}
	bare(out)
	return out
}

// podDefaults are those of a pod's spec; a container's are with the injections.
var podDefaults = map[string]any{
	"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "terminationGracePeriodSeconds": int64(30),
}

func bare(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Collect(maps.Keys(v)) {
			// Kruise's webhooks write Always, Kubernetes goes by the tag.
			if byDefault(v, key) || key == "imagePullPolicy" || podDefaults[key] != nil && podDefaults[key] == v[key] {
				delete(v, key)
				continue
			}
			bare(v[key])
		}
	case []any:
		for _, item := range v {
			bare(item)
		}
	}
}
