package rules

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Active reports whether a controller sees the pod at all: a terminating or
// finished pod is gone for all counts (docs/kruise/workloads.md#which-pods-count).
func Active(p *cluster.Pod) bool {
	return !p.Deleting && p.Phase != corev1.PodSucceeded && p.Phase != corev1.PodFailed
}

// Ready reports whether the pod runs and is ready, and no in-place update holds
// it back (docs/kruise/workloads.md#which-pods-count).
func Ready(p *cluster.Pod) bool {
	if p.Phase != corev1.PodRunning || !podReady(p) {
		return false
	}
	return !p.GateShut()
}

// Available reports whether the pod counts as available: ready, in no other
// lifecycle state than Normal, and ready for more than minReady; 0 means at
// once (docs/kruise/workloads.md#which-pods-count).
func Available(p *cluster.Pod, minReady time.Duration, now time.Time) bool {
	if s := StateOf(p); s != StateNone && s != StateNormal {
		return false
	}
	return Ready(p) && ReadyFor(p, minReady, now)
}

// SpecifiedDelete reports whether somebody marked the pod for deletion, whatever
// the label's value (docs/kruise/workloads.md#which-pods-count).
func SpecifiedDelete(p *cluster.Pod) bool {
	return p.Marked()
}

// AtRevision reports whether the pod carries the revision; names of revisions
// are compared by their hash (docs/kruise/workloads.md#revisions).
func AtRevision(p *cluster.Pod, revision string) bool {
	return cluster.Hash(RevisionOf(p)) == cluster.Hash(revision)
}

// RevisionOf returns the pod's revision as its label spells it.
func RevisionOf(p *cluster.Pod) string { return p.Revision() }

// podReady is the condition Ready alone.
func podReady(p *cluster.Pod) bool { return p.IsReady() }

// ReadyFor reports whether the condition Ready is older than minReady, as it
// stands in the status, in whole seconds; 0 means at once.
func ReadyFor(p *cluster.Pod, minReady time.Duration, now time.Time) bool {
	if minReady <= 0 {
		return true
	}
	return p.ReadySince().Add(minReady).Before(now)
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }
