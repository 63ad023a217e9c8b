package controller

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// activePods leaves out what goes or has ended.
func activePods(list []*cluster.Pod) []*cluster.Pod {
	out := make([]*cluster.Pod, 0, len(list))
	for _, p := range list {
		if rules.Active(p) {
			out = append(out, p)
		}
	}
	return out
}

// untilAvailable is after how long the next of the ready pods has been ready for
// minReadySeconds; 0 when none waits for that.
func untilAvailable(list []*cluster.Pod, minReadySeconds int32, now time.Time) time.Duration {
	var next time.Duration
	minReady := seconds(minReadySeconds)
	if minReady == 0 {
		return 0
	}
	for _, p := range list {
		if !rules.Ready(p) || rules.Available(p, minReady, now) {
			continue
		}
		ready, _ := p.Condition(string(corev1.PodReady))
		// The rules want more than minReady, not as much.
		if wait := ready.Since.Add(minReady).Sub(now) + time.Millisecond; wait > 0 && (next == 0 || wait < next) {
			next = wait
		}
	}
	return next
}

// one counts a pod of which something is true.
func one(is bool) int32 {
	if is {
		return 1
	}
	return 0
}
