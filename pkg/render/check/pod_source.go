package check

import (
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// leastTokenTime is the shortest time in seconds that a token of a service account is valid.
const leastTokenTime = 600

// content wants the names that sources of volumes cannot do without, and sound values.
func (p *podCheck) content(at string, v corev1.VolumeSource) {
	p.objects(at, v)
	p.storage(at, v)
	if v.EmptyDir != nil && v.EmptyDir.SizeLimit != nil && v.EmptyDir.SizeLimit.Sign() < 0 {
		p.fault(at+".emptyDir.sizeLimit", "", "%s must not be negative", v.EmptyDir.SizeLimit.String())
	}
	if v.HostPath != nil {
		p.required(at+".hostPath.path", v.HostPath.Path)
		if above(v.HostPath.Path) {
			p.fault(at+".hostPath.path", "", "%q holds ..", v.HostPath.Path)
		}
		if v.HostPath.Type != nil {
			p.choice(at+".hostPath.type", string(*v.HostPath.Type), "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice")
		}
	}
	if v.Image != nil {
		p.choice(at+".image.pullPolicy", string(v.Image.PullPolicy), "Always", "IfNotPresent", "Never")
	}
}

func (p *podCheck) required(at, value string) {
	if value == "" {
		p.fault(at, "", "required")
	}
}

// objects are the sources that are objects of the API.
func (p *podCheck) objects(at string, v corev1.VolumeSource) {
	if c := v.ConfigMap; c != nil {
		p.required(at+".configMap.name", c.Name)
		p.mode(at+".configMap.defaultMode", c.DefaultMode)
		p.keys(at+".configMap.items", c.Items)
	}
	if c := v.Secret; c != nil {
		p.required(at+".secret.secretName", c.SecretName)
		p.mode(at+".secret.defaultMode", c.DefaultMode)
		p.keys(at+".secret.items", c.Items)
	}
	if c := v.DownwardAPI; c != nil {
		p.mode(at+".downwardAPI.defaultMode", c.DefaultMode)
		p.podFiles(at+".downwardAPI.items", c.Items)
	}
	if c := v.Projected; c != nil {
		p.mode(at+".projected.defaultMode", c.DefaultMode)
		for i := range c.Sources {
			p.projection(fmt.Sprintf("%s.projected.sources[%d]", at, i), &c.Sources[i])
		}
	}
}

// storage are the sources that are storage.
func (p *podCheck) storage(at string, v corev1.VolumeSource) {
	if v.PersistentVolumeClaim != nil {
		p.required(at+".persistentVolumeClaim.claimName", v.PersistentVolumeClaim.ClaimName)
	}
	if v.Ephemeral != nil {
		p.ownClaim(at+".ephemeral.volumeClaimTemplate", v.Ephemeral.VolumeClaimTemplate)
	}
	if v.CSI != nil {
		p.required(at+".csi.driver", v.CSI.Driver)
	}
	if v.NFS != nil {
		p.required(at+".nfs.server", v.NFS.Server)
		if !path.IsAbs(v.NFS.Path) {
			p.fault(at+".nfs.path", "", "%q is not an absolute path", v.NFS.Path)
		}
	}
}

// ownClaim is the claim that comes and goes with a pod.
func (p *podCheck) ownClaim(at string, t *corev1.PersistentVolumeClaimTemplate) {
	if t == nil {
		p.fault(at, "", "required")
		return
	}
	if len(t.Spec.AccessModes) == 0 {
		p.fault(at+".spec.accessModes", "", "at least one is required")
	}
	if size, given := t.Spec.Resources.Requests[corev1.ResourceStorage]; !given || size.Sign() <= 0 {
		p.fault(at+".spec.resources.requests[storage]", "", "a size above 0 is required")
	}
}

// projection is one of the sources that are laid into one directory.
func (p *podCheck) projection(at string, s *corev1.VolumeProjection) {
	if n := given(s.Secret != nil, s.ConfigMap != nil, s.DownwardAPI != nil, s.ServiceAccountToken != nil, s.ClusterTrustBundle != nil, s.PodCertificate != nil); n > 1 {
		p.fault(at, "keep one", "a source is one thing, not %d", n)
	}
	if c := s.Secret; c != nil {
		p.required(at+".secret.name", c.Name)
		p.keys(at+".secret.items", c.Items)
	}
	if c := s.ConfigMap; c != nil {
		p.required(at+".configMap.name", c.Name)
		p.keys(at+".configMap.items", c.Items)
	}
	if s.DownwardAPI != nil {
		p.podFiles(at+".downwardAPI.items", s.DownwardAPI.Items)
	}
	if t := s.ServiceAccountToken; t != nil {
		p.required(at+".serviceAccountToken.path", t.Path)
		if n := t.ExpirationSeconds; n != nil && *n < leastTokenTime {
			p.fault(at+".serviceAccountToken.expirationSeconds", "", "%d must be %d or more", *n, leastTokenTime)
		}
	}
}

// keys of an object become files.
func (p *podCheck) keys(at string, items []corev1.KeyToPath) {
	for i, item := range items {
		here := fmt.Sprintf("%s[%d]", at, i)
		p.required(here+".key", item.Key)
		p.file(here+".path", item.Path)
		p.mode(here+".mode", item.Mode)
	}
}

// podFiles are files with fields of the pod.
func (p *podCheck) podFiles(at string, items []corev1.DownwardAPIVolumeFile) {
	for i, item := range items {
		here := fmt.Sprintf("%s[%d]", at, i)
		p.file(here+".path", item.Path)
		p.mode(here+".mode", item.Mode)
		if n := given(item.FieldRef != nil, item.ResourceFieldRef != nil); n != 1 {
			p.fault(here, "", "want one of fieldRef and resourceFieldRef")
		}
	}
}

// file wants the place of a file in a volume, which is not one of the kubelet's own.
func (p *podCheck) file(at, where string) {
	switch {
	case where == "":
		p.fault(at, "", "required")
	case path.IsAbs(where) || above(where):
		p.fault(at, "", "%q leads out of the volume", where)
	case strings.HasPrefix(where, ".."):
		p.fault(at, "", "%q starts with ..", where)
	}
}

// mode wants permissions of a file, if there are any, to be bits of Unix.
func (p *podCheck) mode(at string, bits *int32) {
	if bits != nil && (*bits < 0 || *bits > 0o777) {
		p.fault(at, "", "%d is not between 0 and 0777", *bits)
	}
}
