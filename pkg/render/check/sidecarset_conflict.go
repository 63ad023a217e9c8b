package check

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// conflicts reports names that another set, which a pod may match together with this one,
// wants too. Sets of the input are created in their order, so the later of two is at fault.
func (k *sidecarSetCheck) conflicts() {
	for _, r := range k.overlappingSets() {
		if k.isCanaryPair(r) {
			continue
		}
		for _, c := range k.conflictsWith(r.Node()) {
			k.fault(c.path, "rename it, or make the selectors of the two sets disjoint",
				"%s is also in SidecarSet %s, and a pod may match both", c.what, r.Name())
		}
	}
}

// isCanaryPair reports whether one of the two is the other's canary.
func (k *sidecarSetCheck) isCanaryPair(r *resource.Resource) bool {
	return baseOf(k.hub) == r.Name() || baseOf(r.Node()) == k.r.Name()
}

// conflict is a name that two sets want.
type conflict struct{ path, what string }

func (k *sidecarSetCheck) conflictsWith(other *tree.Node) []conflict {
	var out []conflict
	for _, list := range containerLists {
		for _, n := range tree.Items(tree.Get(k.spec, list)) {
			name := tree.StrAt(n, "name")
			if same, _ := tree.Find(tree.Get(other, "spec", list), "name", name); same != nil && name != "" {
				out = append(out, conflict{"spec." + list, "container " + name})
			}
		}
	}
	for _, v := range tree.Items(tree.Get(k.spec, "volumes")) {
		name := tree.StrAt(v, "name")
		if same, _ := tree.Find(tree.Get(other, "spec", "volumes"), "name", name); same != nil && name != "" && !sameVolume(v, same) {
			out = append(out, conflict{"spec.volumes", "volume " + name + ", with different content,"})
		}
	}
	theirs := patchedAnnotations(other)
	for key, overwrite := range patchedAnnotations(k.hub) {
		if o, ok := theirs[key]; ok && (o || overwrite) {
			out = append(out, conflict{"spec.patchPodMetadata", "annotation " + key})
		}
	}
	return out
}

// patchedAnnotations are the annotations that a set patches with another policy than
// Retain, and whether it is Overwrite.
func patchedAnnotations(set *tree.Node) map[string]bool {
	out := map[string]bool{}
	for _, entry := range tree.Items(tree.Get(set, "spec", "patchPodMetadata")) {
		policy := tree.StrAt(entry, "patchPolicy")
		if policy == "" || policy == "Retain" {
			continue
		}
		tree.Each(tree.Get(entry, "annotations"), func(key, _ *tree.Node) {
			out[key.Value] = policy == "Overwrite"
		})
	}
	return out
}

// sets is an index of the SidecarSets by the names that they want in pods, so that each is
// compared only with those that it may conflict with.
type sets struct {
	*peers
	// scopes are by index; nil for a set that cannot be read.
	scopes []*scope
	// wanting are the sets that want a name, by the keys of their selectors.
	wanting map[nameIn]map[string]*selectorGroup
}

// nameIn is the name of a container, a volume or an annotation.
type nameIn struct{ list, name string }

// scope is what a set selects; nil selects everything.
type scope struct{ pods, namespaces wants }

// setsKey is the key of what is worked out once for all sets.
type setsKey struct{}

// indexSets returns the index of all sets; it is made once for all objects.
func indexSets(f *resource.Facts) *sets {
	return resource.Once(f, setsKey{}, func() *sets {
		p := findPeers(f, kruise.Group, kruise.KindSidecarSet)
		x := &sets{peers: p, scopes: make([]*scope, len(p.all)), wanting: map[nameIn]map[string]*selectorGroup{}}
		for place, o := range p.all {
			if x.scopes[place] = scopeOf(o.r.Node()); x.scopes[place] == nil {
				continue
			}
			for _, name := range namesOfSet(o.r.Node()) {
				x.add(name, place)
			}
		}
		return x
	})
}

func (x *sets) add(name nameIn, place int) {
	if x.wanting[name] == nil {
		x.wanting[name] = map[string]*selectorGroup{}
	}
	pods := x.scopes[place].pods
	a := x.wanting[name][groupKey("", pods)]
	if a == nil {
		a = newSelectorGroup(pods)
		x.wanting[name][groupKey("", pods)] = a
	}
	a.add(place, pods)
}

// scopeOf reads the selectors of a set in any version; nil if that fails, which is reported
// for that set.
func scopeOf(n *tree.Node) *scope {
	hub, _, err := kruise.ToHub(n)
	if err != nil {
		return nil
	}
	pods, errPods := wantsOf(tree.Get(hub, "spec", "selector"))
	namespaces, errNamespaces := wantsOf(tree.Get(hub, "spec", "namespaceSelector"))
	if errPods != nil || errNamespaces != nil {
		return nil
	}
	return &scope{pods, namespaces}
}

// wantsOf reads a selector; nil wants nothing.
func wantsOf(n *tree.Node) (wants, error) {
	if n == nil {
		return nil, nil
	}
	s, err := labelSelector(n)
	if err != nil {
		return nil, err
	}
	return requirements(s), nil
}

// mayMeet reports whether a pod may match both.
func (s *scope) mayMeet(o *scope) bool {
	return mayOverlap(s.pods, o.pods) && mayOverlap(s.namespaces, o.namespaces)
}

// namesOfSet are the names that a set wants in a pod, each once. Two sets without a common one
// do not clash.
func namesOfSet(set *tree.Node) (out []nameIn) {
	for _, list := range append(slices.Clip(containerLists), "volumes") {
		for _, n := range tree.Items(tree.Get(set, "spec", list)) {
			if name := (nameIn{list, tree.StrAt(n, "name")}); name.name != "" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	for key := range patchedAnnotations(set) {
		out = append(out, nameIn{"annotations", key})
	}
	return out
}

// overlappingSets returns the existing sets that a pod may match together with this one and
// that want one of its names, in the order in which they are created.
func (k *sidecarSetCheck) overlappingSets() (out []*resource.Resource) {
	own := scopeOf(k.hub)
	if own == nil {
		return nil
	}
	x, id := indexSets(k.c.Facts), k.c.Facts.IDOf(k.r)
	var places []int
	for _, name := range namesOfSet(k.hub) {
		for _, a := range x.wanting[name] {
			places = append(places, a.candidates(own.pods)...)
		}
	}
	slices.Sort(places)
	for _, place := range slices.Compact(places) {
		if o := x.all[place]; o.id.Namespace == id.Namespace && x.existsBefore(place, k.Object, id) && own.mayMeet(x.scopes[place]) {
			out = append(out, o.r)
		}
	}
	return out
}

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
