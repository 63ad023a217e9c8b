package rules

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// SidecarSet is a SidecarSet with all that the rules of its update look at.
type SidecarSet struct {
	Name string
	Spec *kruise.SidecarSetSpec
	// Hash and HashWithoutImage are its own annotations.
	Hash, HashWithoutImage string
	// ResourceVersion is what hot-upgraded containers get as their version.
	ResourceVersion string
	// Revision is status.latestRevision.
	Revision string
	// Namespaces are the labels of each namespace; one that is not here is not
	// matched by a namespaceSelector.
	Namespaces map[string]map[string]string
	// Pods are all pods that there are.
	Pods []*cluster.Pod
	// Answers is what is remembered of Pods, nil for nothing; each answer is the same without it.
	Answers *cluster.Answers
	// RoundsDown is that percentages are rounded down, see [kruise.Release.RoundsSidecarSetsDown].
	RoundsDown bool
	// Brief has [SidecarSet.ChooseUpdate] leave out the order of what comes later: it saves a
	// controller the sorting.
	Brief bool
}

// Matched returns the pods that count.
func (s *SidecarSet) Matched() []*cluster.Pod { return filter(s.Pods, s.Matches()) }

// Matches distinguishes the pods that count: matched by both selectors, active, and
// injected with every container of the current set (docs/kruise/sidecarset.md#matched-pods).
// Pods that predate the set never match.
func (s *SidecarSet) Matches() func(*cluster.Pod) bool {
	selects := s.Selects()
	return func(p *cluster.Pod) bool { return Active(p) && selects(p) && s.injected(p) }
}

// Selects reports which pods both selectors match; an empty selector matches none.
func (s *SidecarSet) Selects() func(*cluster.Pod) bool {
	if s.Spec.Selector == nil || len(s.Spec.Selector.MatchLabels)+len(s.Spec.Selector.MatchExpressions) == 0 {
		return func(*cluster.Pod) bool { return false }
	}
	selector, inNamespace := selectorOf(s.Spec.Selector), s.namespaces()
	return func(p *cluster.Pod) bool { return selector.Matches(labels.Set(p.Labels)) && inNamespace(p.Namespace) }
}

// selectorOf compiles a selector; one that cannot be read matches nothing.
func selectorOf(s *metav1.LabelSelector) labels.Selector {
	compiled, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing()
	}
	return compiled
}

func (s *SidecarSet) namespaces() func(string) bool {
	if s.Spec.NamespaceSelector == nil {
		return func(string) bool { return true }
	}
	selector, asked := selectorOf(s.Spec.NamespaceSelector), map[string]bool{}
	return func(name string) bool {
		matches, ok := asked[name]
		if !ok {
			set, known := s.Namespaces[cmp.Or(name, corev1.NamespaceDefault)]
			matches = known && selector.Matches(labels.Set(set))
			asked[name] = matches
		}
		return matches
	}
}

// injected reports whether the pod lists the set and has its containers.
func (s *SidecarSet) injected(p *cluster.Pod) bool {
	if !s.Listed(p) {
		return false
	}
	var working map[string]string
	if s.anyHot() {
		working = WorkingContainers(p)
	}
	for i := range s.Spec.Containers {
		c := &s.Spec.Containers[i]
		for _, name := range containerNames(c) {
			if _, ok := p.Container(name); !ok {
				return false
			}
		}
		if _, ok := working[c.Name]; hot(c) && !ok {
			return false
		}
	}
	return true
}

// Listed reports whether the pod lists the set among those that were injected into it.
func (s *SidecarSet) Listed(p *cluster.Pod) bool {
	return slices.Contains(strings.Split(p.Annotations[kruise.SidecarSetInjectedListAnnotation], ","), s.Name)
}

// Updated reports whether the pod carries the set's hash.
func (s *SidecarSet) Updated(p *cluster.Pod) bool {
	return sidecarHash(p, kruise.SidecarSetHashAnnotation, s.Name) == s.Hash
}

// Upgradable reports whether the pod differs from the set in images at most;
// any other difference needs a new pod (docs/kruise/sidecarset.md#what-can-change-in-place).
func (s *SidecarSet) Upgradable(p *cluster.Pod) bool {
	return sidecarHash(p, kruise.SidecarSetHashWithoutImageAnnotation, s.Name) == s.HashWithoutImage
}

// sidecarHash reads one entry of a hash annotation, in its present or older
// form; what cannot be read is no hash.
func sidecarHash(p *cluster.Pod, annotation, set string) string {
	text := p.Annotations[annotation]
	if hash, ok := writtenHash(text, set); ok {
		return hash
	}
	var entries map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &entries) != nil {
		return ""
	}
	var entry struct {
		Hash string `json:"hash"`
	}
	if json.Unmarshal(entries[set], &entry) == nil {
		return entry.Hash
	}
	var older string
	_ = json.Unmarshal(entries[set], &older)
	return older
}

// writtenHash finds the hash where Kruise writes it: compact, and right after the
// time. It saves reading the JSON of every pod in every pass; ok is false for
// text of any other form. A quotation mark inside a text would have a backslash,
// so what is found is a key.
func writtenHash(text, set string) (hash string, ok bool) {
	const head = `":{"updateTimestamp":"`
	for rest := text; ; {
		i := strings.Index(rest, head)
		if i < 0 {
			return "", false
		}
		name := rest[:i]
		rest = rest[i+len(head):]
		if !strings.HasSuffix(name, set) || !strings.HasSuffix(name[:len(name)-len(set)], `"`) {
			continue
		}
		end := strings.IndexByte(rest, '"')
		if end < 0 {
			return "", false
		}
		hash, ok = strings.CutPrefix(rest[end:], `","hash":"`)
		if !ok {
			return "", false
		}
		hash, _, ok = strings.Cut(hash, `"`)
		return hash, ok && !strings.Contains(hash, `\`)
	}
}

func (s *SidecarSet) anyHot() bool {
	for i := range s.Spec.Containers {
		if hot(&s.Spec.Containers[i]) {
			return true
		}
	}
	return false
}

func hot(c *kruise.SidecarContainer) bool {
	return c.UpgradeStrategy.UpgradeType == kruise.SidecarContainerHotUpgrade
}

// containerNames are the names that a sidecar has in the pod.
func containerNames(c *kruise.SidecarContainer) []string {
	if hot(c) {
		return []string{c.Name + "-1", c.Name + "-2"}
	}
	return []string{c.Name}
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

// Complete reports whether the pod is consistent in all sidecars of the set.
func (s *SidecarSet) Complete(p *cluster.Pod) bool { return s.Consistent(p, s.names()...) }

// Consistent reports whether the node runs the images of the spec in the named containers, as far
// as Kruise can see (docs/kruise/sidecarset.md#when-a-pod-is-done).
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

// sidecarState is one entry of a pod's record of sidecar upgrades.
type sidecarState struct {
	Revision              string                    `json:"revision"`
	UpdateTimestamp       string                    `json:"updateTimestamp"`
	LastContainerStatuses map[string]recordedStatus `json:"lastContainerStatuses"`
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
