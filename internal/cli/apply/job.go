package apply

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
)

// job says how an object stands that comes to an end by itself.
type job struct {
	over bool
	// failed is why it came to no good end.
	failed string
}

// jobs are the kinds of such objects, by GROUP/KIND.
var jobs = map[string]func(spec, status map[string]any) job{
	"batch/Job":                        byConditions,
	kruise.Group + "/BroadcastJob":     byConditions,
	kruise.Group + "/ImagePullJob":     byCount("node could not pull", "nodes could not pull"),
	kruise.Group + "/ImageListPullJob": byImages,
	kruise.Group + "/EphemeralJob":     byCount("pod failed", "pods failed"),
}

func jobKind(u *unstructured.Unstructured) string {
	gvk := u.GroupVersionKind()
	return gvk.Group + "/" + gvk.Kind
}

// endless is why the end of an object is not waited for; "" for one that is waited for.
func endless(u *unstructured.Unstructured) string {
	spec, _, _ := unstructured.NestedMap(u.Object, "spec")
	policy, _, _ := unstructured.NestedString(spec, "completionPolicy", "type")
	switch {
	case jobs[jobKind(u)] == nil:
		return "no job"
	case spec["suspend"] == true, spec["paused"] == true:
		return "it is suspended"
	case policy == string(kruise.NeverCompletionPolicyType):
		return "it goes on for ever"
	}
	return ""
}

// standing reads how a job stands.
func standing(u *unstructured.Unstructured) job {
	spec, _, _ := unstructured.NestedMap(u.Object, "spec")
	status, _, _ := unstructured.NestedMap(u.Object, "status")
	return jobs[jobKind(u)](spec, status)
}

// byConditions: of Complete and Failed, one becomes true.
func byConditions(_, status map[string]any) job {
	list, _, _ := unstructured.NestedSlice(status, "conditions")
	for _, item := range list {
		c, _ := item.(map[string]any)
		if c["status"] != "True" {
			continue
		}
		switch c["type"] {
		case "Complete":
			return job{over: true}
		case "Failed":
			return job{true, reason(c)}
		}
	}
	return job{}
}

func reason(c map[string]any) string {
	var parts []string
	for _, field := range []string{"reason", "message"} {
		if text, _ := c[field].(string); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return "it failed"
	}
	return strings.Join(parts, ": ")
}

// byCount: it is over when it has a time of completion, and failed where it counts
// failures.
func byCount(one, other string) func(spec, status map[string]any) job {
	return func(_, status map[string]any) job {
		if status["completionTime"] == nil {
			return job{}
		}
		failed, _, _ := unstructured.NestedInt64(status, "failed")
		if failed == 0 {
			return job{over: true}
		}
		text := counted.With(int(failed), one, other)
		if nodes, _, _ := unstructured.NestedStringSlice(status, "failedNodes"); len(nodes) > 0 {
			text += ": " + strings.Join(nodes, ", ")
		}
		return job{true, text}
	}
}

// byImages: a list names the images that failed.
func byImages(_, status map[string]any) job {
	if status["completionTime"] == nil {
		return job{}
	}
	list, _, _ := unstructured.NestedSlice(status, "failedImageStatuses")
	var failed []string
	for _, item := range list {
		m, _ := item.(map[string]any)
		name, _ := m["name"].(string)
		message, _ := m["message"].(string)
		failed = append(failed, strings.TrimSuffix(name+": "+message, ": "))
	}
	return job{true, strings.Join(failed, "; ")}
}
