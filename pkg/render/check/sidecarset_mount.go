package check

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// volumes checks spec.volumes and returns their names.
func (k *setCheck) volumes() map[string]bool {
	names := map[string]bool{}
	sources := newPodVolumes(k.podReporter(k.fault), nil)
	for i, v := range tree.Items(tree.Get(k.spec, "volumes")) {
		path := fmt.Sprintf("spec.volumes[%d].name", i)
		name := tree.StrAt(v, "name")
		if names[name] && name != "" {
			k.fault(path, "", "volume %q is there twice", name)
		}
		names[name] = true
		k.dnsLabel(path, name)
		var volume corev1.Volume
		if _, err := tree.Decode(v, &volume); err == nil { // otherwise reported with the whole set
			sources.volumeSource(fmt.Sprintf("spec.volumes[%d]", i), volume.VolumeSource)
		}
	}
	return names
}

// mounts checks that each mount and device names a volume of the set and has a
// path of its own.
func (k *setCheck) mounts(path string, n *tree.Node, volumes map[string]bool) {
	used := map[string]bool{}
	for _, list := range []struct{ field, at string }{{"volumeMounts", "mountPath"}, {"volumeDevices", "devicePath"}} {
		for i, m := range tree.Items(tree.Get(n, list.field)) {
			here := fmt.Sprintf("%s.%s[%d]", path, list.field, i)
			if name := tree.StrAt(m, "name"); !volumes[name] {
				k.fault(here+".name", "add the volume to spec.volumes, or use shareVolumePolicy for volumes of the pod",
					"the set has no volume %q", name)
			}
			at := tree.StrAt(m, list.at)
			switch {
			case at == "":
				k.fault(here+"."+list.at, "", "required")
			case used[at]:
				k.fault(here+"."+list.at, "", "%q is used twice", at)
			}
			used[at] = true
		}
	}
}
