package kruise

import (
	"math"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// defaultBroadcastJob: docs/kruise/jobs.md#broadcastjob.
func defaultBroadcastJob(s *BroadcastJobSpec) {
	setDefault(&s.Parallelism, intstr.FromInt32(math.MaxInt32))
	setText(&s.CompletionPolicy.Type, AlwaysCompletionPolicyType)
	setText(&s.FailurePolicy.Type, FailFastFailurePolicyType)
	alwaysPull(&s.Template.Spec)
}

// defaultAdvancedCronJob: docs/kruise/jobs.md#advancedcronjob. The created jobs get
// their own defaults later.
func defaultAdvancedCronJob(s *AdvancedCronJobSpec) {
	policy := AllowConcurrent
	if s.Template.ImageListPullJobTemplate != nil {
		policy = ReplaceConcurrent
	}
	setText(&s.ConcurrencyPolicy, policy)
	setDefault(&s.Paused, false)
	setDefault(&s.SuccessfulJobsHistoryLimit, 3)
	setDefault(&s.FailedJobsHistoryLimit, 1)
	if t := s.Template.JobTemplate; t != nil {
		alwaysPull(&t.Spec.Template.Spec)
	}
	if t := s.Template.BroadcastJobTemplate; t != nil {
		alwaysPull(&t.Spec.Template.Spec)
	}
}

// defaultImagePull: docs/kruise/jobs.md#image-pulls. Parallelism stays empty, which
// means 1.
func defaultImagePull(s *ImagePullJobTemplate) {
	setText(&s.CompletionPolicy.Type, AlwaysCompletionPolicyType)
	setDefault(&s.PullPolicy, PullPolicy{})
	setDefault(&s.PullPolicy.TimeoutSeconds, 600)
	setDefault(&s.PullPolicy.BackoffLimit, 3)
}

// defaultNodeImage: each tag is pulled as a job would (docs/kruise/jobs.md#image-pulls).
func defaultNodeImage(s *NodeImageSpec) {
	for _, image := range s.Images {
		for i := range image.Tags {
			p := &image.Tags[i].PullPolicy
			setDefault(p, ImageTagPullPolicy{})
			setDefault(&(*p).TimeoutSeconds, 600)
			setDefault(&(*p).BackoffLimit, 3)
		}
	}
}

// defaultContainerRecreateRequest: docs/kruise/jobs.md#containerrecreaterequest.
func defaultContainerRecreateRequest(s *ContainerRecreateRequestSpec) {
	setDefault(&s.Strategy, ContainerRecreateRequestStrategy{})
	setText(&s.Strategy.FailurePolicy, ContainerRecreateFail)
}
