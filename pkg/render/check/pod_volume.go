package check

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// volumesOf checks volumes and notes their names.
func (p *podCheck) volumesOf(at string, volumes []corev1.Volume) {
	names := map[string]bool{}
	for i, v := range volumes {
		here := fmt.Sprintf("%s.volumes[%d]", at, i)
		p.label(here+".name", "volume", v.Name, names)
		p.volumes[v.Name] = true
		p.files[v.Name] = v.PersistentVolumeClaim == nil && v.Ephemeral == nil
		p.volumeSource(here, v.VolumeSource)
	}
}

// volumeSource: one place that the content comes from, named completely.
func (p *podCheck) volumeSource(at string, v corev1.VolumeSource) {
	if n := sources(v); n > 1 {
		p.fault(at, "keep one", "a volume has one source, not %d", n)
	}
	p.content(at, v)
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

// mounts: each names a volume that there is and a path of its own.
func (p *podCheck) mounts(at string, c *corev1.Container) {
	used := map[string]bool{}
	for i, m := range c.VolumeMounts {
		here := fmt.Sprintf("%s.volumeMounts[%d]", at, i)
		p.mounted(here, m.Name)
		p.place(here+".mountPath", m.MountPath, used)
		p.mount(here, m)
	}
	p.devices(at, c, used)
}

// devices: each names a claim that is not mounted besides, and a path of its own.
func (p *podCheck) devices(at string, c *corev1.Container, used map[string]bool) {
	taken := map[string]bool{}
	for _, m := range c.VolumeMounts {
		taken[m.Name] = true
	}
	for i, d := range c.VolumeDevices {
		here := fmt.Sprintf("%s.volumeDevices[%d]", at, i)
		p.mounted(here, d.Name)
		p.place(here+".devicePath", d.DevicePath, used)
		switch {
		case p.files[d.Name]:
			p.fault(here+".name", "mount it with volumeMounts", "volume %q is not from a claim, so it is no block device", d.Name)
		case taken[d.Name]:
			p.fault(here+".name", "", "volume %q is used twice", d.Name)
		}
		if above(d.DevicePath) {
			p.fault(here+".devicePath", "", "%q holds ..", d.DevicePath)
		}
		taken[d.Name] = true
	}
}

// mount holds what goes for a mount wherever its volume comes from.
func (p *podCheck) mount(at string, m corev1.VolumeMount) {
	if strings.Contains(m.MountPath, ":") {
		p.fault(at+".mountPath", "", "%q holds a colon", m.MountPath)
	}
	p.within(at+".subPath", m.SubPath)
	p.within(at+".subPathExpr", m.SubPathExpr)
	if m.SubPath != "" && m.SubPathExpr != "" {
		p.fault(at+".subPathExpr", "keep one of the two", "subPath and subPathExpr exclude each other")
	}
}

// within: a part of a volume lies in it.
func (p *podCheck) within(at, part string) {
	if path.IsAbs(part) || above(part) {
		p.fault(at, "", "%q leads out of the volume", part)
	}
}

func above(where string) bool { return slices.Contains(strings.Split(where, "/"), "..") }

func (p *podCheck) mounted(at, name string) {
	if !p.volumes[name] {
		p.fault(at+".name", "", "there is no volume %q", name)
	}
}

func (p *podCheck) place(at, where string, used map[string]bool) {
	switch {
	case where == "":
		p.fault(at, "", "a path is required")
	case used[where]:
		p.fault(at, "", "%q is used twice", where)
	}
	used[where] = true
}
