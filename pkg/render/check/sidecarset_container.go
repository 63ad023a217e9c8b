package check

import (
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

var containerLists = []string{"containers", "initContainers"}

func (k *sidecarSetCheck) containers() {
	volumes := k.volumes()
	seen := map[string]string{}
	count := 0
	for _, list := range containerLists {
		for i, n := range tree.Items(tree.Get(k.spec, list)) {
			count++
			path := fmt.Sprintf("spec.%s[%d]", list, i)
			if !tree.IsMap(n) {
				k.fault(path, "", "want a container")
				continue
			}
			k.unique(path, tree.StrAt(n, "name"), seen)
			k.container(path, n, list == "initContainers")
			k.mounts(path, n, volumes)
			k.startupProbe(path, n)
			k.pod(path, n, list == "initContainers")
		}
	}
	if count == 0 {
		k.fault("spec.containers", "", "a SidecarSet needs containers or initContainers")
	}
}

func (k *sidecarSetCheck) unique(path, name string, seen map[string]string) {
	if first, dup := seen[name]; dup && name != "" {
		k.fault(path+".name", "", "%q is also the name of %s", name, first)
	}
	seen[name] = path
	k.dnsLabel(path+".name", name)
}

func (k *sidecarSetCheck) dnsLabel(path, name string) {
	if name == "" {
		k.fault(path, "", "required")
		return
	}
	for _, msg := range validation.IsDNS1123Label(name) {
		k.fault(path, "", "%q: %s", name, msg)
	}
}

// container checks what Kruise adds to a container, and its image.
func (k *sidecarSetCheck) container(path string, n *tree.Node, init bool) {
	(&podContainers{podReporter: &podReporter{fault: k.fault, refusedInPods: k.fault}}).image(path+".image", tree.StrAt(n, "image"))
	native := init && tree.StrAt(n, "restartPolicy") == "Always"
	if native && k.updateType() == "RollingUpdate" {
		k.fault(path+".restartPolicy", "set spec.updateStrategy.type to NotUpdate",
			"a native sidecar cannot be updated in place, so updateStrategy.type RollingUpdate, the default, is not allowed")
	}
	k.policies(path, n, init)
	if !init {
		k.transferEnv(path, n)
	}
	k.resourcesPolicy(path, n, init && !native)
	k.upgradeStrategy(path, n, !init || native)
}

// pod checks the container by Kubernetes' rules for containers of pods.
func (k *sidecarSetCheck) pod(path string, n *tree.Node, init bool) {
	var c corev1.Container
	if _, err := tree.Decode(n, &c); err != nil {
		return // reported with the whole set
	}
	volumes := newPodVolumes(k.podReporter(k.fault), nil)
	newPodContainers(volumes.podReporter, volumes).fields(path, &c, init)
	probeHandlers(k.fault, path+".startupProbe", c.StartupProbe)
	for i, m := range c.VolumeMounts {
		volumes.volumeMount(fmt.Sprintf("%s.volumeMounts[%d]", path, i), m)
	}
}

// policies checks the policies of regular containers; in an init container, an unknown value
// counts as the default.
func (k *sidecarSetCheck) policies(path string, n *tree.Node, init bool) {
	policy := tree.StrAt(n, "podInjectPolicy")
	share := tree.StrAt(n, "shareVolumePolicy", "type")
	known := policy == "" || policy == "BeforeAppContainer" || policy == "AfterAppContainer"
	switch {
	case !known && init:
		k.c.Findings.Add("sidecarset/ignored-value", k.r, path+".podInjectPolicy", "")
	case !known:
		k.fault(path+".podInjectPolicy", "", "want BeforeAppContainer or AfterAppContainer, got %q", policy)
	}
	if share != "" && share != "enabled" && share != "disabled" && !init {
		k.fault(path+".shareVolumePolicy.type", "", "want enabled or disabled, got %q", share)
	}
}

func (k *sidecarSetCheck) transferEnv(path string, n *tree.Node) {
	for i, entry := range tree.Items(tree.Get(n, "transferEnv")) {
		ref := tree.Get(entry, "sourceContainerNameFrom", "fieldRef")
		if field := tree.StrAt(ref, "fieldPath"); ref != nil && !inject.SupportedFieldPath(field) {
			k.fault(fmt.Sprintf("%s.transferEnv[%d].sourceContainerNameFrom.fieldRef.fieldPath", path, i),
				"use metadata.annotations['KEY'] or metadata.labels['KEY']", "%q cannot be resolved", field)
		}
	}
}

func (k *sidecarSetCheck) upgradeStrategy(path string, n *tree.Node, hot bool) {
	switch kind := tree.StrAt(n, "upgradeStrategy", "upgradeType"); {
	case kind == "HotUpgrade" && hot && tree.StrAt(n, "upgradeStrategy", "hotUpgradeEmptyImage") == "":
		k.c.Findings.Add("sidecarset/no-empty-image", k.r, path+".upgradeStrategy", "")
	case !slices.Contains([]string{"", "ColdUpgrade", "HotUpgrade"}, kind):
		k.c.Findings.Add("sidecarset/ignored-value", k.r, path+".upgradeStrategy.upgradeType", "")
	}
}

// startupProbe wants the values for which other probes have defaults
// (docs/kruise/sidecarset.md#observed-on-a-cluster).
func (k *sidecarSetCheck) startupProbe(path string, n *tree.Node) {
	probe := tree.Get(n, "startupProbe")
	if probe == nil {
		return
	}
	const hint = "a SidecarSet's startupProbe gets no defaults: write the value out"
	if get := tree.Get(probe, "httpGet"); get != nil && tree.StrAt(get, "scheme") == "" {
		k.fault(path+".startupProbe.httpGet.scheme", hint, "required")
	}
	if v, _ := tree.Int(tree.Get(probe, "successThreshold")); v != 1 {
		k.fault(path+".startupProbe.successThreshold", hint, "must be 1")
	}
}

// volumes checks spec.volumes and returns their names.
func (k *sidecarSetCheck) volumes() map[string]bool {
	names := map[string]bool{}
	sources := newPodVolumes(k.podReporter(k.fault), nil)
	for i, v := range tree.Items(tree.Get(k.spec, "volumes")) {
		path := fmt.Sprintf("spec.volumes[%d].name", i)
		name := tree.StrAt(v, "name")
		if names[name] && name != "" {
			k.fault(path, "", "volume %q is listed twice", name)
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
func (k *sidecarSetCheck) mounts(path string, n *tree.Node, volumes map[string]bool) {
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

func (k *sidecarSetCheck) resourcesPolicy(path string, n *tree.Node, plainInit bool) {
	p := tree.Get(n, "resourcesPolicy")
	if p == nil {
		return
	}
	path += ".resourcesPolicy"
	if plainInit {
		k.fault(path, "set restartPolicy: Always, or remove it", "only native init containers may have a resourcesPolicy")
	}
	for _, list := range []string{"limits", "requests"} {
		if values := tree.Get(n, "resources", list); tree.IsMap(values) && len(values.Content) > 0 {
			k.fault(path, "remove one of the two", "resources.%s and resourcesPolicy are mutually exclusive", list)
			break
		}
	}
	if mode := tree.StrAt(p, "targetContainersMode"); mode != "sum" && mode != "max" {
		k.fault(path+".targetContainersMode", "", "want sum or max, got %q", mode)
	}
	if r := tree.Get(p, "targetContainersNameRegex"); r != nil {
		if tree.Str(r) == "" {
			k.fault(path+".targetContainersNameRegex", "leave it out to mean every container", "must not be empty")
		} else if _, err := regexp.Compile(tree.Str(r)); err != nil {
			k.fault(path+".targetContainersNameRegex", "", "%v", err)
		}
	}
	k.expressions(path+".resourcesExpr", tree.Get(p, "resourcesExpr"))
}

func (k *sidecarSetCheck) expressions(path string, n *tree.Node) {
	if tree.Get(n, "limits") == nil && tree.Get(n, "requests") == nil {
		k.fault(path, "", "at least one of limits and requests is required")
	}
	for _, list := range []string{"limits", "requests"} {
		for _, name := range []string{"cpu", "memory"} {
			text := tree.StrAt(n, list, name)
			if text == "" {
				continue
			}
			e, err := inject.ParseExpression(text, name)
			if err == nil {
				err = e.Check()
			}
			if err != nil {
				k.fault(path+"."+list+"."+name, "Kruise evaluates the expression with 1 for "+name, "%v", err)
			}
		}
	}
}
