package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/mask"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// EffectNewPods is a field that only pods made later get; Kruise does not hold
// it against pods that lack it.
const EffectNewPods Effect = "newPods"

// SidecarSetEligible says what a change of a SidecarSet's spec, as decoded JSON
// in v1beta1, does to pods that have its sidecars: only images of containers
// change, any other change of a container leaves the pod behind until a user
// recreates it (docs/kruise/sidecarset.md#hashes and
// docs/kruise/sidecarset.md#what-can-change-in-place). Selectors and strategies are not looked at.
func SidecarSetEligible(old, updated map[string]any) Eligibility {
	e := Eligibility{Policy: PolicyInPlaceOnly}
	hashed := map[string]bool{"containers": true, "initContainers": nativeSidecars(old) || nativeSidecars(updated)}
	for _, key := range []string{"containers", "imagePullSecrets", "initContainers", "patchPodMetadata", "volumes"} {
		for _, d := range tree.Differences([]string{"spec", key}, entries(old[key]), entries(updated[key])) {
			f := FieldChange{
				Path: PathText(d.Path), Old: mask.Value(d.Path, d.Old, map[string]any{"spec": old}), New: mask.Value(d.Path, d.New, map[string]any{"spec": updated}),
			}
			classifySidecar(&f, d, hashed[key], updated)
			e.Fields = append(e.Fields, f)
		}
	}
	blocking := slices.IndexFunc(e.Fields, func(f FieldChange) bool { return f.Effect == EffectRecreate })
	for _, f := range e.Fields {
		e.Restarts = append(e.Restarts, f.Restarts...)
	}
	switch {
	case blocking >= 0:
		e.refuse(e.Fields[blocking].Path + ": " + e.Fields[blocking].Why)
	case len(e.Restarts) > 0:
		e.Mode, e.Why = ModeInPlace, "only images of sidecars change"
	default:
		e.Mode, e.Why = ModeUnchanged, "nothing changes in pods that have the sidecars"
	}
	return e
}

// entries makes a missing list an empty one, so that its first entry is a change of
// that entry.
func entries(v any) any {
	if v == nil {
		return []any{}
	}
	return v
}

// classifySidecar says what one change does; hashed are those of a list whose content
// tells pods apart, but for images.
func classifySidecar(f *FieldChange, d tree.Difference, hashed bool, updated map[string]any) {
	image := len(d.Path) == 4 && d.Path[3] == "image" && d.Old != nil && d.New != nil
	switch {
	case image && d.Path[1] == "containers":
		f.Effect, f.Why = EffectImage, "the image of a sidecar changes in place"
		f.Restarts = []string{containerName(map[string]any{"spec": updated}, d.Path[2])}
	case hashed && !image:
		f.Effect, f.Why = EffectRecreate, "of a sidecar only the image changes in place: such pods have to be recreated"
	default:
		f.Effect, f.Why = EffectNewPods, "only pods made from now on get it"
	}
}

// nativeSidecars reports whether an init container of the set keeps running: then
// all of them count for the hashes (docs/kruise/sidecarset.md#hashes).
func nativeSidecars(spec map[string]any) bool {
	list, _ := spec["initContainers"].([]any)
	return slices.ContainsFunc(list, func(c any) bool {
		container, _ := c.(map[string]any)
		return text(container, "restartPolicy") == "Always"
	})
}

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

// InFlight reports whether an earlier upgrade of the pod is still in progress:
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
	n, _, _ := s.inspect(s.Matched())
	return n
}

// Complete reports whether the pod is consistent in all sidecars of the set.
func (s *SidecarSet) Complete(p *cluster.Pod) bool { return s.Consistent(p, s.names()...) }

// healthy reports whether the pod is consistent in all sidecars and ready.
func (s *SidecarSet) healthy(p *cluster.Pod) bool { return s.Complete(p) && s.Ready(p) }

