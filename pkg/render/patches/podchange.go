package patches

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// podChange is one write of the driver client to a pod.
type podChange struct {
	pod    *cluster.Pod
	change cluster.PodChange
	// parent has the template that the pod comes to.
	parent *cluster.Workload
}

// stage is how far a pod is brought by a change.
type stage string

// The stages of a pod that is updated in place.
const (
	leaves  stage = "leave"
	updates stage = "update"
	returns stage = "return"
	goesOn  stage = "continue"
	prepare stage = "prepare-delete"
)

// kind tells the stages apart by the state that the change writes.
func (c *podChange) kind() stage {
	state := c.change.Labels[kruise.LifecycleStateLabel]
	switch {
	case state != nil && *state == string(rules.StatePreparingUpdate):
		return leaves
	case state != nil && *state == string(rules.StatePreparingDelete):
		return prepare
	case state != nil && *state == string(rules.StateNormal) && len(c.change.Images) == 0:
		return returns
	case state == nil && len(c.change.Images) == 0 && c.change.Labels["controller-revision-hash"] == nil:
		return goesOn
	}
	return updates
}

func (s stage) title(pod string) string {
	switch s {
	case leaves:
		return "take " + pod + " out of service"
	case returns:
		return "put " + pod + " back into service"
	case prepare:
		return "prepare the deletion of " + pod
	case goesOn:
		return "go on with the next containers of " + pod
	}
	return "update " + pod + " in place"
}

// restarted asks that every container whose image changes has restarted, which
// its readiness alone would not say: until the node looks, the old one is ready.
func (c *podChange) restarted() []Condition {
	t := target(c.pod)
	var out []Condition
	for _, name := range slices.Sorted(maps.Keys(c.change.Images)) {
		if k, ok := c.pod.Container(name); ok {
			field := fmt.Sprintf(`.status.containerStatuses[?(@.name=="%s")].restartCount`, name)
			out = append(out, Condition{"its container " + name + " has restarted", t.waitFor(field, strconv.Itoa(k.Restarts+1), "10m")})
		}
	}
	return append(out, Condition{"its containers are ready", t.waitReady("ContainersReady")})
}

// waitReady waits for a condition of the pod.
func (t Target) waitReady(condition string) string {
	return "kubectl wait " + t.at() + " --for=condition=" + condition + " --timeout=10m"
}

// pin has a patch fail on a successor of the same name.
func (c *podChange) pin(body map[string]any) {
	if c.pod.UID == "" {
		return
	}
	metadata, _ := body["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		body["metadata"] = metadata
	}
	metadata["uid"] = c.pod.UID
}

// conditions are those that change, for the status; a gate that closes makes the
// pod unready in the same write, as Kruise does.
func (c *podChange) conditions() map[string]any {
	set := slices.Clone(c.change.Conditions)
	closes := slices.ContainsFunc(set, func(k cluster.Condition) bool {
		return k.Status == corev1.ConditionFalse && slices.Contains(c.pod.ReadinessGates, k.Type)
	})
	if closes {
		set = append(set, cluster.SetTo(string(corev1.PodReady), corev1.ConditionFalse, "ReadinessGatesNotReady", ""))
	}
	var list []any
	for _, k := range set {
		list = append(list, map[string]any{"type": k.Type, "status": string(k.Status), "reason": k.Reason, "message": k.Message})
	}
	if len(list) == 0 {
		return nil
	}
	return map[string]any{"status": map[string]any{"conditions": list}}
}

// resources are those of the parent's template, for the containers whose resources
// change.
func (c *podChange) resources() map[string]any {
	spec, _ := c.parent.Template["spec"].(map[string]any)
	var list []any
	containers, _ := spec["containers"].([]any)
	for _, item := range containers {
		container, _ := item.(map[string]any)
		if name, _ := container["name"].(string); slices.Contains(c.change.Resources, name) {
			list = append(list, map[string]any{"name": name, "resources": container["resources"]})
		}
	}
	if len(list) == 0 {
		return nil
	}
	return map[string]any{"spec": map[string]any{"containers": list}}
}

// rest is everything but conditions and resources, nil for nothing.
func (c *podChange) rest() map[string]any {
	metadata, spec := map[string]any{}, map[string]any{}
	put(metadata, "labels", texts(c.change.Labels))
	put(metadata, "annotations", texts(c.change.Annotations))
	if list := c.change.AddFinalizers; len(list) > 0 {
		metadata["finalizers"] = items(list)
	}
	if list := c.change.RemoveFinalizers; len(list) > 0 {
		metadata["$deleteFromPrimitiveList/finalizers"] = items(list)
	}
	for field, list := range map[string][]cluster.Container{"containers": c.pod.Containers, "initContainers": c.pod.InitContainers} {
		if changed := images(list, c.change.Images); len(changed) > 0 {
			spec[field] = changed
		}
	}
	body := map[string]any{}
	put(body, "metadata", metadata)
	put(body, "spec", spec)
	if len(body) == 0 {
		return nil
	}
	return body
}

func put(into map[string]any, key string, v map[string]any) {
	if len(v) > 0 {
		into[key] = v
	}
}

func texts(m map[string]*string) map[string]any {
	out := make(map[string]any, len(m))
	for key, v := range m {
		out[key] = nil
		if v != nil {
			out[key] = *v
		}
	}
	return out
}

func items(list []string) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

func images(list []cluster.Container, change map[string]string) []any {
	var out []any
	for i := range list {
		if image, ok := change[list[i].Name]; ok {
			out = append(out, map[string]any{"name": list[i].Name, "image": image})
		}
	}
	return out
}
