package kruise

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// DefaultTemplate fills in what an API server writes into a pod template that it
// stores; the webhooks of CloneSet and Advanced StatefulSet do the same, after
// having set their own pull policy (docs/kruise/workloads.md#percentages-and-defaults). What is
// filled only into pods (service links, requests from limits, host ports) stays out. A change of
// template is judged with these defaults on both sides: a merge patch replaces lists of containers,
// and must not look like more than it is.
func DefaultTemplate(t *corev1.PodTemplateSpec) {
	s := &t.Spec
	setText(&s.RestartPolicy, corev1.RestartPolicyAlways)
	setText(&s.DNSPolicy, corev1.DNSClusterFirst)
	setText(&s.SchedulerName, corev1.DefaultSchedulerName)
	setDefault(&s.SecurityContext, corev1.PodSecurityContext{})
	setDefault(&s.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			defaultContainer(&list[i])
			defaultProbe(list[i].StartupProbe)
		}
	}
	for i := range s.Volumes {
		defaultVolume(&s.Volumes[i].VolumeSource)
	}
}

// defaultContainer leaves the startupProbe alone, as the webhook of SidecarSets
// does (docs/kruise/sidecarset.md#defaults).
func defaultContainer(c *corev1.Container) {
	followTag(c)
	setText(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	setText(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	defaultAmounts(c.Resources.Limits)
	defaultAmounts(c.Resources.Requests)
	for i := range c.Ports {
		setText(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil {
			defaultFieldRef(from.FieldRef)
			r := from.FileKeyRef
			if r != nil {
				setDefault(&r.Optional, false)
			}
		}
	}
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe} {
		defaultProbe(p)
	}
	if l := c.Lifecycle; l != nil {
		for _, h := range []*corev1.LifecycleHandler{l.PostStart, l.PreStop} {
			if h != nil {
				defaultHTTPGet(h.HTTPGet)
			}
		}
	}
}

// defaultAmounts rounds up to thousandths, below which nothing is counted.
func defaultAmounts(list corev1.ResourceList) {
	for name, amount := range list {
		amount.RoundUp(resource.Milli)
		list[name] = amount
	}
}

func defaultFieldRef(r *corev1.ObjectFieldSelector) {
	if r != nil {
		setText(&r.APIVersion, "v1")
	}
}

func defaultProbe(p *corev1.Probe) {
	if p == nil {
		return
	}
	setNumber(&p.TimeoutSeconds, 1)
	setNumber(&p.PeriodSeconds, 10)
	setNumber(&p.SuccessThreshold, 1)
	setNumber(&p.FailureThreshold, 3)
	defaultHTTPGet(p.HTTPGet)
	if p.GRPC != nil {
		setDefault(&p.GRPC.Service, "")
	}
}

func defaultHTTPGet(h *corev1.HTTPGetAction) {
	if h != nil {
		setText(&h.Path, "/")
		setText(&h.Scheme, corev1.URISchemeHTTP)
	}
}

// setNumber gives a number that is 0 its value.
func setNumber[T ~int32](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// defaultVolume is what an API server fills into a volume; one without a source
// is an empty directory.
func defaultVolume(v *corev1.VolumeSource) {
	if *v == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if v.Secret != nil {
		setDefault(&v.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	}
	if v.ConfigMap != nil {
		setDefault(&v.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	}
	if v.HostPath != nil {
		setDefault(&v.HostPath.Type, corev1.HostPathUnset)
	}
	if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
		s := &v.Ephemeral.VolumeClaimTemplate.Spec
		setDefault(&s.VolumeMode, corev1.PersistentVolumeFilesystem)
	}
	if v.Image != nil {
		image := corev1.Container{Image: v.Image.Reference, ImagePullPolicy: v.Image.PullPolicy}
		followTag(&image)
		v.Image.PullPolicy = image.ImagePullPolicy
	}
	d := v.DownwardAPI
	if d != nil {
		setDefault(&d.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		for i := range d.Items {
			defaultFieldRef(d.Items[i].FieldRef)
		}
	}
	defaultProjected(v.Projected)
	// Fill in the sources that name a disk.
	if v.ISCSI != nil {
		setText(&v.ISCSI.ISCSIInterface, "default")
	}
	if v.RBD != nil {
		setText(&v.RBD.RBDPool, "rbd")
		setText(&v.RBD.RadosUser, "admin")
		setText(&v.RBD.Keyring, "/etc/ceph/keyring")
	}
	if d := v.AzureDisk; d != nil {
		setDefault(&d.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		setDefault(&d.Kind, corev1.AzureSharedBlobDisk)
		setDefault(&d.FSType, "ext4")
		setDefault(&d.ReadOnly, false)
	}
	if v.ScaleIO != nil {
		setText(&v.ScaleIO.StorageMode, "ThinProvisioned")
		setText(&v.ScaleIO.FSType, "xfs")
	}
}

func defaultProjected(p *corev1.ProjectedVolumeSource) {
	if p == nil {
		return
	}
	setDefault(&p.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
	for _, s := range p.Sources {
		if s.DownwardAPI != nil {
			for i := range s.DownwardAPI.Items {
				defaultFieldRef(s.DownwardAPI.Items[i].FieldRef)
			}
		}
		if s.ServiceAccountToken != nil {
			setDefault(&s.ServiceAccountToken.ExpirationSeconds, 60*60)
		}
	}
}
