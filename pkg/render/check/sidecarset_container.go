package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

var containerLists = []string{"containers", "initContainers"}

func (k *sidecarSetCheck) containers() {
	count := 0
	for _, list := range containerLists {
		for i, n := range tree.Items(tree.Get(k.spec, list)) {
			count++
			path := fmt.Sprintf("spec.%s[%d]", list, i)
			if !tree.IsMap(n) {
				k.fault(path, "", "want a container")
				continue
			}
			k.container(path, n, list == "initContainers")
		}
	}
	if count == 0 {
		k.fault("spec.containers", "", "a SidecarSet needs containers or initContainers")
	}
	k.pod()
}

// pod checks containers and volumes by Kubernetes' rules for a pod that has only these. The
// webhook gives a startupProbe no defaults.
func (k *sidecarSetCheck) pod() {
	var t corev1.PodTemplateSpec
	containers := decodeEach(k.spec, "containers", &t.Spec.Containers)
	inits := decodeEach(k.spec, "initContainers", &t.Spec.InitContainers)
	volumes := decodeEach(k.spec, "volumes", &t.Spec.Volumes)
	if len(t.Spec.Containers) == 0 {
		t.Spec.Containers = []corev1.Container{{Name: "pod", Image: "pod"}}
	}
	refused := createErrors("pod", knownFields(k.c.Kruise.OrNewest(), &t), false)
	places := map[string]string{}
	for list, indices := range map[string][]int{"containers": containers, "initContainers": inits, "volumes": volumes} {
		for i, index := range indices {
			places[fmt.Sprintf("pod.spec.%s[%d]", list, i)] = fmt.Sprintf("spec.%s[%d]", list, index)
		}
	}
	k.podErrors(func(path, hint, format string, args ...any) {
		switch plain := withoutIndices(path); {
		case strings.HasSuffix(plain, ".volumeMounts.name"), strings.HasSuffix(plain, ".volumeDevices.name"):
			hint = "add the volume to spec.volumes, or use shareVolumePolicy for volumes of the pod"
		case strings.Contains(plain, ".startupProbe."):
			hint = "a SidecarSet's startupProbe gets no defaults: write the value out"
		}
		k.fault(path, hint, format, args...)
	}, only(refused, places, isAny))
}

// decodeEach decodes those items of a list that can be decoded, and returns their indices in it;
// the others are reported with the whole set.
func decodeEach[T any](n *tree.Node, list string, into *[]T) (indices []int) {
	for i, item := range tree.Items(tree.Get(n, list)) {
		var one T
		if _, err := tree.Decode(item, &one); err == nil && tree.IsMap(item) {
			*into = append(*into, one)
			indices = append(indices, i)
		}
	}
	return indices
}

// container checks what Kruise adds to a container, and its image.
func (k *sidecarSetCheck) container(path string, n *tree.Node, init bool) {
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
