package requests

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// reportFields says what becomes of each field that says something; matched are the
// pods that were chosen out of the known ones.
func (q *ephemeral) reportFields(known, matched int) {
	if matched == 0 {
		q.report("no-pod", "spec.selector", fmt.Sprintf("nothing is done: pods of the namespace that are known: %d, and none is chosen", known))
	} else {
		q.written("spec.template.ephemeralContainers")
		q.report("selector", "spec.selector", "")
	}
	if q.spec.Replicas != nil {
		q.report("replicas", "spec.replicas", "")
	}
	switch {
	case q.parallelism() == 0:
		q.report("paused", "spec.parallelism", "")
	case matched > 1:
		q.report("parallelism", "spec.parallelism", "a step waits until no more than "+pods(q.parallelism())+" would work at a time")
	}
	if q.spec.Paused {
		q.report("paused", "spec.paused", "")
	}
	if q.spec.ActiveDeadlineSeconds != nil {
		q.report("deadline", "spec.activeDeadlineSeconds", "")
	}
	if q.spec.TTLSecondsAfterFinished != nil {
		q.report("ttl", "spec.ttlSecondsAfterFinished", "")
	}
}

// warnings are what would have the API server or the node refuse.
func (q *ephemeral) warnings(todo []*corev1.Pod) []string {
	var out []string
	for _, c := range q.spec.Template.EphemeralContainers {
		for _, p := range todo {
			has := slices.ContainsFunc(p.Spec.Containers, func(own corev1.Container) bool { return own.Name == c.TargetContainerName })
			if c.TargetContainerName != "" && !has {
				out = append(out, fmt.Sprintf("pod %s has no container %s, which %s is to look at: the API server refuses the patch, and what waits for that pod does so in vain", p.Name, c.TargetContainerName, c.Name))
			}
		}
	}
	if d := q.spec.ActiveDeadlineSeconds; d != nil {
		out = append(out, fmt.Sprintf("begin no step later than %d s after the first (activeDeadlineSeconds); containers that run then run on, as with Kruise", *d))
	}
	return out
}
