package pods

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Working is the container that does the work of a sidecar in a pod: of a
// hot-upgraded one it is one of two, and an annotation tells which; any other is a
// container by that name (docs/kruise/sidecarset.md#annotations). hot says which of the two it
// was.
func Working(pod *corev1.Pod, sidecar string) (container string, hot bool) {
	var working map[string]string
	// What is no such map tells of no hot upgrade.
	_ = json.Unmarshal([]byte(pod.Annotations[kruise.SidecarSetWorkingHotUpgradeAnnotation]), &working)
	if container := working[sidecar]; container != "" {
		return container, true
	}
	return sidecar, false
}
