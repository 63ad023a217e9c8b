package live

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// runningPods are pods of which something is asked. How that is done depends on what
// they are now, down to the count of restarts; of the environment only the mark is
// read by which an EphemeralJob knows its own.
var runningPods = &kind{version: "v1", name: "Pod", resource: "pods", momentary: true, tidy: markOnly, keep: []string{
	metaLabels, "metadata uid", "metadata creationTimestamp", "metadata annotations kubernetes.io/config.mirror",
	owners + "apiVersion", owners + "kind", owners + "name", owners + "controller",
	"spec nodeName", "spec restartPolicy", "spec terminationGracePeriodSeconds", "spec shareProcessNamespace", "spec hostPID", "spec os",
	"spec containers name", "spec containers image", "spec containers imagePullPolicy", "spec containers resources",
	"spec containers resizePolicy", "spec containers restartPolicy", "spec containers restartPolicyRules", "spec containers lifecycle",
	"spec ephemeralContainers name", "spec ephemeralContainers env name", "spec ephemeralContainers env value",
	"status phase", "status conditions type", "status conditions status", "status conditions reason",
	"status containerStatuses name", "status containerStatuses image", "status containerStatuses imageID", "status containerStatuses containerID",
	"status containerStatuses restartCount", "status containerStatuses ready",
}}

// markOnly takes away all of the environment but the mark.
func markOnly(pod map[string]any) {
	spec, _ := pod["spec"].(map[string]any)
	list, _ := spec["ephemeralContainers"].([]any)
	for _, item := range list {
		c, _ := item.(map[string]any)
		env, _ := c["env"].([]any)
		delete(c, "env")
		for _, e := range env {
			if v, _ := e.(map[string]any); v["name"] == kruise.EphemeralJobEnv {
				c["env"] = []any{v}
			}
		}
	}
}

// asked asks for the pods of which the stream asks something. It comes before all
// other questions about pods: of two answers about one pod the first is kept.
func (a *asker) asked() {
	for _, r := range pick(a.stream, kruise.KindContainerRecreateRequest) {
		if name := tree.StrAt(r.Node(), "spec", "podName"); name != "" {
			a.askPods(r, want{fields: "metadata.name=" + name})
		}
	}
	for _, r := range pick(a.stream, kruise.KindEphemeralJob) {
		var chosen metav1.LabelSelector
		n := tree.Get(r.Node(), "spec", "selector")
		if _, err := tree.Decode(n, &chosen); n == nil || err != nil {
			continue // a fault that rendering reports
		}
		if selector, err := metav1.LabelSelectorAsSelector(&chosen); err == nil {
			a.askPods(r, want{selector: selector.String()})
		}
	}
}

func (a *asker) askPods(r *resource.Resource, w want) {
	w.kind, w.what, w.namespace = runningPods, "pods for "+r.ID().String(), a.namespaceOf(r)
	a.ask(w)
}
