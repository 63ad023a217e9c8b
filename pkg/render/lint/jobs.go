package lint

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Rules about jobs (docs/kruise/jobs.md#broadcastjob, docs/kruise/jobs.md#advancedcronjob and
// docs/kruise/distribution.md#observed-on-a-cluster).
var jobAdvice = []advice{
	{id: "broadcastjob/failure-policy", kinds: []string{broadcast}, check: typed(failurePolicy)},
	{id: "broadcastjob/restart-limit", kinds: []string{broadcast}, check: typed(restartLimit)},
	{id: "broadcastjob/parallelism-zero", kinds: []string{broadcast}, check: typed(noParallelism)},
	{id: "advancedcronjob/restart-policy", kinds: []string{cronJob}, check: typed(alwaysRestarts)},
}

func failurePolicy(s *subject, j *kruise.BroadcastJob) {
	switch t := j.Spec.FailurePolicy.Type; t {
	case "", kruise.FailFastFailurePolicyType, kruise.ContinueFailurePolicyType, kruise.PauseFailurePolicyType:
	default:
		s.report("spec.failurePolicy.type", "FailFast, Continue or Pause", "%q is accepted, but is not a valid policy", t)
	}
}

func restartLimit(s *subject, j *kruise.BroadcastJob) {
	if j.Spec.FailurePolicy.RestartLimit > 0 && j.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		s.report("spec.failurePolicy.restartLimit", "use restartPolicy Never, or give activeDeadlineSeconds", "a pod that restarts more often counts as failed, but continues to restart")
	}
}

func noParallelism(s *subject, j *kruise.BroadcastJob) {
	if p := j.Spec.Parallelism; p != nil && podsOf(p, many) == 0 {
		s.report("spec.parallelism", "allow at least 1", "resolves to 0: no pod will be started")
	}
}

func alwaysRestarts(s *subject, j *kruise.AdvancedCronJob) {
	if t := j.Spec.Template.JobTemplate; t != nil && t.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyAlways {
		s.report("spec.template.jobTemplate.spec.template.spec.restartPolicy", "Never or OnFailure", "every Job that is created will be refused: its pods must end")
	}
}
