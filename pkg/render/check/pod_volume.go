package check

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// podVolumes has the rules for volumes and for where containers mount them.
type podVolumes struct {
	*podReporter

	// names are those of the volumes that containers can mount.
	names map[string]bool
	// notClaims are the volumes that are not from a claim: they are no block devices.
	notClaims map[string]bool
}

func newPodVolumes(p *podReporter, claims []corev1.PersistentVolumeClaim) *podVolumes {
	v := &podVolumes{podReporter: p, names: map[string]bool{}, notClaims: map[string]bool{}}
	for _, c := range claims {
		v.names[c.Name] = true
	}
	return v
}

// pod checks the volumes of a pod, and adds their names.
func (p *podVolumes) pod(at string, volumes []corev1.Volume) {
	names := map[string]bool{}
	for i, v := range volumes {
		here := fmt.Sprintf("%s.volumes[%d]", at, i)
		p.label(here+".name", "volume", v.Name, names)
		p.names[v.Name] = true
		p.notClaims[v.Name] = v.PersistentVolumeClaim == nil && v.Ephemeral == nil
		p.volumeSource(here, v.VolumeSource)
	}
}

// volumeSource wants exactly one source, with all required fields.
func (p *podVolumes) volumeSource(at string, v corev1.VolumeSource) {
	if n := sources(v); n > 1 {
		p.fault(at, "keep one", "a volume has one source, not %d", n)
	}
	p.sourceFields(at, v)
}

// sources counts the sources of a volume.
func sources(v corev1.VolumeSource) (n int) {
	for _, f := range reflect.ValueOf(v).Fields() {
		if !f.IsNil() {
			n++
		}
	}
	return n
}

// volumeMounts wants each mount to name an existing volume and a unique path.
func (p *podVolumes) volumeMounts(at string, c *corev1.Container) {
	used := map[string]bool{}
	for i, m := range c.VolumeMounts {
		here := fmt.Sprintf("%s.volumeMounts[%d]", at, i)
		p.volumeName(here, m.Name)
		p.mountPoint(here+".mountPath", m.MountPath, used)
		p.volumeMount(here, m)
	}
	p.volumeDevices(at, c, used)
}

// volumeDevices wants each device to name a claim that is not also mounted, and a unique path.
func (p *podVolumes) volumeDevices(at string, c *corev1.Container, used map[string]bool) {
	taken := map[string]bool{}
	for _, m := range c.VolumeMounts {
		taken[m.Name] = true
	}
	for i, d := range c.VolumeDevices {
		here := fmt.Sprintf("%s.volumeDevices[%d]", at, i)
		p.volumeName(here, d.Name)
		p.mountPoint(here+".devicePath", d.DevicePath, used)
		switch {
		case p.notClaims[d.Name]:
			p.fault(here+".name", "mount it with volumeMounts", "volume %q is not from a claim, so it is no block device", d.Name)
		case taken[d.Name]:
			p.fault(here+".name", "", "volume %q is used twice", d.Name)
		}
		if hasParentStep(d.DevicePath) {
			p.fault(here+".devicePath", "", "%q holds ..", d.DevicePath)
		}
		taken[d.Name] = true
	}
}

// volumeMount has the rules that do not depend on the volume.
func (p *podVolumes) volumeMount(at string, m corev1.VolumeMount) {
	if strings.Contains(m.MountPath, ":") {
		p.fault(at+".mountPath", "", "%q holds a colon", m.MountPath)
	}
	p.subPath(at+".subPath", m.SubPath)
	p.subPath(at+".subPathExpr", m.SubPathExpr)
	if m.SubPath != "" && m.SubPathExpr != "" {
		p.fault(at+".subPathExpr", "keep one of the two", "subPath and subPathExpr are mutually exclusive")
	}
}

// subPath wants a path inside the volume.
func (p *podVolumes) subPath(at, part string) {
	if path.IsAbs(part) || hasParentStep(part) {
		p.fault(at, "", "%q leads out of the volume", part)
	}
}

func hasParentStep(where string) bool { return slices.Contains(strings.Split(where, "/"), "..") }

func (p *podVolumes) volumeName(at, name string) {
	if !p.names[name] {
		p.fault(at+".name", "", "there is no volume %q", name)
	}
}

func (p *podVolumes) mountPoint(at, where string, used map[string]bool) {
	switch {
	case where == "":
		p.fault(at, "", "a path is required")
	case used[where]:
		p.fault(at, "", "%q is used twice", where)
	}
	used[where] = true
}

// leastTokenTime is the shortest time in seconds that a token of a service account is valid.
const leastTokenTime = 600

