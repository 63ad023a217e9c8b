package kruise

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Default fills in what Kruise's webhooks and schemas would write into the
// object, given as a pointer to its type; other objects stay as they are. What
// Kubernetes itself fills into pods (probes, termination messages …) and what
// takes a look at the cluster is left out.
func Default(obj any) {
	if o, ok := obj.(interface{ setDefaults() }); ok {
		o.setDefaults()
	}
}

// setDefault gives a field that is not there its value.
func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// setText gives an empty field its value.
func setText[T ~string](field *T, value T) {
	if *field == "" {
		*field = value
	}
}

// WebhookPullPolicy is what Kruise's webhooks write into containers without a
// pull policy, where they do (docs/kruise/sidecarset.md#observed-on-a-cluster).
const WebhookPullPolicy = corev1.PullAlways

// alwaysPull is what Kruise's webhooks do to containers without a pull policy,
// whatever their tag; init containers follow it (docs/kruise/sidecarset.md#observed-on-a-cluster).
func alwaysPull(s *corev1.PodSpec) {
	for i := range s.Containers {
		setText(&s.Containers[i].ImagePullPolicy, WebhookPullPolicy)
	}
	for i := range s.InitContainers {
		followTag(&s.InitContainers[i])
	}
}

// followTag gives a container Kubernetes' own default.
func followTag(c *corev1.Container) { setText(&c.ImagePullPolicy, PullPolicyOf(c.Image)) }

// PullPolicyOf is Kubernetes' own default for an image: what may change under
// its tag is pulled every time.
func PullPolicyOf(image string) corev1.PullPolicy {
	name, _, digest := strings.Cut(image, "@")
	_, tag, tagged := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	if tag == "latest" || !tagged && !digest {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

// DefaultStored fills in everything that the object has once an API server with
// Kruise has stored it: what [Default] knows, and what Kubernetes writes into
// pod templates and into its own workloads. An Advanced DaemonSet's template
// stays as it is (docs/kruise/workloads.md#percentages-and-defaults).
func DefaultStored(obj any) {
	Default(obj)
	switch o := obj.(type) {
	case interface{ setStored() }:
		o.setStored()
	case *appsv1.Deployment:
		defaultDeployment(&o.Spec)
	case *appsv1.ReplicaSet:
		setDefault(&o.Spec.Replicas, 1)
		nativeTemplate(&o.Spec.Template)
	case *appsv1.StatefulSet:
		defaultNativeStatefulSet(&o.Spec)
	case *appsv1.DaemonSet:
		defaultNativeDaemonSet(&o.Spec)
	}
}

func (o *SidecarSet) setStored() {
	s := &o.Spec
	for i := range s.InitContainers {
		defaultContainer(&s.InitContainers[i].Container)
	}
	for i := range s.Containers {
		defaultContainer(&s.Containers[i].Container)
	}
	for i := range s.Volumes {
		defaultVolume(&s.Volumes[i].VolumeSource)
	}
}

// nativeTemplate also writes the account under its old name, as the API server
// does for its own kinds.
func nativeTemplate(t *corev1.PodTemplateSpec) {
	DefaultTemplate(t)
	setText(&t.Spec.ServiceAccountName, t.Spec.DeprecatedServiceAccount)
	t.Spec.DeprecatedServiceAccount = t.Spec.ServiceAccountName
}

func defaultDeployment(s *appsv1.DeploymentSpec) {
	setDefault(&s.Replicas, 1)
	setDefault(&s.RevisionHistoryLimit, 10)
	setDefault(&s.ProgressDeadlineSeconds, 600)
	setText(&s.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if s.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		setDefault(&s.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		setDefault(&s.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		setDefault(&s.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	nativeTemplate(&s.Template)
}

func defaultNativeStatefulSet(s *appsv1.StatefulSetSpec) {
	setDefault(&s.Replicas, 1)
	setDefault(&s.RevisionHistoryLimit, 10)
	setText(&s.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	setDefault(&s.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	setText(&s.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setText(&s.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setText(&s.UpdateStrategy.Type, appsv1.RollingUpdateStatefulSetStrategyType)
	if s.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		setDefault(&s.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
		setDefault(&s.UpdateStrategy.RollingUpdate.Partition, 0)
	}
	nativeTemplate(&s.Template)
}

func defaultNativeDaemonSet(s *appsv1.DaemonSetSpec) {
	setDefault(&s.RevisionHistoryLimit, 10)
	setText(&s.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if s.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		setDefault(&s.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		setDefault(&s.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		setDefault(&s.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	nativeTemplate(&s.Template)
}
