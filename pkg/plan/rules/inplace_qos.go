package rules

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// checkQOS turns changes of resources into recreation when the pod's class
// would not stay: Kubernetes fixes it at creation
// (docs/kruise/workloads.md#when-a-change-is-possible-in-place).
func (c TemplateChange) checkQOS(fields []FieldChange) {
	old, updated := qosOf(c.Old.Template), qosOf(c.New.Template)
	if old == updated {
		return
	}
	for i := range fields {
		if f := &fields[i]; f.Effect == EffectResources {
			f.Effect, f.Restarts = EffectRecreate, nil
			f.Why = fmt.Sprintf("the QoS class would change from %s to %s", old, updated)
		}
	}
}

// qosOf returns the class that Kubernetes gives to a pod of this template.
func qosOf(template map[string]any) corev1.PodQOSClass {
	spec, _ := template["spec"].(map[string]any)
	set, guaranteed := false, true
	for _, container := range append(items(spec, "containers"), items(spec, "initContainers")...) {
		resources, _ := container["resources"].(map[string]any)
		for _, name := range []string{"cpu", "memory"} {
			request, limit := quantity(resources, "requests", name), quantity(resources, "limits", name)
			set = set || request != nil || limit != nil
			guaranteed = guaranteed && limit != nil && (request == nil || request.Cmp(*limit) == 0)
		}
	}
	switch {
	case !set:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// quantity reads an amount; nothing and zero are the same.
func quantity(resources map[string]any, side, name string) *resource.Quantity {
	list, _ := resources[side].(map[string]any)
	v, ok := list[name]
	if !ok || v == nil {
		return nil
	}
	q, err := tree.Quantity(fmt.Sprint(v))
	if err != nil || q.IsZero() {
		return nil
	}
	return &q
}
