package lower

import "k8s.io/apimachinery/pkg/util/intstr"

// rolling is the budget of an update as a native workload writes it, and the
// catalogue entry that says what became of maxUnavailable.
type rolling struct {
	surge, unavailable intstr.IntOrString
	rule               string
}

// deploymentRolling returns the values with which a Deployment moves as many
// pods at a time as the CloneSet. replicas is nil where an autoscaler owns it.
func deploymentRolling(surge, unavailable intstr.IntOrString, replicas *int) rolling {
	r := rolling{accepted(surge), atMostAll(accepted(unavailable)), "cloneset/max-unavailable"}
	switch {
	case none(r.surge) && none(r.unavailable):
		r.unavailable, r.rule = intstr.FromInt32(1), "cloneset/max-unavailable-zero"
	case r.unavailable.Type == intstr.Int:
	case replicas == nil || *replicas == 0:
		if none(r.surge) && r.unavailable.StrVal != "100%" {
			r.rule = "cloneset/max-unavailable-percent"
		}
	default:
		_, want := cloneSetBudget(surge, unavailable, *replicas)
		if _, have := deploymentBudget(r.surge, r.unavailable, *replicas); have != min(want, *replicas) {
			r.unavailable, r.rule = intstr.FromInt(want), "cloneset/max-unavailable-rounded"
		}
	}
	return r
}

// statefulSetRolling returns the same for a StatefulSet, which knows no surge
// and needs at least 1; its own default is 1.
func statefulSetRolling(surge, unavailable intstr.IntOrString, replicas *int) rolling {
	r := rolling{intstr.FromInt32(0), atMostAll(accepted(unavailable)), "cloneset/max-unavailable"}
	if replicas == nil || *replicas == 0 {
		if r.unavailable.Type == intstr.String {
			r.rule = "cloneset/max-unavailable-percent"
		}
	} else {
		_, down := cloneSetBudget(surge, unavailable, *replicas)
		r.unavailable = intstr.FromInt(min(down, *replicas))
	}
	if none(r.unavailable) {
		return rolling{r.surge, intstr.FromInt32(1), "cloneset/max-unavailable-zero"}
	}
	return r
}
