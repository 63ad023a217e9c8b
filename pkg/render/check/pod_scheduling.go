package check

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// podScheduling has the rules for where a pod may run.
type podScheduling struct{ *podReporter }

func (p podScheduling) pod(at string, s *corev1.PodSpec) {
	p.fieldErrors(metavalidation.ValidateLabels(s.NodeSelector, field.NewPath(at, "nodeSelector")))
	p.tolerations(at+".tolerations", s.Tolerations)
	if s.Affinity != nil && s.Affinity.NodeAffinity != nil {
		p.nodeAffinity(at+".affinity.nodeAffinity", s.Affinity.NodeAffinity)
	}
	p.podAffinities(at+".affinity", s.Affinity)
	p.topologySpread(at, s.TopologySpreadConstraints)
}

// schedulingGates wants each scheduling gate once.
func (p podScheduling) schedulingGates(at string, list []corev1.PodSchedulingGate) {
	seen := map[string]bool{}
	for i, g := range list {
		here := fmt.Sprintf("%s[%d].name", at, i)
		switch {
		case len(validation.IsQualifiedName(g.Name)) > 0:
			p.fault(here, "", "%q is not the name of a scheduling gate", g.Name)
		case seen[g.Name]:
			p.fault(here, "", "there are two scheduling gates %s", g.Name)
		}
		seen[g.Name] = true
	}
}

func (p podScheduling) nodeAffinity(at string, a *corev1.NodeAffinity) {
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		here := at + ".requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
		if len(required.NodeSelectorTerms) == 0 {
			p.fault(here, "", "at least one term is required")
		}
		for i, t := range required.NodeSelectorTerms {
			p.nodeTerm(fmt.Sprintf("%s[%d]", here, i), t)
		}
	}
	p.preferredNodes(at+".preferredDuringSchedulingIgnoredDuringExecution", a.PreferredDuringSchedulingIgnoredDuringExecution)
}

func (p podScheduling) preferredNodes(at string, terms []corev1.PreferredSchedulingTerm) {
	for i, t := range terms {
		here := fmt.Sprintf("%s[%d]", at, i)
		if t.Weight < 1 || t.Weight > 100 {
			p.fault(here+".weight", "", "%d is not between 1 and 100", t.Weight)
		}
		p.nodeTerm(here+".preference", t.Preference)
	}
}

func (p podScheduling) nodeTerm(at string, t corev1.NodeSelectorTerm) {
	for i, r := range t.MatchExpressions {
		here := fmt.Sprintf("%s.matchExpressions[%d]", at, i)
		p.nodeExpression(here, r)
		p.fieldErrors(metavalidation.ValidateLabelName(r.Key, field.NewPath(here+".key")))
	}
	for i, r := range t.MatchFields {
		here := fmt.Sprintf("%s.matchFields[%d]", at, i)
		if r.Key != "metadata.name" {
			p.fault(here+".key", "", "%q is not a field of nodes to match: want metadata.name", r.Key)
		}
		if r.Operator != corev1.NodeSelectorOpIn && r.Operator != corev1.NodeSelectorOpNotIn || len(r.Values) != 1 {
			p.fault(here, "", "want In or NotIn with one value")
		}
	}
}

func (p podScheduling) nodeExpression(at string, r corev1.NodeSelectorRequirement) {
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) == 0 {
			p.fault(at+".values", "", "%s needs values", r.Operator)
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			p.fault(at+".values", "remove them", "%s has no values", r.Operator)
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(r.Values) != 1 {
			p.fault(at+".values", "", "%s needs one value", r.Operator)
		} else if _, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil {
			p.refusedInPods(at+".values", "", "%q is not a whole number", r.Values[0])
		}
	default:
		p.fault(at+".operator", "", "%q is not an operator: want In, NotIn, Exists, DoesNotExist, Gt or Lt", r.Operator)
	}
}

func (p podScheduling) tolerations(at string, list []corev1.Toleration) {
	for i, t := range list {
		here := fmt.Sprintf("%s[%d]", at, i)
		if t.Key != "" {
			p.fieldErrors(metavalidation.ValidateLabelName(t.Key, field.NewPath(here+".key")))
		}
		p.oneOf(here+".operator", string(t.Operator), "Exists", "Equal", "Lt", "Gt")
		if t.Key == "" && t.Operator != corev1.TolerationOpExists {
			p.fault(here+".operator", "", "must be Exists without a key")
		}
		if t.Operator == corev1.TolerationOpExists && t.Value != "" {
			p.fault(here+".value", "remove it", "Exists has no value")
		}
		p.oneOf(here+".effect", string(t.Effect), "NoSchedule", "PreferNoSchedule", "NoExecute")
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			p.fault(here+".effect", "", "must be NoExecute with tolerationSeconds")
		}
	}
}

func (p podScheduling) podAffinities(at string, a *corev1.Affinity) {
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

func (p podScheduling) podTerms(at string, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
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

func (p podScheduling) podTerm(at string, t *corev1.PodAffinityTerm) {
	if t.TopologyKey == "" {
		p.fault(at+".topologyKey", "", "required")
	} else {
		p.fieldErrors(metavalidation.ValidateLabelName(t.TopologyKey, field.NewPath(at+".topologyKey")))
	}
	p.selector(at+".labelSelector", t.LabelSelector)
	p.selector(at+".namespaceSelector", t.NamespaceSelector)
}

// topologySpread wants each topology key once for each value of whenUnsatisfiable.
func (p podScheduling) topologySpread(at string, list []corev1.TopologySpreadConstraint) {
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
			p.fault(here, "", "%s is listed twice with %s", id[0], id[1])
		}
		seen[id] = true
		p.requiredOneOf(here+".whenUnsatisfiable", string(c.WhenUnsatisfiable), "DoNotSchedule", "ScheduleAnyway")
		if n := c.MinDomains; n != nil && *n < 1 {
			p.fault(here+".minDomains", "", "%d must be 1 or more", *n)
		} else if n != nil && c.WhenUnsatisfiable != corev1.DoNotSchedule {
			p.fault(here+".minDomains", "remove it", "minDomains is for whenUnsatisfiable DoNotSchedule")
		}
		p.inclusionPolicy(here+".nodeAffinityPolicy", c.NodeAffinityPolicy)
		p.inclusionPolicy(here+".nodeTaintsPolicy", c.NodeTaintsPolicy)
		p.selector(here+".labelSelector", c.LabelSelector)
	}
}

func (p podScheduling) inclusionPolicy(at string, policy *corev1.NodeInclusionPolicy) {
	if policy != nil {
		p.requiredOneOf(at, string(*policy), string(corev1.NodeInclusionPolicyHonor), string(corev1.NodeInclusionPolicyIgnore))
	}
}
