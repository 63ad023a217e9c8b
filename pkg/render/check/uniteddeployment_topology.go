package check

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/allocate"
)

const subsetsField = "spec.topology.subsets"

// topology holds the rules for subsets and scheduleStrategy.
func (k *unitedDeploymentCheck) topology() {
	subsets := k.spec.Topology.Subsets
	if k.tooMany(subsetsField, len(subsets)) {
		return
	}
	seen := map[string]bool{}
	for i, s := range subsets {
		at := fmt.Sprintf("%s[%d].name", subsetsField, i)
		switch msgs := validation.IsDNS1123Label(s.Name); {
		case s.Name == "":
			k.fault(at, "", "a subset needs a name")
		case len(msgs) > 0:
			k.fault(at, "", "%q is not a subset name: %s", s.Name, strings.Join(msgs, "; "))
		case seen[s.Name]:
			k.fault(at, "", "there are two subsets %s", s.Name)
		}
		seen[s.Name] = true
		nodes := podScheduling{k.podReporter(k.fault)}
		nodes.nodeTerm(fmt.Sprintf("%s[%d].nodeSelectorTerm", subsetsField, i), s.NodeSelectorTerm)
		nodes.tolerations(fmt.Sprintf("%s[%d].tolerations", subsetsField, i), s.Tolerations)
	}
	k.schedule()
	k.replicas()
}

func (k *unitedDeploymentCheck) schedule() {
	const at = "spec.topology.scheduleStrategy"
	s := k.spec.Topology.ScheduleStrategy
	switch s.Type {
	case "", kruise.FixedUnitedDeploymentScheduleStrategyType, kruise.AdaptiveUnitedDeploymentScheduleStrategyType:
	default:
		k.fault(at+".type", "", "%q is not allowed: want Fixed or Adaptive", s.Type)
	}
	if t := k.spec.Template; s.Adaptive != nil && s.Adaptive.ReserveUnschedulablePods &&
		(t.StatefulSetTemplate != nil || t.AdvancedStatefulSetTemplate != nil) {
		k.fault(at+".adaptive.reserveUnschedulablePods", "use cloneSetTemplate or deploymentTemplate", "pods of StatefulSets cannot be reserved")
	}
}

// replicas: the ways to size subsets exclude each other, and what they say
// must work out.
func (k *unitedDeploymentCheck) replicas() {
	adaptive := k.spec.Topology.ScheduleStrategy.Type == kruise.AdaptiveUnitedDeploymentScheduleStrategyType
	in := allocate.Input{Replicas: k.spec.Replicas, Adaptive: adaptive}
	named, limited, unlimited := -1, false, false
	for i, s := range k.spec.Topology.Subsets {
		if s.Replicas != nil && named < 0 {
			named = i
		}
		limited = limited || s.MinReplicas != nil || s.MaxReplicas != nil
		unlimited = unlimited || s.MaxReplicas == nil
		in.Subsets = append(in.Subsets, allocate.Subset{Name: s.Name, Replicas: s.Replicas, Min: s.MinReplicas, Max: s.MaxReplicas})
	}
	at := fmt.Sprintf("%s[%d].replicas", subsetsField, named)
	switch {
	case named >= 0 && adaptive:
		k.fault(at, "use minReplicas and maxReplicas", "replicas of a subset cannot be fixed when scheduleStrategy is Adaptive")
		return
	case named >= 0 && limited:
		k.fault(at, "use either replicas, or minReplicas and maxReplicas, in all subsets", "replicas and minReplicas or maxReplicas exclude each other in one UnitedDeployment")
		return
	case limited && !unlimited:
		k.fault(subsetsField, "leave maxReplicas out of the subset that takes the rest", "at least one subset must have no maxReplicas")
	}
	_, err := allocate.Replicas(in)
	if len(in.Subsets) == 0 && (in.Replicas == nil || *in.Replicas >= 0) {
		k.accepted(func() { k.addAll(err, "") })
		return
	}
	k.addAll(err, "")
}
