package simulate

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// ready sets the conditions ContainersReady and Ready as the node does: every container is
// ready, and for Ready every readiness gate is open, too; a gate without condition is shut. A
// real node takes a third of a second for it (docs/facts/kubelet.md#readiness-gates), the
// model no time.
func (w *World) ready(p *cluster.Pod) *cluster.Pod {
	if p.Node == "" {
		return p
	}
	containers := containersReady(p)
	ready := gatesOpen(p, containers)
	if stands(p, containers) && stands(p, ready) {
		return p
	}
	return p.With(cluster.PodChange{Conditions: []cluster.Condition{containers, ready}}, w.now())
}

// stands reports whether a pod has a condition already.
func stands(p *cluster.Pod, want cluster.Condition) bool {
	have, ok := p.Condition(want.Type)
	return ok && have.Status == want.Status && have.Reason == want.Reason && have.Message == want.Message
}

func containersReady(p *cluster.Pod) cluster.Condition {
	kind := string(corev1.ContainersReady)
	var unready []string
	for i := range p.Containers {
		if !p.Containers[i].Ready {
			unready = append(unready, p.Containers[i].Name)
		}
	}
	if len(unready) > 0 {
		return cluster.SetTo(kind, corev1.ConditionFalse, "ContainersNotReady", "containers with unready status: ["+strings.Join(unready, " ")+"]")
	}
	return cluster.SetTo(kind, corev1.ConditionTrue, "", "")
}

// gatesOpen is the condition Ready of a pod whose containers are as they are.
func gatesOpen(p *cluster.Pod, containers cluster.Condition) cluster.Condition {
	kind := string(corev1.PodReady)
	if containers.Status != corev1.ConditionTrue {
		containers.Type = kind
		return containers
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
