package lint

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Rules about SidecarSets.
var sidecarSetAdvice = []advice{
	{id: "sidecarset/matches-nothing", kinds: []string{sidecarSet}, check: matchesNothing},
	{id: "sidecarset/matches-across-namespaces", kinds: []string{sidecarSet}, check: matchesAcross},
	{id: "sidecarset/hot-upgrade-without-post-start", kinds: []string{sidecarSet}, check: hotUpgrade},
	{id: "sidecarset/not-upgradable", kinds: []string{sidecarSet}, check: notUpgradable},
	{id: "sidecarset/requests-above-limits", kinds: []string{anything}, check: requestsAboveLimits},
}

// requestsAboveLimits reports for a SidecarSet the workloads for which it computes a request
// above its limit, and for a workload the SidecarSets that do so and are not checked
// themselves.
func requestsAboveLimits(s *subject) {
	const hint = "keep the expression of the request below that of the limit, for instance by min(...)"
	for _, e := range s.excesses() {
		switch {
		case s.r.Is(kruise.Group, kruise.KindSidecarSet) && s.r.Name() == e.Set:
			s.report(e.Field, hint, "%s", e)
		case s.r == e.Owner && !slices.ContainsFunc(s.request.Objects, func(r *resource.Resource) bool { return r.Is(kruise.Group, kruise.KindSidecarSet) && r.Name() == e.Set }):
			s.reportAt("", hint, "SidecarSet %s, %s: %s", e.Set, e.Field, e)
		}
	}
}

func matchesNothing(s *subject) {
	matched, ok := s.matched()
	if ok && len(matched) == 0 && len(s.templates) > 0 {
		s.report("spec.selector", "compare with the labels of the pod templates, or add other existing objects with --with", "matches none of the %d known pod templates", len(s.templates))
	}
}

func matchesAcross(s *subject) {
	var set kruise.SidecarSet
	if !s.decode(&set) || set.Spec.NamespaceSelector != nil {
		return
	}
	matched, _ := s.matched()
	var spaces []string
	for _, t := range matched {
		if !slices.Contains(spaces, t.namespace) {
			spaces = append(spaces, t.namespace)
		}
	}
	if slices.Sort(spaces); len(spaces) > 1 {
		s.report("spec.selector", "add namespaceSelector if that is not intended", "matches pods of %s: %s", counted.Of(len(spaces), "namespace"), strings.Join(spaces, ", "))
	}
}

// matched returns the templates that the set selects, in namespaces that its namespace
// selector is known to match.
func (s *subject) matched() (list []template, ok bool) {
	var set kruise.SidecarSet
	if !s.decode(&set) || set.Spec.Selector == nil {
		return nil, false
	}
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		return nil, false
	}
	spaces := labels.Everything()
	if set.Spec.NamespaceSelector != nil {
		if spaces, err = metav1.LabelSelectorAsSelector(set.Spec.NamespaceSelector); err != nil {
			return nil, false
		}
	}
	for _, t := range s.selected("", selector) {
		names, known := s.c.Facts.NamespaceLabels(t.namespace)
		if !known && set.Spec.NamespaceSelector != nil && len(names) <= 1 && !spaces.Matches(labels.Set(names)) {
			return nil, false // not known
		}
		if spaces.Matches(labels.Set(names)) {
			list = append(list, t)
		}
	}
	return list, true
}

func hotUpgrade(s *subject) {
	var set kruise.SidecarSet
	if !s.decode(&set) {
		return
	}
	for i, c := range set.Spec.Containers {
		if c.UpgradeStrategy.UpgradeType != kruise.SidecarContainerHotUpgrade {
			continue
		}
		if c.Lifecycle == nil || c.Lifecycle.PostStart == nil {
			s.report(fmt.Sprintf("spec.containers[%d].lifecycle.postStart", i), "add a postStart hook in which the new container takes over, for example a listening socket", "container %s is upgraded hot without a postStart hook: the new container does not take over from the old one", c.Name)
		}
	}
}

func notUpgradable(s *subject) {
	if s.was == nil {
		return
	}
	e := rules.SidecarSetEligible(s.was.Template, s.workload.Template)
	for _, f := range e.Fields {
		if f.Effect == rules.EffectRecreate {
			s.report(f.Path, "recreate the pods to give it to them", "running pods keep the old sidecar: %s", f.Why)
		}
	}
}

// Rules about values that the webhook of SidecarSets accepts although they have no effect, or
// break the creation of pods (docs/kruise/sidecarset.md#observed-on-a-cluster).
var sidecarValueAdvice = []advice{
	{id: "sidecarset/unknown-value", kinds: []string{sidecarSet}, check: typed(unknownValues)},
	{id: "sidecarset/hot-upgrade-without-empty-image", kinds: []string{sidecarSet}, check: typed(noEmptyImage)},
	{id: "sidecarset/merge-patch-not-json", kinds: []string{sidecarSet}, check: typed(noJSON)},
	{id: "sidecarset/unused-volume", kinds: []string{sidecarSet}, check: typed(unusedVolumes)},
	{id: "sidecarset/max-unavailable-zero", kinds: []string{sidecarSet}, check: typed(noneUnavailable)},
	{id: "sidecarset/partition-updates-nothing", kinds: []string{sidecarSet}, check: typed(allKeptOld)},
}

func unknownValues(s *subject, set *kruise.SidecarSet) {
	unknown := func(path, value, effect string, legal ...string) {
		if value != "" && !slices.Contains(legal, value) {
			s.report(path, "one of: "+strings.Join(legal, ", "), "%q is accepted, and %s", value, effect)
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
	unknown("spec.updateStrategy.type", string(set.Spec.UpdateStrategy.Type), "does not define whether pods are updated",
		string(kruise.RollingUpdateSidecarSetStrategyType), string(kruise.NotUpdateSidecarSetStrategyType))
}

func noEmptyImage(s *subject, set *kruise.SidecarSet) {
	for i, c := range set.Spec.Containers {
		if c.UpgradeStrategy.UpgradeType == kruise.SidecarContainerHotUpgrade && c.UpgradeStrategy.HotUpgradeEmptyImage == "" {
			s.report(fmt.Sprintf("spec.containers[%d].upgradeStrategy", i), "give hotUpgradeEmptyImage: what the idle one of the pair runs", "every pod that matches will be refused: container %s has no empty image", c.Name)
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
				s.report(fmt.Sprintf("spec.patchPodMetadata[%d].annotations[%s]", i, key), "write a JSON object", "is not JSON: pods that have this annotation will be refused")
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
			s.report(fmt.Sprintf("spec.volumes[%d]", i), "mount it in a container of the set, or remove it", "volume %s is mounted by no container of the set, and is not injected", v.Name)
		}
	}
}

func noneUnavailable(s *subject, set *kruise.SidecarSet) {
	m := set.Spec.UpdateStrategy.MaxUnavailable
	if m != nil && set.Spec.UpdateStrategy.Type != kruise.NotUpdateSidecarSetStrategyType && podsOf(m, many) == 0 {
		s.report("spec.updateStrategy.maxUnavailable", "allow at least 1", "resolves to 0: pods that are ready are never updated")
	}
}

// many is a number of pods that no percentage above 0 makes 0.
const many = 1_000_000

func allKeptOld(s *subject, set *kruise.SidecarSet) {
	if p := set.Spec.UpdateStrategy.Partition; p != nil && p.StrVal == "100%" {
		s.report("spec.updateStrategy.partition", "lower the partition to update pods", "keeps all pods at the old revision")
	}
}
