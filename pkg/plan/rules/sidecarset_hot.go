package rules

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// hotPair is a hot-upgrade sidecar in a pod: two containers, of which one
// works.
type hotPair struct {
	sidecar       *kruise.SidecarContainer
	working, idle string
	empty         string
}

// hotPairs returns the hot-upgrade sidecars that the pod has.
func (s *SidecarSet) hotPairs(p *cluster.Pod) []hotPair {
	if !s.anyHot() {
		return nil
	}
	working := WorkingContainers(p)
	var out []hotPair
	for i := range s.Spec.Containers {
		c := &s.Spec.Containers[i]
		if !hot(c) {
			continue
		}
		h := hotPair{sidecar: c, working: c.Name + "-1", idle: c.Name + "-2", empty: c.UpgradeStrategy.HotUpgradeEmptyImage}
		if working[c.Name] == h.idle {
			h.working, h.idle = h.idle, h.working
		}
		out = append(out, h)
	}
	return out
}

// target returns which container of the pair takes the new image: the one that
// runs the empty image, else the one that is broken while the other is fine,
// else the idle one. ok is false when the other runs the new image already
// (docs/kruise/sidecarset.md#hot-upgrade).
func (s *SidecarSet) target(p *cluster.Pod, h hotPair) (name, other string, ok bool) {
	pair := containerNames(h.sidecar)
	first, _ := p.Container(pair[0])
	second, _ := p.Container(pair[1])
	firstFine := first.Ready && s.Consistent(p, first.Name)
	secondFine := second.Ready && s.Consistent(p, second.Name)
	switch {
	case first.Image == h.empty:
		name, other = pair[0], pair[1]
	case second.Image == h.empty:
		name, other = pair[1], pair[0]
	case firstFine != secondFine && secondFine:
		name, other = pair[0], pair[1]
	case firstFine != secondFine:
		name, other = pair[1], pair[0]
	default:
		name, other = h.idle, h.working
	}
	running, _ := p.Container(other)
	return name, other, running.Image != h.sidecar.Image
}

// FlipReady reports whether a hot upgrade can be completed: some idle container
// still runs a real image, everything but the idle ones is what was asked for,
// and the pod, or everything in it but the idle ones, is ready.
func (s *SidecarSet) FlipReady(p *cluster.Pod) bool {
	pairs := s.hotPairs(p)
	if len(pairs) == 0 {
		return false
	}
	idle := make([]string, 0, len(pairs))
	pending := false
	for _, h := range pairs {
		c, ok := p.Container(h.idle)
		pending = pending || (ok && c.Image != h.empty)
		idle = append(idle, h.idle)
	}
	isIdle := func(name string) bool { return slices.Contains(idle, name) }
	if !pending || !s.Consistent(p, slices.DeleteFunc(s.names(), isIdle)...) {
		return false
	}
	if p.Phase == corev1.PodRunning && podReady(p) {
		return true
	}
	return !slices.ContainsFunc(p.Containers, func(c cluster.Container) bool { return !isIdle(c.Name) && !c.Ready })
}

// HotPhase says in a few words where the hot upgrade of a pod stands; it is empty
// where none is under way. What runs idle since the pod was made has no record of an
// image before.
func (s *SidecarSet) HotPhase(p *cluster.Pod) string {
	for _, h := range s.hotPairs(p) {
		idle, ok := p.Container(h.idle)
		_, changed := s.record(p).LastContainerStatuses[h.idle]
		switch {
		case !ok || idle.Image == h.empty && (idle.Ready || !changed):
		case idle.Image == h.empty:
			return h.idle + " is being emptied"
		case s.FlipReady(p):
			return h.working + " is ready, " + h.idle + " is emptied next"
		default:
			return h.working + " starts beside " + h.idle
		}
	}
	return ""
}
