package kruise

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Default fills in what Kruise's webhooks and schemas would write into the
// object, given as a pointer to its type; other objects stay as they are. What
// Kubernetes itself fills into pods (probes, termination messages …) and what
// takes a look at the cluster is left out.
func Default(obj any) {
	if d := types[reflect.TypeOf(obj)]; d != nil {
		d.defaults(obj)
	}
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

// WebhookPullPolicy is what Kruise's webhooks write into containers without a
// pull policy, where they do (docs/kruise/sidecarset.md#observed-on-a-cluster).
const WebhookPullPolicy = corev1.PullAlways

// alwaysPull is what Kruise's webhooks do to containers without a pull policy,
// whatever their tag; init containers follow it (docs/kruise/sidecarset.md#observed-on-a-cluster).
func alwaysPull(s *corev1.PodSpec) {
	for i := range s.Containers {
		setText(&s.Containers[i].ImagePullPolicy, WebhookPullPolicy)
	}
	for i := range s.InitContainers {
		followTag(&s.InitContainers[i])
	}
}

// followTag gives a container Kubernetes' own default.
func followTag(c *corev1.Container) { setText(&c.ImagePullPolicy, PullPolicyOf(c.Image)) }

// PullPolicyOf is Kubernetes' own default for an image: what may change under
// its tag is pulled every time.
func PullPolicyOf(image string) corev1.PullPolicy {
	name, _, digest := strings.Cut(image, "@")
	_, tag, tagged := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	if tag == "latest" || !tagged && !digest {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}
