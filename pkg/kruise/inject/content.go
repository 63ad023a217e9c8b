package inject

import (
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Content is what one revision of a SidecarSet puts into a pod: its
// containers, volumes, pull secrets and annotations. It is made once and
// shared by all pods; nothing changes it.
type Content struct {
	// Set is the SidecarSet's name, Revision that of the stored revision; ""
	// for the current spec.
	Set, Revision string

	spec       *tree.Node
	inits      []*sidecar
	containers []*sidecar
	secrets    []*tree.Node
	patches    []patch
	weight     tree.Weight
}

// compileContent reads the fields of spec that a stored revision also has.
func compileContent(set, revision string, spec *tree.Node) (*Content, error) {
	c := &Content{Set: set, Revision: revision, spec: spec}
	volumes := tree.Get(spec, "volumes")
	var err error
	if c.inits, err = compileSidecars(spec, "initContainers", true, volumes); err != nil {
		return nil, err
	}
	if c.containers, err = compileSidecars(spec, "containers", false, volumes); err != nil {
		return nil, err
	}
	for _, s := range tree.Items(tree.Get(spec, "imagePullSecrets")) {
		c.secrets = append(c.secrets, withoutComments(s))
	}
	c.patches = compilePatches(tree.Get(spec, "patchPodMetadata"))
	c.weight = tree.Weigh(volumes).Add(tree.Weigh(tree.Get(spec, "imagePullSecrets"))).Add(tree.Weigh(tree.Get(spec, "patchPodMetadata")))
	for _, s := range c.all() {
		for _, v := range s.variants {
			c.weight = c.weight.Add(tree.Weigh(v.node))
		}
	}
	return c, nil
}

func compileSidecars(spec *tree.Node, field string, init bool, volumes *tree.Node) ([]*sidecar, error) {
	var out []*sidecar
	for i, n := range tree.Items(tree.Get(spec, field)) {
		s, err := compileSidecar(n, init, volumes)
		if err != nil {
			return nil, prefixPath(spec, fmt.Sprintf("%s[%d]", field, i), err)
		}
		s.field = fmt.Sprintf("spec.%s[%d]", field, i)
		out = append(out, s)
	}
	return out, nil
}

// Weight is how much of the content each pod gets, without what its sidecars share of
// the pod's own containers.
func (c *Content) Weight() tree.Weight { return c.weight }

// Shares is how many containers of the content take over the volume mounts or devices of
// the pod's own containers.
func (c *Content) Shares() int {
	n := 0
	for _, s := range c.all() {
		if s.share || s.shareDevices {
			n += len(s.variants)
		}
	}
	return n
}

func (c *Content) all() []*sidecar { return slices.Concat(c.inits, c.containers) }

// Sidecars returns what Kruise lists as sidecarList: the names of the
// containers and of the native init containers, sorted. It is never nil.
func (c *Content) Sidecars() []string {
	names := []string{}
	for _, s := range c.inits {
		if s.native {
			names = append(names, s.name)
		}
	}
	for _, s := range c.containers {
		names = append(names, s.name)
	}
	slices.Sort(names)
	return names
}

// Hashes returns the two hashes that Kruise stores for this content
// (docs/kruise/sidecarset.md#hashes).
func (c *Content) Hashes() (full, withoutImage string, err error) { return Hashes(c.spec) }

// HasPullSecrets reports whether the content adds imagePullSecrets.
func (c *Content) HasPullSecrets() bool { return len(c.secrets) > 0 }

// HasResourcesPolicy reports whether a sidecar computes its resources.
func (c *Content) HasResourcesPolicy() bool {
	return slices.ContainsFunc(c.all(), func(s *sidecar) bool { return s.resources != nil })
}

// HasResourcesPolicy reports whether a sidecar of any revision of the set computes its
// resources.
func (s *Set) HasResourcesPolicy() bool {
	return s.current.HasResourcesPolicy() || s.chosen != nil && s.chosen.HasResourcesPolicy()
}

// reads reports whether a sidecar copies from the pod's containers.
func (c *Content) reads() bool {
	return slices.ContainsFunc(c.all(), func(s *sidecar) bool { return len(s.transfer) > 0 || s.share || s.shareDevices })
}

// sidecar is one container of a SidecarSet, compiled. Its nodes are shared by
// all pods and never changed.
type sidecar struct {
	name string
	// field is where it is in the set: spec.containers[0].
	field    string
	front    bool // BeforeAppContainer
	native   bool // an init container with restartPolicy Always
	variants []variant
	// env is the sidecar's own, with IS_INJECTED behind.
	env     []*tree.Node
	mounts  []*tree.Node
	devices []*tree.Node
	// volumes are those of the set that own mounts, then own devices, name.
	volumes      []*tree.Node
	transfer     []transfer
	share        bool
	shareDevices bool
	resources    *resourcesPolicy
	// noEmptyImage is set for HotUpgrade without hotUpgradeEmptyImage.
	noEmptyImage bool
}

// variant is what is written: one per sidecar, two with HotUpgrade.
type variant struct {
	name string
	// node is the whole container as it is when nothing depends on the pod.
	node *tree.Node
	// versions are the two env of a hot upgrade, behind all others.
	versions []*tree.Node
}

// kruiseFields are the fields of a SidecarSet's container that a pod's container has not.
var kruiseFields = []string{
	"podInjectPolicy", "upgradeStrategy", "shareVolumePolicy",
	"shareVolumeDevicePolicy", "transferEnv", "resourcesPolicy",
}

// compileSidecar reads one container (init: init container) of a set with
// volumes.
func compileSidecar(n *tree.Node, init bool, volumes *tree.Node) (*sidecar, error) {
	s := &sidecar{name: tree.StrAt(n, "name")}
	if !tree.IsMap(n) || s.name == "" {
		return nil, tree.Errorf(n, "name", "", "the container has no name")
	}
	s.native = init && tree.StrAt(n, "restartPolicy") == "Always"
	policy := tree.StrAt(n, "podInjectPolicy")
	s.front = policy == string(kruise.BeforeAppContainerType) || policy == "" && !init
	s.share = tree.StrAt(n, "shareVolumePolicy", "type") == string(kruise.ShareVolumePolicyEnabled)
	s.shareDevices = tree.StrAt(n, "shareVolumeDevicePolicy", "type") == string(kruise.ShareVolumePolicyEnabled)
	s.transfer = compileTransfers(tree.Get(n, "transferEnv"))
	var err error
	if s.resources, err = compileResources(tree.Get(n, "resourcesPolicy")); err != nil {
		return nil, prefixPath(n, "resourcesPolicy", err)
	}

	base := withoutComments(n)
	for _, field := range kruiseFields {
		tree.Delete(base, field)
	}
	s.mounts = tree.Items(tree.Get(base, "volumeMounts"))
	s.devices = tree.Items(tree.Get(base, "volumeDevices"))
	s.volumes = referenced(volumes, s.mounts, s.devices)
	own := tree.Items(tree.Get(base, "env"))
	s.env = appendCopy(own, []*tree.Node{tree.Map("name", kruise.SidecarInjectedEnv, "value", "true")})
	setField(base, "env", tree.Seq(s.env...))

	s.variants = []variant{{name: s.name, node: base}}
	if tree.StrAt(n, "upgradeStrategy", "upgradeType") == string(kruise.SidecarContainerHotUpgrade) && (!init || s.native) {
		empty := tree.StrAt(n, "upgradeStrategy", "hotUpgradeEmptyImage")
		s.noEmptyImage = empty == ""
		s.variants = hotPair(s, base, empty)
	}
	return s, nil
}

// referenced returns the volumes of the set that the mounts, then the devices,
// name: in that order, each once.
func referenced(volumes *tree.Node, lists ...[]*tree.Node) []*tree.Node {
	var out []*tree.Node
	seen := map[string]bool{}
	for _, list := range lists {
		for _, m := range list {
			name := tree.StrAt(m, "name")
			if v, _ := tree.Find(volumes, "name", name); v != nil && !seen[name] {
				seen[name] = true
				out = append(out, withoutComments(v))
			}
		}
	}
	return out
}
