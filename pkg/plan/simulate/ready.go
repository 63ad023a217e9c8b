package simulate

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// ready sets the condition Ready as the node does: every container is ready, and
// every readiness gate is open; a gate without condition is shut.
func (w *World) ready(p *cluster.Pod) *cluster.Pod {
	if p.Node == "" {
		return p
	}
	want := readiness(p)
	if have, ok := p.Condition(want.Type); ok && have.Status == want.Status && have.Reason == want.Reason && have.Message == want.Message {
		return p
	}
	return p.With(cluster.PodChange{Conditions: []cluster.Condition{want}}, w.now())
}

func readiness(p *cluster.Pod) cluster.Condition {
	kind := string(corev1.PodReady)
	var unready []string
	for i := range p.Containers {
		if !p.Containers[i].Ready {
			unready = append(unready, p.Containers[i].Name)
		}
	}
	if len(unready) > 0 {
		return cluster.SetTo(kind, corev1.ConditionFalse, "ContainersNotReady", "containers with unready status: ["+strings.Join(unready, " ")+"]")
	}
	shut := slices.IndexFunc(p.ReadinessGates, func(gate string) bool {
		c, _ := p.Condition(gate)
		return c.Status != corev1.ConditionTrue
	})
	if shut >= 0 {
		return cluster.SetTo(kind, corev1.ConditionFalse, "ReadinessGatesNotReady", "the status of pod readiness gate \""+p.ReadinessGates[shut]+"\" is not \"True\"")
	}
	return cluster.SetTo(kind, corev1.ConditionTrue, "", "")
}
