package check

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindBroadcastJob, object: kruise.BroadcastJob{}, plainName: true, filled: true,
	open:  []string{"spec.template"},
	check: broadcastJob,
})

// broadcastJob holds the rules of the webhook (docs/kruise/jobs.md#broadcastjob).
func broadcastJob(s *subject) {
	var job kruise.BroadcastJob
	if !s.read(&job) {
		return
	}
	checkBroadcastJob(s, "spec", &job.Spec)
	if p := job.Spec.Template.Spec.RestartPolicy; p != corev1.RestartPolicyNever && p != corev1.RestartPolicyOnFailure {
		s.fault("spec.template.spec.restartPolicy", "", "%q is not allowed: want Never or OnFailure", cmp.Or(p, corev1.RestartPolicyAlways))
	}
}

// checkBroadcastJob has the rules that also apply to the template of an AdvancedCronJob.
func checkBroadcastJob(s *subject, at string, spec *kruise.BroadcastJobSpec) {
	if c := spec.CompletionPolicy; c.Type == kruise.NeverCompletionPolicyType {
		neverEnds(s, at+".completionPolicy", c)
	}
	for _, label := range []string{kruise.BroadcastJobNameLabel, kruise.BroadcastJobUIDLabel} {
		if _, set := spec.Template.Labels[label]; set {
			s.fault(at+".template.metadata.labels["+label+"]", "remove it", "the controller sets this label")
		}
	}
	checkPodTemplate(s, at+".template", &spec.Template, nil)
}

// neverEnds refuses the fields of a policy that only a job that ends can have.
func neverEnds(s *subject, at string, c kruise.CompletionPolicy) {
	const hint = "set type: Always, or remove it"
	if c.TTLSecondsAfterFinished != nil {
		s.fault(at+".ttlSecondsAfterFinished", hint, "only allowed for a job that ends")
	}
	if c.ActiveDeadlineSeconds != nil {
		s.fault(at+".activeDeadlineSeconds", hint, "only allowed for a job that ends")
	}
}
