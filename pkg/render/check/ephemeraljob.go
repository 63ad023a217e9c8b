package check

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

const ephemeralContainers = "spec.template.ephemeralContainers"

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindEphemeralJob, object: kruise.EphemeralJob{},
	open:  []string{ephemeralContainers},
	check: ephemeralJob,
})

// ephemeralJob holds the rules of the webhook (docs/kruise/jobs.md#ephemeraljob and
// docs/kruise/distribution.md#observed-on-a-cluster).
func ephemeralJob(s *subject) {
	var job kruise.EphemeralJob
	if !s.read(&job) {
		return
	}
	if job.Spec.Selector == nil {
		s.fault("spec.selector", "name the labels of the pods", "a selector is required")
	} else {
		validSelector(s, "spec.selector", job.Spec.Selector)
	}
	s.podErrors(s.fault, ephemeralErrors(ephemeralContainers, job.Spec.Template.EphemeralContainers))
}