func one(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// SidecarPatch is what an upgrade writes to one pod. Env, mounts and resources
// never change; annotations of patchPodMetadata are not part of it.
type SidecarPatch struct {
	// Images are the new images by container.
	Images map[string]string
	// Annotations are set as they stand.
	Annotations map[string]string
}

// Upgrade returns the patch that brings a pod up to date; revisions and times
// go into its annotations (docs/kruise/sidecarset.md#the-patch-of-one-pod and
// docs/kruise/sidecarset.md#hot-upgrade).
func (s *SidecarSet) Upgrade(p *cluster.Pod, now time.Time) (SidecarPatch, error) {
	out := SidecarPatch{Images: map[string]string{}, Annotations: map[string]string{}}
	for i := range s.Spec.Containers {
		c := &s.Spec.Containers[i]
		if present, ok := p.Container(c.Name); !hot(c) && ok && present.Image != c.Image {
			out.Images[c.Name] = c.Image
		}
	}
	for _, h := range s.hotPairs(p) {
		s.upgradeHot(&out, p, h)
	}
	if err := s.writeHash(&out, p, now); err != nil {
		return SidecarPatch{}, err
	}
	return out, s.writeState(&out, p, now)
}

// upgradeHot starts the new version beside the old one and tells each of the
// other.
func (s *SidecarSet) upgradeHot(out *SidecarPatch, p *cluster.Pod, h hotPair) {
	name, other, ok := s.target(p, h)
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
	out := SidecarPatch{Images: map[string]string{}, Annotations: map[string]string{}}
	for _, h := range s.hotPairs(p) {
		if c, ok := p.Container(h.idle); ok && c.Image != h.empty {
			out.Images[h.idle] = h.empty
			out.Annotations[version+h.idle] = "0"
			out.Annotations[versionAlt+h.working] = "0"
		}
	}
	return out, s.writeState(&out, p, now)
}

// writeHash replaces the set's entry, and leaves those of other sets as they stand;
// the annotation without images stays.
func (s *SidecarSet) writeHash(out *SidecarPatch, p *cluster.Pod, now time.Time) error {
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
		UpdateTimestamp: now.UTC().Format(time.RFC3339), Hash: s.Hash,
		SidecarSetName: s.Name, SidecarList: s.sidecarList(), ControllerRevision: s.Revision,
	}))
	out.Annotations[kruise.SidecarSetHashAnnotation] = compact(entries)
	return nil
}

// sidecarList names the sidecars of the set, those that are init containers
// included.
func (s *SidecarSet) sidecarList() []string {
	list := make([]string, 0, len(s.Spec.Containers))
	for i := range s.Spec.Containers {
		list = append(list, s.Spec.Containers[i].Name)
	}
	for i := range s.Spec.InitContainers {
		if policy := s.Spec.InitContainers[i].RestartPolicy; policy != nil && *policy == corev1.ContainerRestartPolicyAlways {
			list = append(list, s.Spec.InitContainers[i].Name)
		}
	}
	slices.Sort(list)
	return list
}

// writeState records what ran before. An existing entry keeps its first
// revision and time; only the statuses are overwritten.
func (s *SidecarSet) writeState(out *SidecarPatch, p *cluster.Pod, now time.Time) error {
	all := map[string]sidecarState{}
	if before, ok := p.Annotations[kruise.SidecarSetInPlaceUpdateStateAnnotation]; ok {
		if err := json.Unmarshal([]byte(before), &all); err != nil {
			return fmt.Errorf("pod %s: annotation %s: %w", p.Name, kruise.SidecarSetInPlaceUpdateStateAnnotation, err)
		}
	}
	state, known := all[s.Name]
	if !known {
		state = sidecarState{Revision: s.Hash, UpdateTimestamp: now.UTC().Format(time.RFC3339)}
	}
	if state.LastContainerStatuses == nil {
		state.LastContainerStatuses = map[string]recordedStatus{}
	}
	for _, name := range slices.Sorted(maps.Keys(out.Images)) {
		c, _ := p.Container(name)
		state.LastContainerStatuses[name] = recordedStatus{ImageID: c.ImageID}
	}
	all[s.Name] = state
	out.Annotations[kruise.SidecarSetInPlaceUpdateStateAnnotation] = compact(all)
	return nil
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
		case s.FlipReady(p):
			return h.working + " is ready, " + h.idle + " is emptied next"
		default:
			return h.working + " starts beside " + h.idle
		}
	}
	return ""
}
