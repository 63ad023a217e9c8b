package kruise

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// defaultCloneSet: semantics workloads 0.3. OnDelete gets no rollingUpdate.
func defaultCloneSet(c *CloneSet) {
	setDefault(&c.Spec.Replicas, 1)
	defaultCloneSetSpec(&c.Spec)
	alwaysPull(&c.Spec.Template.Spec)
}

// defaultCloneSetSpec is all but the replicas and the template.
func defaultCloneSetSpec(s *CloneSetSpec) {
	setDefault(&s.RevisionHistoryLimit, 10)
	u := &s.UpdateStrategy
	setText(&u.Type, RollingUpdateCloneSetStrategyType)
	if u.Type != RollingUpdateCloneSetStrategyType {
		return
	}
	if u.RollingUpdate == nil {
		u.RollingUpdate = &RollingUpdateCloneSetStrategy{}
	}
	r := u.RollingUpdate
	setText(&r.PodUpdatePolicy, RecreateCloneSetPodUpdateStrategyType)
	setDefault(&r.Partition, intstr.FromInt32(0))
	setDefault(&r.MaxUnavailable, intstr.FromString("20%"))
	setDefault(&r.MaxSurge, intstr.FromInt32(0))
}

// setDefault gives a field that is not there its value.
func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// setText gives an empty field its value.
func setText[T ~string](field *T, value T) {
	if *field == "" {
		*field = value
	}
}

// alwaysPull is what Kruise's webhooks do to containers without a pull policy,
// whatever their tag (semantics sidecarset-and-protection 10). Init containers
// follow their tag, as in Kubernetes.
func alwaysPull(s *corev1.PodSpec) {
	for i := range s.Containers {
		setText(&s.Containers[i].ImagePullPolicy, corev1.PullAlways)
	}
}
