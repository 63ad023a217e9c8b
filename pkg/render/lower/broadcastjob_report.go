package lower

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

func (b *broadcastJob) reportFields() {
	b.report("broadcastjob/template", "spec.template", "")
	policy := b.spec.CompletionPolicy
	if policy.Type == kruise.AlwaysCompletionPolicyType {
		b.report("broadcastjob/always", "spec.completionPolicy.type", "")
	}
	if policy.ActiveDeadlineSeconds != nil {
		b.report("broadcastjob/deadline", "spec.completionPolicy.activeDeadlineSeconds", "")
	}
	if policy.TTLSecondsAfterFinished != nil {
		b.report("broadcastjob/ttl", "spec.completionPolicy.ttlSecondsAfterFinished", "")
	}
	if b.spec.Paused && !b.never() {
		b.report("broadcastjob/paused", "spec.paused", "")
	}
	b.reportFailure()
}

// reportFailure speaks of what a failed pod leads to, also where the default
// stands: FailFast is what a Job per node cannot do.
func (b *broadcastJob) reportFailure() {
	const field = "spec.failurePolicy.type"
	switch b.spec.FailurePolicy.Type {
	case kruise.ContinueFailurePolicyType:
		b.report("broadcastjob/continue", field, "")
	case kruise.PauseFailurePolicyType:
		b.report("broadcastjob/pause", field, "")
	default:
		b.report("broadcastjob/fail-fast", field, "")
	}
	b.reportRestarts()
}

// reportRestarts speaks of restartLimit, also where the default stands: a Job ends
// its pod where Kruise only counts it.
func (b *broadcastJob) reportRestarts() {
	const field = "spec.failurePolicy.restartLimit"
	limit := b.spec.FailurePolicy.RestartLimit
	switch restarts := b.spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure; {
	case restarts && (limit != 0 || !b.never()):
		b.report("broadcastjob/restart-limit", field, fmt.Sprintf("backoffLimit %d: the Job fails at restart %d", b.backoffLimit(), max(1, b.backoffLimit())))
	case limit != 0:
		b.report("broadcastjob/restart-limit-never", field, "")
	}
}

// reportParallelism speaks of a limit that would be felt on so many nodes.
func (b *broadcastJob) reportParallelism(nodes int) {
	p := b.spec.Parallelism
	if p == nil {
		return
	}
	if b.noneAtATime() {
		b.report("broadcastjob/parallelism-none", "spec.parallelism", "")
		return
	}
	most, err := intstr.GetScaledValueFromIntOrPercent(p, nodes, true)
	if err != nil || most >= nodes {
		b.report("broadcastjob/parallelism-all", "spec.parallelism", "")
		return
	}
	b.report("broadcastjob/parallelism", "spec.parallelism", fmt.Sprintf("all %d pods start at once, where Kruise runs %d at a time", nodes, most))
}
