package controller

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// label sets a label in a change.
func label(c *cluster.PodChange, key, value string) {
	if c.Labels == nil {
		c.Labels = map[string]*string{}
	}
	c.Labels[key] = &value
}

// annotate sets an annotation in a change; nil removes it.
func annotate(c *cluster.PodChange, key string, value *string) {
	if c.Annotations == nil {
		c.Annotations = map[string]*string{}
	}
	c.Annotations[key] = value
}

// condition sets a condition in a change, unless the pod has it with that status
// and message, or lacks the readiness gate that it is for.
func condition(c *cluster.PodChange, p *cluster.Pod, gate string, status corev1.ConditionStatus, reason, message string) {
	have, _ := p.Condition(gate)
	if slices.Contains(p.ReadinessGates, gate) && (have.Status != status || have.Message != message) {
		c.Conditions = append(c.Conditions, cluster.SetTo(gate, status, reason, message))
	}
}

// empty reports whether a change changes nothing.
func empty(c *cluster.PodChange) bool {
	return len(c.Labels)+len(c.Annotations)+len(c.AddFinalizers)+len(c.RemoveFinalizers)+
		len(c.Images)+len(c.Resources)+len(c.Restart)+len(c.Reread)+len(c.Conditions) == 0
}

// wholeSeconds is a time as Kubernetes stores it.
func wholeSeconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// stamp is a time as annotations have it.
func stamp(t time.Time) string { return wholeSeconds(t).Format(time.RFC3339) }
