package check

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// sameVolume compares two volumes as they are stored: one from a cluster has
// the defaults that one from a file leaves out (docs/kruise/sidecarset.md#defaults).
func sameVolume(a, b *tree.Node) bool {
	if tree.Equal(a, b) {
		return true
	}
	x, known := storedVolume(a)
	y, knownToo := storedVolume(b)
	return known && knownToo && apiequality.Semantic.DeepEqual(x, y)
}

// storedVolume reads a volume and fills it as Kubernetes does; known is false
// when there is more in it than we can read.
func storedVolume(n *tree.Node) (v corev1.Volume, known bool) {
	unknown, err := tree.Decode(n, &v)
	if err != nil || len(unknown) > 0 {
		return v, false
	}
	s := &v.VolumeSource
	if s.HostPath != nil {
		orDefault(&s.HostPath.Type, corev1.HostPathUnset)
	}
	if s.ConfigMap != nil {
		orDefault(&s.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	}
	if s.Secret != nil {
		orDefault(&s.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	}
	if s.DownwardAPI != nil {
		orDefault(&s.DownwardAPI.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		defaultFields(s.DownwardAPI.Items)
	}
	if s.Projected != nil {
		orDefault(&s.Projected.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
		for _, source := range s.Projected.Sources {
			if source.ServiceAccountToken != nil {
				orDefault(&source.ServiceAccountToken.ExpirationSeconds, 3600)
			}
			if source.DownwardAPI != nil {
				defaultFields(source.DownwardAPI.Items)
			}
		}
	}
	return v, true
}

func defaultFields(items []corev1.DownwardAPIVolumeFile) {
	for _, item := range items {
		if item.FieldRef != nil && item.FieldRef.APIVersion == "" {
			item.FieldRef.APIVersion = "v1"
		}
	}
}

// orDefault gives a value that is not there its default.
func orDefault[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}
