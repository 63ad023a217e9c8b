package daemon

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Pull makes one pass over a node's list of images: its new status, and after
// what time to look again (zero when nothing is in progress). Takes is how long
// pulling an absent image takes.
func Pull(now time.Time, n *kruise.NodeImage, images *life.Images, takes time.Duration) (kruise.NodeImageStatus, time.Duration) {
	out := kruise.NodeImageStatus{FirstSyncStatus: n.Status.FirstSyncStatus}
	if len(n.Spec.Images) > 0 {
		out.ImageStatuses = map[string]kruise.ImageStatus{}
	}
	wake := time.Duration(0)
	for _, name := range slices.Sorted(maps.Keys(n.Spec.Images)) {
		var tags []kruise.ImageTagStatus
		for i := range n.Spec.Images[name].Tags {
			tag := pullTag(now, name, &n.Spec.Images[name].Tags[i], known(n, name), images, takes)
			if tag.Phase == kruise.ImagePhasePulling {
				wake = again
			}
			count(&out, tag.Phase)
			tags = append(tags, tag)
		}
		out.ImageStatuses[name] = kruise.ImageStatus{Tags: tags}
	}
	return out, wake
}

func known(n *kruise.NodeImage, name string) []kruise.ImageTagStatus {
	return n.Status.ImageStatuses[name].Tags
}

// pullTag takes one tag on. A tag whose version was raised is pulled again.
func pullTag(
	now time.Time, name string, tag *kruise.ImageTagSpec, before []kruise.ImageTagStatus, images *life.Images, takes time.Duration,
) kruise.ImageTagStatus {
	s := kruise.ImageTagStatus{Tag: tag.Tag, Version: tag.Version, Phase: kruise.ImagePhasePulling, StartTime: &metav1.Time{Time: now}}
	i := slices.IndexFunc(before, func(b kruise.ImageTagStatus) bool { return b.Tag == tag.Tag && b.Version == tag.Version })
	if i >= 0 {
		s = before[i]
	}
	if s.Phase == kruise.ImagePhaseSucceeded || s.Phase == kruise.ImagePhaseFailed {
		return s
	}
	ref := reference(name, tag.Tag)
	ready, err := images.Ask(ref, corev1.PullIfNotPresent, now, takes)
	switch {
	case err != nil:
		s.Phase, s.Message = kruise.ImagePhaseFailed, "pulling image "+ref+" error lab: not found"
		s.CompletionTime = &metav1.Time{Time: now}
	case !ready.After(now):
		s.Phase, s.Progress, s.ImageID = kruise.ImagePhaseSucceeded, 100, life.ImageID(ref)
		s.CompletionTime = &metav1.Time{Time: now}
	}
	return s
}

// reference joins a name and a tag, which may be a digest.
func reference(name, tag string) string {
	if strings.HasPrefix(tag, "sha256:") {
		return name + "@" + tag
	}
	return name + ":" + tag
}

func count(s *kruise.NodeImageStatus, phase kruise.ImagePullPhase) {
	s.Desired++
	switch phase {
	case kruise.ImagePhaseSucceeded:
		s.Succeeded++
	case kruise.ImagePhaseFailed:
		s.Failed++
	case kruise.ImagePhasePulling:
		s.Pulling++
	default:
		s.Waiting++
	}
}
