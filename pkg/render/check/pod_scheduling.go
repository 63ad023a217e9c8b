package check

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (p *podCheck) scheduling(at string, s *corev1.PodSpec) {
	p.list(metavalidation.ValidateLabels(s.NodeSelector, field.NewPath(at, "nodeSelector")))
	p.tolerations(at+".tolerations", s.Tolerations)
	if s.Affinity != nil && s.Affinity.NodeAffinity != nil {
		p.nodeAffinity(at+".affinity.nodeAffinity", s.Affinity.NodeAffinity)
	}
	p.podAffinities(at+".affinity", s.Affinity)
	p.spread(at, s.TopologySpreadConstraints)
}

func (p *podCheck) list(problems field.ErrorList) {
	for _, e := range ordered(problems) {
		p.fault(e.Field, "", "%s", said(e))
	}
}

// need is choice, but for text that has to be there.
func (p *podCheck) need(path, value string, allowed ...string) {
	if value == "" {
		p.fault(path, "", "required: want %s", either(allowed))
	}
	p.choice(path, value, allowed...)
}

func (p *podCheck) nodeAffinity(at string, a *corev1.NodeAffinity) {
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		here := at + ".requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
		if len(required.NodeSelectorTerms) == 0 {
			p.fault(here, "", "at least one term is required")
		}
		for i, t := range required.NodeSelectorTerms {
			p.term(fmt.Sprintf("%s[%d]", here, i), t)
		}
	}
	p.preferred(at+".preferredDuringSchedulingIgnoredDuringExecution", a.PreferredDuringSchedulingIgnoredDuringExecution)
}

func (p *podCheck) preferred(at string, terms []corev1.PreferredSchedulingTerm) {
	for i, t := range terms {
		here := fmt.Sprintf("%s[%d]", at, i)
		if t.Weight < 1 || t.Weight > 100 {
			p.fault(here+".weight", "", "%d is not between 1 and 100", t.Weight)
		}
		p.term(here+".preference", t.Preference)
	}
}

func (p *podCheck) term(at string, t corev1.NodeSelectorTerm) {
	for i, r := range t.MatchExpressions {
		here := fmt.Sprintf("%s.matchExpressions[%d]", at, i)
		p.expression(here, r)
		p.list(metavalidation.ValidateLabelName(r.Key, field.NewPath(here+".key")))
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

func (p *podCheck) expression(at string, r corev1.NodeSelectorRequirement) {
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
			p.later(at+".values", "", "%q is not a whole number", r.Values[0])
		}
	default:
		p.fault(at+".operator", "", "%q is not an operator: want In, NotIn, Exists, DoesNotExist, Gt or Lt", r.Operator)
	}
}

func (p *podCheck) tolerations(at string, list []corev1.Toleration) {
	for i, t := range list {
		here := fmt.Sprintf("%s[%d]", at, i)
		if t.Key != "" {
			p.list(metavalidation.ValidateLabelName(t.Key, field.NewPath(here+".key")))
		}
		p.choice(here+".operator", string(t.Operator), "Exists", "Equal", "Lt", "Gt")
		if t.Key == "" && t.Operator != corev1.TolerationOpExists {
			p.fault(here+".operator", "", "must be Exists without a key")
		}
		if t.Operator == corev1.TolerationOpExists && t.Value != "" {
			p.fault(here+".value", "remove it", "Exists has no value")
		}
		p.choice(here+".effect", string(t.Effect), "NoSchedule", "PreferNoSchedule", "NoExecute")
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			p.fault(here+".effect", "", "must be NoExecute with tolerationSeconds")
		}
	}
}
