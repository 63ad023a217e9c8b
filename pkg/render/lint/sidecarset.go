package lint

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Rules about SidecarSets.
var _ = advise(
	advice{
		Rule:  Rule{ID: "sidecarset/matches-nothing", Kind: kruise.KindSidecarSet, Severity: Warning, Doc: "The selector finds no pod template among the objects: mostly a slip of the pen."},
		kinds: []string{sidecarSet}, look: matchesNothing,
	},
	advice{
		Rule:  Rule{ID: "sidecarset/matches-across-namespaces", Kind: kruise.KindSidecarSet, Severity: Warning, Doc: "Without a namespace selector the set reaches pods of several namespaces."},
		kinds: []string{sidecarSet}, look: matchesAcross,
	},
	advice{
		Rule:  Rule{ID: "sidecarset/hot-upgrade-without-post-start", Kind: kruise.KindSidecarSet, Severity: Warning, Doc: "A hot upgrade hands over in postStart; without one both containers run side by side and neither hands over."},
		kinds: []string{sidecarSet}, look: hotUpgrade,
	},
	advice{
		Rule:  Rule{ID: "sidecarset/not-upgradable", Kind: kruise.KindSidecarSet, Severity: Warning, Doc: "Only images of sidecars change in running pods; any other change waits until pods are recreated."},
		kinds: []string{sidecarSet}, look: notUpgradable,
	},
	advice{
		Rule:  Rule{ID: "sidecarset/requests-above-limits", Kind: kruise.KindSidecarSet, Severity: Warning, Doc: "A resourcesPolicy computes a request above its limit for the pods of a workload: the API server refuses those pods. Said of the SidecarSet, or of the workload where the set is only known."},
		kinds: []string{anything}, look: requestsAboveLimits,
	},
)

// requestsAboveLimits says of a SidecarSet for which workloads it asks for more than it
// allows, and of a workload which set that is not looked at does.
func requestsAboveLimits(s *subject) {
	const hint = "let the expression of the request stay below that of the limit, for instance by min(...)"
	for _, e := range s.excesses() {
		switch {
		case s.r.Is(kruise.Group, kruise.KindSidecarSet) && s.r.Name() == e.Set:
			s.say(e.Field, hint, "%s", e)
		case s.r == e.Owner && !s.checked(kruise.KindSidecarSet, e.Set):
			s.at("", hint, "SidecarSet %s, %s: %s", e.Set, e.Field, e)
		}
	}
}

// checked reports whether an object of Kruise's is among those that are looked at.
func (s *surroundings) checked(kind, name string) bool {
	return slices.ContainsFunc(s.request.Objects, func(r *resource.Resource) bool { return r.Is(kruise.Group, kind) && r.Name() == name })
}

func matchesNothing(s *subject) {
	matched, ok := s.matched()
	if ok && len(matched) == 0 && len(s.templates) > 0 {
		s.say("spec.selector", "compare with the labels of the pod templates, or name what else exists with --with", "finds no pod template among the %d that are known", len(s.templates))
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
		s.say("spec.selector", "add namespaceSelector where that is not meant", "reaches pods of %d namespaces: %s", len(spaces), strings.Join(spaces, ", "))
	}
}

// matched returns the templates that the set's selector finds in the namespaces
// that its namespace selector is known to find.
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
			s.say(fmt.Sprintf("spec.containers[%d].lifecycle.postStart", i), "hand the work over there, for instance by a socket", "container %s is upgraded hot, but nothing hands over to the new one", c.Name)
		}
	}
}
