package lint

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Rules about values that the webhook of SidecarSets takes although they do
// nothing, or harm when pods are created (docs/kruise/sidecarset.md#observed-on-a-cluster).
var _ = advise(
	advice{
		Rule:  Rule{ID: "sidecarset/unknown-value", Kind: kruise.KindSidecarSet, Severity: Warning, Doc: "A word that Kruise does not know is accepted in podInjectPolicy of an init container, in patchPolicy and in updateStrategy.type, and does something else than its neighbours."},
		kinds: []string{sidecarSet}, look: typed(unknownValues),
	},
	advice{
		Rule:  Rule{ID: "sidecarset/hot-upgrade-without-empty-image", Kind: kruise.KindSidecarSet, Severity: Warning, Doc: "A hot upgrade without hotUpgradeEmptyImage is accepted, and every pod that the set matches is refused."},
		kinds: []string{sidecarSet}, look: typed(noEmptyImage),
	},
	advice{
		Rule:  Rule{ID: "sidecarset/merge-patch-not-json", Kind: kruise.KindSidecarSet, Severity: Warning, Doc: "With MergePatchJson an annotation that is not JSON is accepted, and pods that have the key already are refused."},
		kinds: []string{sidecarSet}, look: typed(noJSON),
	},
	advice{
		Rule:  Rule{ID: "sidecarset/unused-volume", Kind: kruise.KindSidecarSet, Severity: Info, Doc: "A volume that no container of the set mounts is not injected."},
		kinds: []string{sidecarSet}, look: typed(unusedVolumes),
	},
	advice{
		Rule:  Rule{ID: "sidecarset/max-unavailable-zero", Kind: kruise.KindSidecarSet, Severity: Warning, Doc: "maxUnavailable 0 is accepted, and only pods that are not ready are updated."},
		kinds: []string{sidecarSet}, look: typed(noneUnavailable),
	},
	advice{
		Rule:  Rule{ID: "sidecarset/partition-updates-nothing", Kind: kruise.KindSidecarSet, Severity: Warning, Doc: "A partition of 100% keeps every injected pod at the old revision."},
		kinds: []string{sidecarSet}, look: typed(allKeptOld),
	},
)

func unknownValues(s *subject, set *kruise.SidecarSet) {
	unknown := func(path, value, effect string, legal ...string) {
		if value != "" && !slices.Contains(legal, value) {
			s.say(path, "one of: "+strings.Join(legal, ", "), "%q is accepted, and %s", value, effect)
		}
	}
	for i, c := range set.Spec.InitContainers {
		unknown(fmt.Sprintf("spec.initContainers[%d].podInjectPolicy", i), string(c.PodInjectPolicy), "acts like AfterAppContainer",
			string(kruise.BeforeAppContainerType), string(kruise.AfterAppContainerType))
	}
	for i, p := range set.Spec.PatchPodMetadata {
		unknown(fmt.Sprintf("spec.patchPodMetadata[%d].patchPolicy", i), string(p.PatchPolicy), "writes nothing",
			string(kruise.SidecarSetRetainPatchPolicy), string(kruise.SidecarSetOverwritePatchPolicy), string(kruise.SidecarSetMergePatchJSONPatchPolicy))
	}
	unknown("spec.updateStrategy.type", string(set.Spec.UpdateStrategy.Type), "does not say whether pods follow",
		string(kruise.RollingUpdateSidecarSetStrategyType), string(kruise.NotUpdateSidecarSetStrategyType))
}

func noEmptyImage(s *subject, set *kruise.SidecarSet) {
	for i, c := range set.Spec.Containers {
		if c.UpgradeStrategy.UpgradeType == kruise.SidecarContainerHotUpgrade && c.UpgradeStrategy.HotUpgradeEmptyImage == "" {
			s.say(fmt.Sprintf("spec.containers[%d].upgradeStrategy", i), "give hotUpgradeEmptyImage: what the idle one of the pair runs", "every pod that matches will be refused: container %s has no empty image", c.Name)
		}
	}
}

func noJSON(s *subject, set *kruise.SidecarSet) {
	for i, p := range set.Spec.PatchPodMetadata {
		if p.PatchPolicy != kruise.SidecarSetMergePatchJSONPatchPolicy {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(p.Annotations)) {
			if !json.Valid([]byte(p.Annotations[key])) {
				s.say(fmt.Sprintf("spec.patchPodMetadata[%d].annotations[%s]", i, key), "write a JSON object", "is not JSON: pods that have this annotation will be refused")
			}
		}
	}
}

func unusedVolumes(s *subject, set *kruise.SidecarSet) {
	used := map[string]bool{}
	for _, c := range slices.Concat(set.Spec.InitContainers, set.Spec.Containers) {
		for _, m := range c.VolumeMounts {
			used[m.Name] = true
		}
		for _, d := range c.VolumeDevices {
			used[d.Name] = true
		}
	}
	for i, v := range set.Spec.Volumes {
		if !used[v.Name] {
			s.say(fmt.Sprintf("spec.volumes[%d]", i), "mount it in a container of the set, or take it out", "volume %s is mounted by no container of the set, and is not injected", v.Name)
		}
	}
}

func noneUnavailable(s *subject, set *kruise.SidecarSet) {
	m := set.Spec.UpdateStrategy.MaxUnavailable
	if m != nil && set.Spec.UpdateStrategy.Type != kruise.NotUpdateSidecarSetStrategyType && of(m, many) == 0 {
		s.say("spec.updateStrategy.maxUnavailable", "allow at least 1", "comes to 0: pods that are ready are never updated")
	}
}

// many is a number of pods that no percentage above 0 makes 0.
const many = 1_000_000

func allKeptOld(s *subject, set *kruise.SidecarSet) {
	if p := set.Spec.UpdateStrategy.Partition; p != nil && p.StrVal == "100%" {
		s.say("spec.updateStrategy.partition", "lower the partition to update pods", "keeps all pods old")
	}
}
