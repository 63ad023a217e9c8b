package kruise

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// defaultSidecarSet: docs/kruise/sidecarset.md#defaults.
func defaultSidecarSet(s *SidecarSetSpec) {
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
