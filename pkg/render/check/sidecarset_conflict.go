package check

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// conflicts reports names that other sets, which a pod may match together with this one,
// want too. Sets of the input are created in their order, so the later of two is at fault.
func (k *sidecarSetCheck) conflicts() {
	own := scopeOf(k.hub)
	if own == nil {
		return
	}
	x, id := indexSets(k.c.Facts), k.c.Facts.IDOf(k.r)
	for _, name := range namesOfSet(k.hub) {
		others := x.wanting[name].first(own.pods, func(place int) bool {
			o, scope := x.all[place], x.scopes[place]
			return o.id.Namespace == id.Namespace && x.existsBefore(place, k.Object, id) &&
				mayOverlap(own.pods, scope.pods) && mayOverlap(own.namespaces, scope.namespaces) &&
				baseOf(k.hub) != o.r.Name() && baseOf(o.r.Node()) != k.r.Name() && // neither is the other's canary
				k.clashes(name, o.r.Node())
		})
		if len(others) > 0 {
			path, what := name.describe()
			k.fault(path, "rename it, or make the selectors of the two sets disjoint",
				"%s is also in SidecarSet %s, and a pod may match both", what, x.names(others))
		}
	}
}

// clashes reports whether both sets cannot have the name that both want.
func (k *sidecarSetCheck) clashes(name nameIn, other *tree.Node) bool {
	switch name.list {
	case volumeNames:
		mine, _ := tree.Find(tree.Get(k.spec, volumeNames), "name", name.name)
		theirs, _ := tree.Find(tree.Get(other, "spec", volumeNames), "name", name.name)
		return !sameVolume(mine, theirs)
	case annotationNames:
		return patchedAnnotations(k.hub)[name.name] || patchedAnnotations(other)[name.name]
	}
	return true
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
	// wanting are the sets that want a name.
	wanting map[nameIn]*selectorGroups
}

// selectorGroups are sets in groups by the keys of their selectors, in the order of the first set of each
// group.
type selectorGroups struct {
	byKeys map[string]*selectorGroup
	groups []*selectorGroup
}

// first returns the indices of the first sets for which a condition holds, of those whose
// selectors may overlap with these requirements.
func (w *selectorGroups) first(pods wants, holds func(place int) bool) (out []int) {
	if w == nil {
		return nil
	}
	for _, a := range w.groups {
		if len(out) > counted.MostNamed && a.all[0] > out[counted.MostNamed] {
			break
		}
		out = append(out, first(a.candidates(pods), holds)...)
		slices.Sort(out)
		out = out[:min(len(out), counted.MostNamed+1)]
	}
	return out
}

// nameIn is the name of a container, a volume or an annotation.
type nameIn struct{ list, name string }

// The lists of names that are none of containers.
const (
	volumeNames     = "volumes"
	annotationNames = "annotations"
)

// describe returns the field that has the name, and what it is the name of.
func (n nameIn) describe() (path, what string) {
	switch n.list {
	case volumeNames:
		return "spec.volumes", "volume " + n.name + ", with different content,"
	case annotationNames:
		return "spec.patchPodMetadata", "annotation " + n.name
	}
	return "spec." + n.list, "container " + n.name
}

// scope is what a set selects; nil selects everything.
type scope struct{ pods, namespaces wants }

// setsKey is the key of what is worked out once for all sets.
type setsKey struct{}

// indexSets returns the index of all sets; it is made once for all objects.
func indexSets(f *resource.Facts) *sets {
	return resource.Once(f, setsKey{}, func() *sets {
		p := findPeers(f, kruise.Group, kruise.KindSidecarSet)
		x := &sets{peers: p, scopes: make([]*scope, len(p.all)), wanting: map[nameIn]*selectorGroups{}}
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
	w := x.wanting[name]
	if w == nil {
		w = &selectorGroups{byKeys: map[string]*selectorGroup{}}
		x.wanting[name] = w
	}
	pods := x.scopes[place].pods
	a := w.byKeys[groupKey("", pods)]
	if a == nil {
		a = newSelectorGroup(pods)
		w.byKeys[groupKey("", pods)] = a
		w.groups = append(w.groups, a)
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

// namesOfSet are the names that a set wants in a pod, each once. Two sets without a common one
// do not clash.
func namesOfSet(set *tree.Node) (out []nameIn) {
	for _, list := range append(slices.Clip(containerLists), volumeNames) {
		for _, n := range tree.Items(tree.Get(set, "spec", list)) {
			if name := (nameIn{list, tree.StrAt(n, "name")}); name.name != "" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(patchedAnnotations(set))) {
		out = append(out, nameIn{annotationNames, key})
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
