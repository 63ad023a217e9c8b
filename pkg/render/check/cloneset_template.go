package check

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

const podSpec = "spec.template.spec."

// template holds the rules for the pod template that Kruise's webhook adds to
// Kubernetes' own, and of those the ones that mistakes are made against.
func (k *cloneSetCheck) template() {
	s := &k.spec.Template.Spec
	if s.RestartPolicy != "" && s.RestartPolicy != corev1.RestartPolicyAlways {
		k.fault(podSpec+"restartPolicy", "", "%q is not allowed: want Always", s.RestartPolicy)
	}
	if s.ActiveDeadlineSeconds != nil {
		k.fault(podSpec+"activeDeadlineSeconds", "remove it", "pods of a CloneSet have no deadline")
	}
	if len(s.Containers) == 0 {
		k.fault(podSpec+"containers", "", "at least one container is required")
	}
	volumes := k.volumes(s)
	names := map[string]bool{}
	for i := range s.InitContainers {
		k.container(fmt.Sprintf("%sinitContainers[%d]", podSpec, i), &s.InitContainers[i], names, volumes)
	}
	for i := range s.Containers {
		k.container(fmt.Sprintf("%scontainers[%d]", podSpec, i), &s.Containers[i], names, volumes)
	}
}

// volumes returns the names that containers can mount.
func (k *cloneSetCheck) volumes(s *corev1.PodSpec) map[string]bool {
	names := map[string]bool{}
	for i, v := range s.Volumes {
		k.label(fmt.Sprintf("%svolumes[%d].name", podSpec, i), "volume", v.Name, names)
	}
	for _, c := range k.spec.VolumeClaimTemplates {
		names[c.Name] = true
	}
	return names
}

// label: a name that is a DNS label and appears once.
func (k *cloneSetCheck) label(path, what, name string, seen map[string]bool) {
	switch msgs := validation.IsDNS1123Label(name); {
	case name == "":
		k.fault(path, "", "a %s needs a name", what)
	case len(msgs) > 0:
		k.fault(path, "", "%q is not a name: %s", name, strings.Join(msgs, "; "))
	case seen[name]:
		k.fault(path, "", "there are two %ss %s", what, name)
	}
	seen[name] = true
}

func (k *cloneSetCheck) container(path string, c *corev1.Container, names, volumes map[string]bool) {
	k.label(path+".name", "container", c.Name, names)
	if c.Image == "" {
		k.fault(path+".image", "", "an image is required")
	}
	for i, m := range c.VolumeMounts {
		at := fmt.Sprintf("%s.volumeMounts[%d]", path, i)
		if !volumes[m.Name] {
			k.fault(at+".name", "", "there is no volume %q", m.Name)
		}
		if m.MountPath == "" {
			k.fault(at+".mountPath", "", "a path is required")
		}
	}
	for i, e := range c.Env {
		if e.Name == "" {
			k.fault(fmt.Sprintf("%s.env[%d].name", path, i), "", "a name is required")
		}
	}
	resources(k.fault, path+".resources", c.Resources)
}
