package check

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// onlyImages reports whether nothing but images of containers differs. Both
// have their defaults.
func onlyImages(old, now corev1.PodSpec) bool {
	return apiequality.Semantic.DeepEqual(imageless(old), imageless(now))
}

// imageless is the pod spec with the image of every container taken out.
func imageless(spec corev1.PodSpec) *corev1.PodSpec {
	out := spec.DeepCopy()
	for i := range out.Containers {
		out.Containers[i].Image = ""
	}
	return out
}

// inPlaceOnly refuses a change of the pods that cannot be made in place.
// An inventory holds no templates: what it does not know is not compared.
func (s *subject) inPlaceOnly(old, now corev1.PodSpec) {
	if len(old.Containers) > 0 && !onlyImages(old, now) {
		s.fault("spec.template.spec", "use InPlaceIfPossible, or change only images and metadata", "InPlaceOnly allows changes of images alone")
	}
}

// constant reports each field that differs and may not. Fields are pairs of old
// and new by their path.
func (s *subject) constant(fields ...unchanging) {
	for _, f := range fields {
		if !apiequality.Semantic.DeepEqual(f.old, f.now) {
			s.frozen(f.path, fmt.Sprintf("delete and create the %s, or keep it as it is in the cluster", s.kind.kind),
				"this cannot change in a %s that exists", s.kind.kind)
		}
	}
}

// unchanging is one field before and after.
type unchanging struct {
	path     string
	old, now any
}
