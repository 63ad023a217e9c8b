package kruise

import (
	"math"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// setDefaults: docs/kruise/workloads.md#percentages-and-defaults. OnDelete gets no
// rollingUpdate.
func (o *CloneSet) setDefaults() {
	s := &o.Spec
	setDefault(&s.Replicas, 1)
	setDefault(&s.RevisionHistoryLimit, 10)
	alwaysPull(&s.Template.Spec)
	setText(&s.UpdateStrategy.Type, RollingUpdateCloneSetStrategyType)
	if s.UpdateStrategy.Type != RollingUpdateCloneSetStrategyType {
		return
	}
	setDefault(&s.UpdateStrategy.RollingUpdate, RollingUpdateCloneSetStrategy{})
	r := s.UpdateStrategy.RollingUpdate
	setText(&r.PodUpdatePolicy, RecreateCloneSetPodUpdateStrategyType)
	setDefault(&r.Partition, intstr.FromInt32(0))
	setDefault(&r.MaxUnavailable, intstr.FromString("20%"))
	setDefault(&r.MaxSurge, intstr.FromInt32(0))
}

// setDefaults: docs/kruise/workloads.md#percentages-and-defaults.
func (o *StatefulSet) setDefaults() {
	s := &o.Spec
	setDefault(&s.Replicas, 1)
	setDefault(&s.RevisionHistoryLimit, 10)
	setText(&s.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	setDefault(&s.PersistentVolumeClaimRetentionPolicy, StatefulSetPersistentVolumeClaimRetentionPolicy{})
	setText(&s.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setText(&s.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	alwaysPull(&s.Template.Spec)
	setText(&s.UpdateStrategy.Type, appsv1.RollingUpdateStatefulSetStrategyType)
	if s.UpdateStrategy.Type != appsv1.RollingUpdateStatefulSetStrategyType {
		return
	}
	setDefault(&s.UpdateStrategy.RollingUpdate, RollingUpdateStatefulSetStrategy{})
	r := s.UpdateStrategy.RollingUpdate
	setText(&r.PodUpdatePolicy, RecreatePodUpdateStrategyType)
	setDefault(&r.Partition, 0)
	setDefault(&r.MaxUnavailable, intstr.FromInt32(1))
	setDefault(&r.MinReadySeconds, 0)
}

// setDefaults: docs/kruise/workloads.md#percentages-and-defaults. The template is left alone,
// and so are maxUnavailable and maxSurge when one of them is there.
func (o *DaemonSet) setDefaults() {
	s := &o.Spec
	setDefault(&s.RevisionHistoryLimit, 10)
	setDefault(&s.BurstReplicas, intstr.FromInt32(250))
	setText(&s.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if s.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType {
		return
	}
	setDefault(&s.UpdateStrategy.RollingUpdate, RollingUpdateDaemonSet{})
	r := s.UpdateStrategy.RollingUpdate
	setText(&r.RollingUpdateType, StandardRollingUpdateType)
	if r.MaxUnavailable == nil && r.MaxSurge == nil {
		setDefault(&r.MaxUnavailable, intstr.FromInt32(1))
		setDefault(&r.MaxSurge, intstr.FromInt32(0))
	}
}

// setDefaults: docs/kruise/distribution.md#spec and
// docs/kruise/distribution.md#observed-on-a-cluster. Of the templates, only that of a native
// StatefulSet is touched; the other workloads get their defaults when they are created.
func (o *UnitedDeployment) setDefaults() {
	s := &o.Spec
	setDefault(&s.Replicas, 1)
	setDefault(&s.RevisionHistoryLimit, 10)
	setText(&s.UpdateStrategy.Type, ManualUpdateStrategyType)
	setDefault(&s.UpdateStrategy.ManualUpdate, ManualUpdate{})
	if t := s.Template.StatefulSetTemplate; t != nil {
		alwaysPull(&t.Spec.Template.Spec)
	}
	if elastic(s.Topology.Subsets) {
		for i := range s.Topology.Subsets {
			setDefault(&s.Topology.Subsets[i].MinReplicas, intstr.FromInt32(0))
		}
	}
}

// elastic: some subset has a limit, and none has a number of its own.
func elastic(subsets []Subset) bool {
	limited := false
	for _, s := range subsets {
		if s.Replicas != nil {
			return false
		}
		limited = limited || s.MinReplicas != nil || s.MaxReplicas != nil
	}
	return limited
}

// setDefaults: docs/kruise/sidecarset.md#defaults.
func (o *SidecarSet) setDefaults() {
	s := &o.Spec
	setDefault(&s.RevisionHistoryLimit, 10)
	setText(&s.UpdateStrategy.Type, RollingUpdateSidecarSetStrategyType)
	setDefault(&s.UpdateStrategy.Partition, intstr.FromInt32(0))
	setDefault(&s.UpdateStrategy.MaxUnavailable, intstr.FromInt32(1))
	if r := s.InjectionStrategy.Revision; r != nil {
		setText(&r.Policy, AlwaysSidecarSetInjectRevisionPolicy)
	}
	for i := range s.PatchPodMetadata {
		setText(&s.PatchPodMetadata[i].PatchPolicy, SidecarSetRetainPatchPolicy)
	}
	for i := range s.Containers {
		defaultSidecar(&s.Containers[i], BeforeAppContainerType)
	}
	for i := range s.InitContainers {
		defaultSidecar(&s.InitContainers[i], AfterAppContainerType)
	}
}

func defaultSidecar(c *SidecarContainer, side PodInjectPolicyType) {
	setText(&c.PodInjectPolicy, side)
	setText(&c.UpgradeStrategy.UpgradeType, SidecarContainerColdUpgrade)
	setText(&c.ShareVolumePolicy.Type, ShareVolumePolicyDisabled)
	followTag(&c.Container)
	for _, t := range c.TransferEnv {
		if from := t.SourceContainerNameFrom; from != nil && from.FieldRef != nil {
			setText(&from.FieldRef.APIVersion, "v1")
		}
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil && from.FieldRef != nil {
			setText(&from.FieldRef.APIVersion, "v1")
		}
	}
	for i := range c.Ports {
		setText(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	if r := c.ResourcesPolicy; r != nil {
		setText(&r.TargetContainersNameRegex, ".*")
	}
}

// setDefaults: docs/kruise/jobs.md#broadcastjob.
func (o *BroadcastJob) setDefaults() {
	s := &o.Spec
	setDefault(&s.Parallelism, intstr.FromInt32(math.MaxInt32))
	setText(&s.CompletionPolicy.Type, AlwaysCompletionPolicyType)
	setText(&s.FailurePolicy.Type, FailFastFailurePolicyType)
	alwaysPull(&s.Template.Spec)
}

// setDefaults: docs/kruise/jobs.md#advancedcronjob. The created jobs get
// their own defaults later.
func (o *AdvancedCronJob) setDefaults() {
	s := &o.Spec
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

func (o *ImageListPullJob) setDefaults() { defaultImagePull(&o.Spec.ImagePullJobTemplate) }

func (o *ImagePullJob) setDefaults() {
	defaultImagePull(&o.Spec.ImagePullJobTemplate)
	setText(&o.Spec.ImagePullPolicy, PullIfNotPresent)
}

// setDefaults: each tag is pulled as a job would (docs/kruise/jobs.md#image-pulls).
func (o *NodeImage) setDefaults() {
	s := &o.Spec
	for _, image := range s.Images {
		for i := range image.Tags {
			p := &image.Tags[i].PullPolicy
			setDefault(p, ImageTagPullPolicy{})
			setDefault(&(*p).TimeoutSeconds, 600)
			setDefault(&(*p).BackoffLimit, 3)
		}
	}
}

// setDefaults: docs/kruise/jobs.md#containerrecreaterequest.
func (o *ContainerRecreateRequest) setDefaults() {
	s := &o.Spec
	setDefault(&s.Strategy, ContainerRecreateRequestStrategy{})
	setText(&s.Strategy.FailurePolicy, ContainerRecreateFail)
}

// DefaultRecreate fills in what the webhook of a ContainerRecreateRequest takes
// from the pod when the request is made (docs/kruise/jobs.md#containerrecreaterequest): the
// labels by which the node's agent finds the request, the grace period, and of
// each container the hook, the ports that an HTTP hook may name, and what it is
// to be compared with later. It expects that the request passed the check.
func DefaultRecreate(r *ContainerRecreateRequest, pod *corev1.Pod) {
	r.setDefaults()
	if r.Labels == nil {
		r.Labels = map[string]string{}
	}
	r.Labels[ContainerRecreatePodUIDLabel] = string(pod.UID)
	r.Labels[ContainerRecreateNodeNameLabel] = pod.Spec.NodeName
	r.Labels[ContainerRecreateActiveLabel] = "true"
	if grace := pod.Spec.TerminationGracePeriodSeconds; grace != nil {
		setDefault(&r.Spec.Strategy.TerminationGracePeriodSeconds, *grace)
	}
	for i := range r.Spec.Containers {
		c := &r.Spec.Containers[i]
		for _, known := range pod.Spec.Containers {
			if known.Name != c.Name || known.Lifecycle == nil || known.Lifecycle.PreStop == nil {
				continue
			}
			hook := known.Lifecycle.PreStop
			c.PreStop = &ContainerRecreatePreStop{Exec: hook.Exec, HTTPGet: hook.HTTPGet, TCPSocket: hook.TCPSocket}
			if hook.HTTPGet != nil {
				c.Ports = known.Ports
			}
		}
		for _, status := range pod.Status.ContainerStatuses {
			if status.Name == c.Name {
				c.StatusContext = &ContainerRecreateRequestStatusContext{ContainerID: status.ContainerID, RestartCount: status.RestartCount}
			}
		}
	}
}

// RecreateOn marks a request for a pod on a virtual node, where no agent of Kruise
// runs; on any other node it stays as it is.
func RecreateOn(r *ContainerRecreateRequest, node *corev1.Node) {
	if node.Labels[NodeTypeLabel] != VirtualNodeType {
		return
	}
	if r.Labels == nil {
		r.Labels = map[string]string{}
	}
	r.Labels[NodeTypeLabel] = VirtualNodeType
}

// setStored: the jobs get their own defaults when they are made; of
// the templates, those of pods are filled in (docs/kruise/jobs.md#advancedcronjob), and
// metadata goes where the schema declares none of its fields (12).
func (o *AdvancedCronJob) setStored() {
	t := &o.Spec.Template
	if t.JobTemplate != nil {
		DefaultTemplate(&t.JobTemplate.Spec.Template)
	}
	if t.BroadcastJobTemplate != nil {
		DefaultTemplate(&t.BroadcastJobTemplate.Spec.Template)
		t.BroadcastJobTemplate.ObjectMeta = metav1.ObjectMeta{}
	}
	if t.ImageListPullJobTemplate != nil {
		t.ImageListPullJobTemplate.ObjectMeta = metav1.ObjectMeta{}
	}
}

// setStored: only the template of a native StatefulSet is touched
// (docs/kruise/distribution.md#observed-on-a-cluster).
func (o *UnitedDeployment) setStored() {
	if t := o.Spec.Template.StatefulSetTemplate; t != nil {
		DefaultTemplate(&t.Spec.Template)
		defaultClaims(t.Spec.VolumeClaimTemplates)
	}
}

func (o *BroadcastJob) setStored() { DefaultTemplate(&o.Spec.Template) }

func (o *CloneSet) setStored() {
	DefaultTemplate(&o.Spec.Template)
	defaultClaims(o.Spec.VolumeClaimTemplates)
}

func (o *StatefulSet) setStored() {
	DefaultTemplate(&o.Spec.Template)
	defaultClaims(o.Spec.VolumeClaimTemplates)
}

// defaultClaims is what is filled into claim templates, their status included.
func defaultClaims(claims []corev1.PersistentVolumeClaim) {
	for i := range claims {
		setText(&claims[i].Status.Phase, corev1.ClaimPending)
	}
}