// sourceFields wants the required fields of sources, and valid values.
func (p *podVolumes) sourceFields(at string, v corev1.VolumeSource) {
	p.objectSources(at, v)
	p.storageSources(at, v)
	if v.EmptyDir != nil && v.EmptyDir.SizeLimit != nil && v.EmptyDir.SizeLimit.Sign() < 0 {
		p.fault(at+".emptyDir.sizeLimit", "", "%s must not be negative", v.EmptyDir.SizeLimit.String())
	}
	if v.HostPath != nil {
		p.required(at+".hostPath.path", v.HostPath.Path)
		if hasParentStep(v.HostPath.Path) {
			p.fault(at+".hostPath.path", "", "%q holds ..", v.HostPath.Path)
		}
		if v.HostPath.Type != nil {
			p.oneOf(at+".hostPath.type", string(*v.HostPath.Type), "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice")
		}
	}
	if v.Image != nil {
		p.oneOf(at+".image.pullPolicy", string(v.Image.PullPolicy), "Always", "IfNotPresent", "Never")
	}
}

// objectSources checks the sources that are objects of the API.
func (p *podVolumes) objectSources(at string, v corev1.VolumeSource) {
	if c := v.ConfigMap; c != nil {
		p.required(at+".configMap.name", c.Name)
		p.fileMode(at+".configMap.defaultMode", c.DefaultMode)
		p.keyFiles(at+".configMap.items", c.Items)
	}
	if c := v.Secret; c != nil {
		p.required(at+".secret.secretName", c.SecretName)
		p.fileMode(at+".secret.defaultMode", c.DefaultMode)
		p.keyFiles(at+".secret.items", c.Items)
	}
	if c := v.DownwardAPI; c != nil {
		p.fileMode(at+".downwardAPI.defaultMode", c.DefaultMode)
		p.downwardFiles(at+".downwardAPI.items", c.Items)
	}
	if c := v.Projected; c != nil {
		p.fileMode(at+".projected.defaultMode", c.DefaultMode)
		for i := range c.Sources {
			p.projection(fmt.Sprintf("%s.projected.sources[%d]", at, i), &c.Sources[i])
		}
	}
}

// storageSources checks the sources that are storage.
func (p *podVolumes) storageSources(at string, v corev1.VolumeSource) {
	if v.PersistentVolumeClaim != nil {
		p.required(at+".persistentVolumeClaim.claimName", v.PersistentVolumeClaim.ClaimName)
	}
	if v.Ephemeral != nil {
		p.ephemeralClaim(at+".ephemeral.volumeClaimTemplate", v.Ephemeral.VolumeClaimTemplate)
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

// ephemeralClaim checks a claim that is created and deleted with the pod.
func (p *podVolumes) ephemeralClaim(at string, t *corev1.PersistentVolumeClaimTemplate) {
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

// projection checks one source of a projected volume.
func (p *podVolumes) projection(at string, s *corev1.VolumeProjection) {
	if n := given(s.Secret != nil, s.ConfigMap != nil, s.DownwardAPI != nil, s.ServiceAccountToken != nil, s.ClusterTrustBundle != nil, s.PodCertificate != nil); n > 1 {
		p.fault(at, "keep one", "a source is one thing, not %d", n)
	}
	if c := s.Secret; c != nil {
		p.required(at+".secret.name", c.Name)
		p.keyFiles(at+".secret.items", c.Items)
	}
	if c := s.ConfigMap; c != nil {
		p.required(at+".configMap.name", c.Name)
		p.keyFiles(at+".configMap.items", c.Items)
	}
	if s.DownwardAPI != nil {
		p.downwardFiles(at+".downwardAPI.items", s.DownwardAPI.Items)
	}
	if t := s.ServiceAccountToken; t != nil {
		p.required(at+".serviceAccountToken.path", t.Path)
		if n := t.ExpirationSeconds; n != nil && *n < leastTokenTime {
			p.fault(at+".serviceAccountToken.expirationSeconds", "", "%d must be %d or more", *n, leastTokenTime)
		}
	}
}

// keyFiles checks the keys of an object that become files.
func (p *podVolumes) keyFiles(at string, items []corev1.KeyToPath) {
	for i, item := range items {
		here := fmt.Sprintf("%s[%d]", at, i)
		p.required(here+".key", item.Key)
		p.filePath(here+".path", item.Path)
		p.fileMode(here+".mode", item.Mode)
	}
}

// downwardFiles checks files with fields of the pod.
func (p *podVolumes) downwardFiles(at string, items []corev1.DownwardAPIVolumeFile) {
	for i, item := range items {
		here := fmt.Sprintf("%s[%d]", at, i)
		p.filePath(here+".path", item.Path)
		p.fileMode(here+".mode", item.Mode)
		if n := given(item.FieldRef != nil, item.ResourceFieldRef != nil); n != 1 {
			p.fault(here, "", "want one of fieldRef and resourceFieldRef")
		}
	}
}

// filePath wants a path inside the volume that is not one of the kubelet's own files.
func (p *podVolumes) filePath(at, where string) {
	switch {
	case where == "":
		p.fault(at, "", "required")
	case path.IsAbs(where) || hasParentStep(where):
		p.fault(at, "", "%q leads out of the volume", where)
	case strings.HasPrefix(where, ".."):
		p.fault(at, "", "%q starts with ..", where)
	}
}

// fileMode wants Unix permissions, if there are any.
func (p *podVolumes) fileMode(at string, bits *int32) {
	if bits != nil && (*bits < 0 || *bits > 0o777) {
		p.fault(at, "", "%d is not between 0 and 0777", *bits)
	}
}
