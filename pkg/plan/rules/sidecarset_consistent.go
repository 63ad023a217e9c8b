package rules

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// sidecarState is one entry of a pod's record of sidecar upgrades.
type sidecarState struct {
	Revision              string                    `json:"revision"`
	UpdateTimestamp       string                    `json:"updateTimestamp"`
	LastContainerStatuses map[string]recordedStatus `json:"lastContainerStatuses"`
}

// Consistent reports whether the node runs what the spec asks for in the named
// containers, as far as Kruise can tell (docs/kruise/sidecarset.md#when-a-pod-is-done).
func (s *SidecarSet) Consistent(p *cluster.Pod, names ...string) bool {
	if slices.ContainsFunc(p.Containers, func(c cluster.Container) bool { return !c.Reported }) {
		return false
	}
	checked := make([]cluster.Container, 0, len(names))
	for _, name := range names {
		if c, ok := p.Container(name); ok {
			checked = append(checked, c)
		}
	}
	if !slices.ContainsFunc(checked, func(c cluster.Container) bool { return !strings.Contains(c.Image, "@") }) {
		return !slices.ContainsFunc(checked, func(c cluster.Container) bool { return !runsDigest(c) })
	}
	if !slices.ContainsFunc(checked, func(c cluster.Container) bool { return c.StatusImage != c.Image }) {
		return true
	}
	recorded := s.record(p).LastContainerStatuses
	return !slices.ContainsFunc(checked, func(c cluster.Container) bool {
		last, ok := recorded[c.Name]
		return ok && last.ImageID == c.ImageID && c.StatusImage != c.Image
	})
}

// runsDigest compares an image that is pinned with the ID of what runs.
func runsDigest(c cluster.Container) bool {
	_, id, found := strings.Cut(c.ImageID, "://")
	if !found {
		id = c.ImageID
	}
	return pinned(id) == pinned(c.Image)
}

// pinned drops the tag of repo:tag@digest.
func pinned(image string) string {
	name, digest, ok := strings.Cut(image, "@")
	if i := strings.LastIndexByte(name, ':'); ok && i > strings.LastIndexByte(name, '/') {
		name = name[:i]
	}
	return name + "@" + digest
}

func (s *SidecarSet) record(p *cluster.Pod) sidecarState {
	var all map[string]sidecarState
	_ = json.Unmarshal([]byte(p.Annotations[kruise.SidecarSetInPlaceUpdateStateAnnotation]), &all)
	return all[s.Name]
}

// names returns the pod's containers of this set.
func (s *SidecarSet) names() []string {
	var out []string
	for i := range s.Spec.Containers {
		out = append(out, containerNames(&s.Spec.Containers[i])...)
	}
	return out
}

// InFlight reports whether an earlier upgrade of the pod is still under way:
// some sidecar is ready, but not what was asked for. Its next upgrade waits.
func (s *SidecarSet) InFlight(p *cluster.Pod) bool {
	return slices.ContainsFunc(s.names(), func(name string) bool {
		c, ok := p.Container(name)
		return ok && c.Ready && !s.Consistent(p, name)
	})
}

// Ready reports whether the pod is ready for the set: running and ready, and
// every idle hot-upgrade container runs the empty image.
func (s *SidecarSet) Ready(p *cluster.Pod) bool {
	if p.Phase != corev1.PodRunning || !podReady(p) || p.Deleting {
		return false
	}
	for _, h := range s.hotPairs(p) {
		if c, ok := p.Container(h.idle); !ok || c.Image != h.empty {
			return false
		}
	}
	return true
}

// SidecarSetCounts are the numbers of the status (docs/kruise/sidecarset.md#when-a-pod-is-done).
func (s *SidecarSet) SidecarSetCounts() kruise.SidecarSetStatus {
	n, _, _ := s.look(s.Matched())
	return n
}

// Complete reports whether the pod is consistent in all sidecars of the set.
func (s *SidecarSet) Complete(p *cluster.Pod) bool { return s.Consistent(p, s.names()...) }

// fine reports whether the pod is consistent in all sidecars and ready.
func (s *SidecarSet) fine(p *cluster.Pod) bool { return s.Complete(p) && s.Ready(p) }

func one(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
