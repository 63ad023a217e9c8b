package inject

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

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

// fixed reports whether the sidecar is the same in every pod.
func (s *sidecar) fixed() bool {
	return len(s.transfer) == 0 && !s.share && !s.shareDevices && s.resources == nil
}

func (s *sidecar) hot() bool { return len(s.variants) == 2 }

// kruiseFields stand in a SidecarSet's container beside the Kubernetes ones.
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
		return nil, below(n, "resourcesPolicy", err)
	}

	base := bare(n)
	for _, field := range kruiseFields {
		tree.Delete(base, field)
	}
	s.mounts = tree.Items(tree.Get(base, "volumeMounts"))
	s.devices = tree.Items(tree.Get(base, "volumeDevices"))
	s.volumes = referenced(volumes, s.mounts, s.devices)
	own := tree.Items(tree.Get(base, "env"))
	s.env = joined(own, []*tree.Node{envVar(kruise.SidecarInjectedEnv, "true")})
	place(base, "env", tree.Seq(s.env...))

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
				out = append(out, bare(v))
			}
		}
	}
	return out
}

func envVar(name, text string) *tree.Node { return tree.Map("name", name, "value", text) }
