package scale

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// templateOf is a template of ordinary size: two containers with what services have.
func templateOf(app string) map[string]any {
	var env []any
	for i := range 12 {
		env = append(env, map[string]any{"name": fmt.Sprintf("SETTING_%d", i), "value": fmt.Sprintf("value-of-setting-%d-of-%s", i, app)})
	}
	container := func(name string) map[string]any {
		return map[string]any{
			"name": name, "image": "registry.example.com/shop/" + name + ":1.2.3", "env": env,
			"resources":      map[string]any{"requests": map[string]any{"cpu": "10m", "memory": "16Mi"}, "limits": map[string]any{"memory": "64Mi"}},
			"readinessProbe": map[string]any{"httpGet": map[string]any{"path": "/ready", "port": int64(8080)}},
			"volumeMounts":   []any{map[string]any{"name": "data", "mountPath": "/data"}},
		}
	}
	return map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"app": app, "tier": "web"}, "annotations": map[string]any{"example.com/owner": "team-web"}},
		"spec": map[string]any{
			"schedulerName": "none", "automountServiceAccountToken": false,
			"containers": []any{container("app"), container("proxy")}, "volumes": []any{map[string]any{"name": "data", "emptyDir": map[string]any{}}},
			"readinessGates": []any{map[string]any{"conditionType": "InPlaceUpdateReady"}},
		},
	}
}

// running is the status of a pod that serves.
func running(p *corev1.Pod) corev1.PodStatus {
	since, started := p.CreationTimestamp, true
	status := corev1.PodStatus{Phase: corev1.PodRunning, HostIP: "192.0.2.1", PodIP: "198.51.100.1", StartTime: &since}
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady, "InPlaceUpdateReady"} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: since})
	}
	for _, c := range p.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: c.Image + "@sha256:0123456789012345678901234567890123456789012345678901234567890123", ContainerID: "containerd://" + string(p.UID),
			Ready: true, Started: &started, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}},
		})
	}
	return status
}
