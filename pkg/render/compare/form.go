package compare

import (
	"encoding/json"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// typed makes the empty object of each kind whose type is known, by GROUP/KIND:
// these get all defaults that a cluster would have stored.
var typed = map[string]func() any{
	"/Pod":                                       func() any { return &corev1.Pod{} },
	"apps/DaemonSet":                             func() any { return &appsv1.DaemonSet{} },
	"apps/Deployment":                            func() any { return &appsv1.Deployment{} },
	"apps/ReplicaSet":                            func() any { return &appsv1.ReplicaSet{} },
	"apps/StatefulSet":                           func() any { return &appsv1.StatefulSet{} },
	"batch/CronJob":                              func() any { return &batchv1.CronJob{} },
	"batch/Job":                                  func() any { return &batchv1.Job{} },
	kruise.Group + "/AdvancedCronJob":            func() any { return &kruise.AdvancedCronJob{} },
	kruise.Group + "/BroadcastJob":               func() any { return &kruise.BroadcastJob{} },
	kruise.Group + "/CloneSet":                   func() any { return &kruise.CloneSet{} },
	kruise.Group + "/ContainerRecreateRequest":   func() any { return &kruise.ContainerRecreateRequest{} },
	kruise.Group + "/DaemonSet":                  func() any { return &kruise.DaemonSet{} },
	kruise.Group + "/EphemeralJob":               func() any { return &kruise.EphemeralJob{} },
	kruise.Group + "/ImageListPullJob":           func() any { return &kruise.ImageListPullJob{} },
	kruise.Group + "/ImagePullJob":               func() any { return &kruise.ImagePullJob{} },
	kruise.Group + "/NodeImage":                  func() any { return &kruise.NodeImage{} },
	kruise.Group + "/NodePodProbe":               func() any { return &kruise.NodePodProbe{} },
	kruise.Group + "/PersistentPodState":         func() any { return &kruise.PersistentPodState{} },
	kruise.Group + "/PodProbeMarker":             func() any { return &kruise.PodProbeMarker{} },
	kruise.Group + "/ResourceDistribution":       func() any { return &kruise.ResourceDistribution{} },
	kruise.Group + "/SidecarSet":                 func() any { return &kruise.SidecarSet{} },
	kruise.Group + "/StatefulSet":                func() any { return &kruise.StatefulSet{} },
	kruise.Group + "/UnitedDeployment":           func() any { return &kruise.UnitedDeployment{} },
	kruise.Group + "/WorkloadSpread":             func() any { return &kruise.WorkloadSpread{} },
	kruise.PolicyGroup + "/PodUnavailableBudget": func() any { return &kruise.PodUnavailableBudget{} },
}

// form is an object as it is compared: decoded JSON in the newest version of its
// kind, with defaults, without what a cluster writes, secrets sealed.
type form struct {
	value map[string]any
	// unknown are paths of fields that the kind does not have.
	unknown []string
	// typed is whether value went through the object's type.
	typed bool
}

// forms brings both sides of a pair into the same form: a type that fits only
// one of them would make differences of its own.
func (c *comparison) forms(p pair) (old, now form) {
	old, now = formOf(p.old, true), formOf(p.now, true)
	if old.typed != now.typed {
		old, now = formOf(p.old, false), formOf(p.now, false)
	}
	for _, f := range []form{old, now} {
		normalise(p.now, f.value)
		seal(p.now, f.value)
	}
	return old, now
}

func formOf(r *resource.Resource, byType bool) form {
	if empty := typed[kindOf(r)]; empty != nil && byType {
		obj := empty()
		if unknown, err := kruise.Decode(r.Node(), obj); err == nil {
			kruise.DefaultStored(obj)
			if v, ok := plain(obj); ok {
				return form{value: v, unknown: unknown, typed: true}
			}
		}
	}
	node := r.Node()
	if hub, _, err := kruise.ToHub(node); err == nil {
		node = hub
	}
	v, _ := tree.Value(node).(map[string]any)
	if v == nil {
		v = map[string]any{}
	}
	return form{value: v}
}

func kindOf(r *resource.Resource) string { return r.Group() + "/" + r.Kind() }

// plain is an object as decoded JSON.
func plain(obj any) (v map[string]any, ok bool) {
	v, err := tree.Plain(obj)
	return v, err == nil
}

// recorded are fields of metadata that only a cluster writes; the namespace is
// part of the identity.
var recorded = []string{
	"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "namespace",
	"resourceVersion", "selfLink", "uid",
}

// bookkeeping are annotations that follow from the rest of an object. One of them
// repeats it whole, another is a hash over it: neither may be shown of a Secret.
var bookkeeping = []string{
	"deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation", corev1.LastAppliedConfigAnnotation,
	kruise.ResourceHashCodeAnnotation, kruise.SidecarSetHashAnnotation, kruise.SidecarSetHashWithoutImageAnnotation,
}

// normalise takes out what does not count and fills in defaults.
func normalise(r *resource.Resource, v map[string]any) {
	for _, key := range []string{"apiVersion", "kind", "status"} {
		delete(v, key)
	}
	if meta, ok := v["metadata"].(map[string]any); ok {
		for _, key := range recorded {
			delete(meta, key)
		}
		delete(meta, "name")
		if held, ok := meta["finalizers"].([]any); ok {
			meta["finalizers"] = slices.DeleteFunc(held, func(f any) bool { return f == kruise.ImagePullJobFinalizer })
		}
		if annotations, ok := meta["annotations"].(map[string]any); ok {
			for _, key := range bookkeeping {
				delete(annotations, key)
			}
			unfold(annotations)
		}
	}
	for _, d := range defaults[kindOf(r)] {
		d.fill(v)
	}
}

// unfold reads the annotation that holds a strategy, so that its fields are compared
// and not its text.
func unfold(annotations map[string]any) {
	text, _ := annotations[kruise.StrategyAnnotation].(string)
	var inside map[string]any
	if json.Unmarshal([]byte(text), &inside) == nil && inside != nil {
		annotations[kruise.StrategyAnnotation] = inside
	}
}
