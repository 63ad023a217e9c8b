package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// SidecarPatch is what an upgrade writes to one pod. Env, mounts and resources
// never change; annotations of patchPodMetadata are not part of it.
type SidecarPatch struct {
	// Images are the new images by container.
	Images map[string]string
	// Annotations are set unchanged.
	Annotations map[string]string
}

// Upgrade returns the patch that brings a pod up to date; revisions and times
// go into its annotations (docs/kruise/sidecarset.md#the-patch-of-one-pod and
// docs/kruise/sidecarset.md#hot-upgrade).
func (s *SidecarSet) Upgrade(p *cluster.Pod, now time.Time) (SidecarPatch, error) {
	u := s.newPatcher(p, now)
	for i := range s.Spec.Containers {
		c := &s.Spec.Containers[i]
		if present, ok := p.Container(c.Name); !hot(c) && ok && present.Image != c.Image {
			u.patch.Images[c.Name] = c.Image
		}
	}
	for _, h := range s.hotPairs(p) {
		u.upgradeHot(h)
	}
	if err := u.writeHash(); err != nil {
		return SidecarPatch{}, err
	}
	return u.patch, u.writeState()
}

// upgradeHot starts the new version beside the old one, and writes the version of each into the
// other.
func (u *sidecarPatcher) upgradeHot(h hotPair) {
	s, p, out := u.set, u.pod, &u.patch
	name, other, ok := s.hotTarget(p, h)
	if !ok {
		return
	}
	out.Images[name] = h.sidecar.Image
	out.Annotations[version+name] = s.ResourceVersion
	out.Annotations[versionAlt+other] = s.ResourceVersion
	out.Annotations[versionAlt+name] = p.Annotations[version+other]
	working := WorkingContainers(p)
	if earlier, ok := out.Annotations[kruise.SidecarSetWorkingHotUpgradeAnnotation]; ok {
		_ = json.Unmarshal([]byte(earlier), &working)
	}
	working[h.sidecar.Name] = name
	out.Annotations[kruise.SidecarSetWorkingHotUpgradeAnnotation] = compact(working)
}

const (
	version    = kruise.SidecarSetVersionAnnotationPrefix
	versionAlt = kruise.SidecarSetVersionAltAnnotationPrefix
)

// Flip returns the patch that completes a hot upgrade: the idle containers go
// back to the empty image. The pod's hash stays.
func (s *SidecarSet) Flip(p *cluster.Pod, now time.Time) (SidecarPatch, error) {
	u := s.newPatcher(p, now)
	for _, h := range s.hotPairs(p) {
		if c, ok := p.Container(h.idle); ok && c.Image != h.empty {
			u.patch.Images[h.idle] = h.empty
			u.patch.Annotations[version+h.idle] = "0"
			u.patch.Annotations[versionAlt+h.working] = "0"
		}
	}
	return u.patch, u.writeState()
}

// sidecarPatcher makes the patch of one pod.
type sidecarPatcher struct {
	set   *SidecarSet
	pod   *cluster.Pod
	now   time.Time
	patch SidecarPatch
}

func (s *SidecarSet) newPatcher(p *cluster.Pod, now time.Time) *sidecarPatcher {
	return &sidecarPatcher{set: s, pod: p, now: now, patch: SidecarPatch{Images: map[string]string{}, Annotations: map[string]string{}}}
}

// writeHash replaces the set's entry, and leaves those of other sets unchanged; the annotation
// without images stays.
func (u *sidecarPatcher) writeHash() error {
	s, p := u.set, u.pod
	entries := map[string]json.RawMessage{}
	if before, ok := p.Annotations[kruise.SidecarSetHashAnnotation]; ok {
		if err := json.Unmarshal([]byte(before), &entries); err != nil {
			return fmt.Errorf("pod %s: annotation %s: %w", p.Name, kruise.SidecarSetHashAnnotation, err)
		}
	}
	if entries == nil {
		entries = map[string]json.RawMessage{}
	}
	entries[s.Name] = json.RawMessage(compact(inject.Entry{
		UpdateTimestamp: u.now.UTC().Format(time.RFC3339), Hash: s.Hash,
		SidecarSetName: s.Name, SidecarList: sidecarList(s.Spec), ControllerRevision: s.Revision,
	}))
	u.patch.Annotations[kruise.SidecarSetHashAnnotation] = compact(entries)
	return nil
}

