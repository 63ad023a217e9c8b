package check

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// priority wants one way to order pods, and that one to be complete.
func (s *subject) priority(path string, p *kruise.UpdatePriorityStrategy) {
	if p == nil {
		return
	}
	if len(p.OrderPriority) > 0 && len(p.WeightPriority) > 0 {
		s.fault(path, "keep one of them", "orderPriority and weightPriority may not both be set")
	}
	for i, term := range p.OrderPriority {
		if term.OrderedKey == "" {
			s.fault(fmt.Sprintf("%s.orderPriority[%d].orderedKey", path, i), "", "a key is required")
		}
	}
	for i, term := range p.WeightPriority {
		at := fmt.Sprintf("%s.weightPriority[%d]", path, i)
		if term.Weight < 0 || term.Weight > 100 {
			s.fault(at+".weight", "", "%d is not a weight from 0 to 100", term.Weight)
		}
		if len(term.MatchSelector.MatchLabels)+len(term.MatchSelector.MatchExpressions) == 0 {
			s.fault(at+".matchSelector", "name the labels of the pods", "a selector is required")
			continue
		}
		if _, err := metav1.LabelSelectorAsSelector(&term.MatchSelector); err != nil {
			s.fault(at+".matchSelector", "", "%v", err)
		}
	}
}
