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
