package check

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (p *podCheck) podAffinities(at string, a *corev1.Affinity) {
	if a == nil {
		return
	}
	if near := a.PodAffinity; near != nil {
		p.podTerms(at+".podAffinity", near.RequiredDuringSchedulingIgnoredDuringExecution, near.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if apart := a.PodAntiAffinity; apart != nil {
		p.podTerms(at+".podAntiAffinity", apart.RequiredDuringSchedulingIgnoredDuringExecution, apart.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func (p *podCheck) podTerms(at string, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
	for i := range required {
		p.podTerm(fmt.Sprintf("%s.requiredDuringSchedulingIgnoredDuringExecution[%d]", at, i), &required[i])
	}
	for i := range preferred {
		here := fmt.Sprintf("%s.preferredDuringSchedulingIgnoredDuringExecution[%d]", at, i)
		if w := preferred[i].Weight; w < 1 || w > 100 {
			p.fault(here+".weight", "", "%d is not between 1 and 100", w)
		}
		p.podTerm(here+".podAffinityTerm", &preferred[i].PodAffinityTerm)
	}
}

func (p *podCheck) podTerm(at string, t *corev1.PodAffinityTerm) {
	if t.TopologyKey == "" {
		p.fault(at+".topologyKey", "", "required")
	} else {
		p.list(metavalidation.ValidateLabelName(t.TopologyKey, field.NewPath(at+".topologyKey")))
	}
	p.sound(at+".labelSelector", t.LabelSelector)
	p.sound(at+".namespaceSelector", t.NamespaceSelector)
}

// sound wants a selector, if there is one, to be valid.
func (p *podCheck) sound(at string, sel *metav1.LabelSelector) {
	if _, err := metav1.LabelSelectorAsSelector(sel); err != nil {
		p.fault(at, "", "%v", err)
	}
}

// spread: each key once for each way to take it.
func (p *podCheck) spread(at string, list []corev1.TopologySpreadConstraint) {
	seen := map[[2]string]bool{}
	for i, c := range list {
		here := fmt.Sprintf("%s.topologySpreadConstraints[%d]", at, i)
		if c.MaxSkew < 1 {
			p.fault(here+".maxSkew", "", "%d must be 1 or more", c.MaxSkew)
		}
		id := [2]string{c.TopologyKey, string(c.WhenUnsatisfiable)}
		switch {
		case c.TopologyKey == "":
			p.fault(here+".topologyKey", "", "required")
		case seen[id]:
			p.fault(here, "", "%s is there twice with %s", id[0], id[1])
		}
		seen[id] = true
		p.need(here+".whenUnsatisfiable", string(c.WhenUnsatisfiable), "DoNotSchedule", "ScheduleAnyway")
		if n := c.MinDomains; n != nil && *n < 1 {
			p.fault(here+".minDomains", "", "%d must be 1 or more", *n)
		} else if n != nil && c.WhenUnsatisfiable != corev1.DoNotSchedule {
			p.fault(here+".minDomains", "remove it", "minDomains is for whenUnsatisfiable DoNotSchedule")
		}
		p.inclusion(here+".nodeAffinityPolicy", c.NodeAffinityPolicy)
		p.inclusion(here+".nodeTaintsPolicy", c.NodeTaintsPolicy)
		p.sound(here+".labelSelector", c.LabelSelector)
	}
}

func (p *podCheck) inclusion(at string, policy *corev1.NodeInclusionPolicy) {
	if policy != nil {
		p.need(at, string(*policy), string(corev1.NodeInclusionPolicyHonor), string(corev1.NodeInclusionPolicyIgnore))
	}
}
