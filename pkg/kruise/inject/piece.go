package inject

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Piece is one container that a set puts into pods, taken apart for who cannot
// call [Inject] with the pod at hand: a policy that the API server evaluates.
type Piece struct {
	// Name is the container's, Sidecar that of the set's container: the two of a
	// hot-upgrade pair are one sidecar.
	Name, Sidecar string
	// Front is set when the container comes before the pod's own.
	Front bool
	// Node is the container as it is in a pod that has nothing to copy. It must not
	// be changed.
	Node *tree.Node
	// Copies is what the container takes over from the pod's; nil for nothing.
	Copies *Copies
}

// Copies is what a sidecar copies from the containers of a pod
// (docs/kruise/sidecarset.md#transferenv and docs/kruise/sidecarset.md#shared-mounts-and-devices).
type Copies struct {
	// Env are looked up in order.
	Env []EnvCopy
	// Behind is the number of the sidecar's own env, those at the end of its list,
	// that follow the copied ones.
	Behind int
	// Mounts and Devices are set when those of all the pod's containers are shared.
	Mounts, Devices bool
}

// EnvCopy copies env of these names from a container: the one called Container,
// or whose name is in a label or an annotation of the pod.
type EnvCopy struct {
	Container string
	// List is labels or annotations, and Key a key in it; both empty when
	// Container counts.
	List, Key string
	// Names are sorted.
	Names []string
}

// Pieces returns the containers and the init containers of the content, each in
// the order in which [Inject] merges them into the pod's list.
func (c *Content) Pieces() (inits, containers []Piece) {
	inits, containers = pieces(c.inits), pieces(c.containers)
	slices.SortStableFunc(inits, func(a, b Piece) int { return strings.Compare(a.Name, b.Name) })
	return inits, containers
}

func pieces(list []*sidecar) []Piece {
	var out []Piece
	for _, s := range list {
		for _, v := range s.variants {
			p := Piece{Name: v.name, Sidecar: s.name, Front: s.front, Node: v.node}
			if len(s.transfer) > 0 || s.share || s.shareDevices {
				p.Copies = &Copies{Behind: len(v.versions), Mounts: s.share, Devices: s.shareDevices}
				for _, t := range s.transfer {
					switch {
					case t.from == nil:
						p.Copies.Env = append(p.Copies.Env, EnvCopy{Container: t.source, Names: t.names})
					case !t.from.void:
						p.Copies.Env = append(p.Copies.Env, EnvCopy{List: t.from.list, Key: t.from.key, Names: t.names})
					}
				}
			}
			out = append(out, p)
		}
	}
	return out
}

// AnnotationPatch is what patchPodMetadata does with one annotation.
type AnnotationPatch struct {
	Key, Value string
	Policy     kruise.SidecarSetPatchPolicyType
}

// AnnotationPatches returns what patchPodMetadata does, in order
// (docs/kruise/sidecarset.md#pod-metadata).
func (c *Content) AnnotationPatches() []AnnotationPatch {
	var out []AnnotationPatch
	for _, p := range c.patches {
		for _, key := range p.keys {
			out = append(out, AnnotationPatch{Key: key, Value: p.values[key], Policy: kruise.SidecarSetPatchPolicyType(p.policy)})
		}
	}
	return out
}

// Alone returns a pod with nothing in it but what the content puts into every
// pod. The error is one for which every pod would be refused.
func (c *Content) Alone() (*tree.Node, error) {
	out, err := Inject(tree.Map("spec", tree.Map("containers", tree.Seq())), []*Content{c}, Options{})
	if err != nil {
		return nil, err
	}
	return out.Pod, nil
}

// Paused reports whether injectionStrategy.paused is set.
func (s *Set) Paused() bool { return s.paused }

// Base is the name of the set whose canary this one is, "" for none.
func (s *Set) Base() string { return s.base }

// Selectors return what the pod's labels and the namespace's must match;
// namespaces is nil when every namespace does.
func (s *Set) Selectors() (pods, namespaces labels.Selector) {
	if s.namespaces == nil {
		return s.selector, nil
	}
	return s.selector, s.namespaces.all
}