// sidecarList names the sidecars of the set, those that are init containers
// included.
func sidecarList(spec *kruise.SidecarSetSpec) []string {
	list := make([]string, 0, len(spec.Containers))
	for i := range spec.Containers {
		list = append(list, spec.Containers[i].Name)
	}
	for i := range spec.InitContainers {
		if policy := spec.InitContainers[i].RestartPolicy; policy != nil && *policy == corev1.ContainerRestartPolicyAlways {
			list = append(list, spec.InitContainers[i].Name)
		}
	}
	slices.Sort(list)
	return list
}

// writeState records what ran before. An existing entry keeps its first
// revision and time; only the statuses are overwritten.
func (u *sidecarPatcher) writeState() error {
	s, p := u.set, u.pod
	all := map[string]sidecarState{}
	if before, ok := p.Annotations[kruise.SidecarSetInPlaceUpdateStateAnnotation]; ok {
		if err := json.Unmarshal([]byte(before), &all); err != nil {
			return fmt.Errorf("pod %s: annotation %s: %w", p.Name, kruise.SidecarSetInPlaceUpdateStateAnnotation, err)
		}
	}
	state, known := all[s.Name]
	if !known {
		state = sidecarState{Revision: s.Hash, UpdateTimestamp: u.now.UTC().Format(time.RFC3339)}
	}
	if state.LastContainerStatuses == nil {
		state.LastContainerStatuses = map[string]recordedStatus{}
	}
	for _, name := range slices.Sorted(maps.Keys(u.patch.Images)) {
		c, _ := p.Container(name)
		state.LastContainerStatuses[name] = recordedStatus{ImageID: c.ImageID}
	}
	all[s.Name] = state
	u.patch.Annotations[kruise.SidecarSetInPlaceUpdateStateAnnotation] = compact(all)
	return nil
}

// UpgradableCondition is the condition that all SidecarSets of a pod share, with what this one
// has found. It is false where the pod has that condition already.
func (s *SidecarSet) UpgradableCondition(p *cluster.Pod, upgradable bool) (want cluster.Condition, other bool) {
	have, known := p.Condition(kruise.SidecarSetUpgradable)
	verdicts := map[string]bool{}
	_ = json.Unmarshal([]byte(have.Message), &verdicts)
	verdicts[s.Name] = upgradable
	want = cluster.SetTo(kruise.SidecarSetUpgradable, corev1.ConditionTrue, "AllSidecarsetUpgradable", compact(verdicts))
	for _, fine := range verdicts {
		if !fine {
			want.Status, want.Reason = corev1.ConditionFalse, "UpdateImmutableField"
		}
	}
	return want, !known || have.Status != want.Status || have.Reason != want.Reason || have.Message != want.Message
}

// compact writes JSON with sorted keys; what comes in was made from JSON.
func compact(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

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

// hotTarget returns which container of the pair takes the new image: the one that
// runs the empty image, else the one that is broken while the other is fine,
// else the idle one. ok is false when the other runs the new image already
// (docs/kruise/sidecarset.md#hot-upgrade).
func (s *SidecarSet) hotTarget(p *cluster.Pod, h hotPair) (name, other string, ok bool) {
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

// flipReady reports whether a hot upgrade can be completed: some idle container
// still runs a real image, everything but the idle ones is what was asked for,
// and the pod, or everything in it but the idle ones, is ready.
func (s *SidecarSet) flipReady(p *cluster.Pod) bool {
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

// HotPhase describes how far the hot upgrade of a pod is; it is empty
// where none is in progress. What runs idle since the pod was made has no record of an
// image before.
func (s *SidecarSet) HotPhase(p *cluster.Pod) string {
	for _, h := range s.hotPairs(p) {
		idle, ok := p.Container(h.idle)
		_, changed := s.record(p).LastContainerStatuses[h.idle]
		switch {
		case !ok || idle.Image == h.empty && (idle.Ready || !changed):
		case idle.Image == h.empty:
			return h.idle + " is being emptied"
		case s.flipReady(p):
			return h.working + " is ready, " + h.idle + " is emptied next"
		default:
			return h.working + " starts beside " + h.idle
		}
	}
	return ""
}

// WorkingContainers maps each hot-upgrade sidecar of a pod to the one of its two
// containers that works (docs/kruise/sidecarset.md#hot-upgrade).
func WorkingContainers(p *cluster.Pod) map[string]string {
	out := map[string]string{}
	_ = json.Unmarshal([]byte(p.Annotations[kruise.SidecarSetWorkingHotUpgradeAnnotation]), &out)
	return out
}
