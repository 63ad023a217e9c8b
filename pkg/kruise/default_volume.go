package kruise

import corev1 "k8s.io/api/core/v1"

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
		defaultClaim(&v.Ephemeral.VolumeClaimTemplate.Spec)
	}
	if v.Image != nil {
		image := corev1.Container{Image: v.Image.Reference, ImagePullPolicy: v.Image.PullPolicy}
		followTag(&image)
		v.Image.PullPolicy = image.ImagePullPolicy
	}
	defaultDownward(v.DownwardAPI)
	defaultProjected(v.Projected)
	defaultDisk(v)
}

func defaultDownward(d *corev1.DownwardAPIVolumeSource) {
	if d == nil {
		return
	}
	setDefault(&d.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
	for i := range d.Items {
		defaultFieldRef(d.Items[i].FieldRef)
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

// defaultDisk fills in the sources that name a disk.
func defaultDisk(v *corev1.VolumeSource) {
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
