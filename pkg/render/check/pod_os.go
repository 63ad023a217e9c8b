package check

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// setting is a field, and whether it has a value.
type setting struct {
	field string
	given bool
}

// system wants the operating system to be a known one, and refuses settings of the other one.
func (p *podCheck) system(at string, s *corev1.PodSpec) {
	if s.OS == nil {
		return
	}
	if p.systemless {
		p.older(at+".os", "remove it", "Kruise takes no pods with an operating system before 1.6")
	}
	p.need(at+".os.name", string(s.OS.Name), string(corev1.Linux), string(corev1.Windows))
	pod, container := windowsPod, windowsContainer
	switch s.OS.Name {
	case corev1.Linux:
	case corev1.Windows:
		pod, container = linuxPod, linuxContainer
	default:
		return
	}
	foreign := func(at string, settings []setting) {
		for _, f := range settings {
			if f.given {
				p.fault(at+f.field, "remove it, or change os.name", "not allowed in a pod for %s", s.OS.Name)
			}
		}
	}
	foreign(at+".", pod(s))
	for i, c := range s.InitContainers {
		foreign(fmt.Sprintf("%s.initContainers[%d].securityContext.", at, i), container(c.SecurityContext))
	}
	for i, c := range s.Containers {
		foreign(fmt.Sprintf("%s.containers[%d].securityContext.", at, i), container(c.SecurityContext))
	}
}

func windowsPod(s *corev1.PodSpec) []setting {
	return []setting{{"securityContext.windowsOptions", s.SecurityContext != nil && s.SecurityContext.WindowsOptions != nil}}
}

func windowsContainer(c *corev1.SecurityContext) []setting {
	return []setting{{"windowsOptions", c != nil && c.WindowsOptions != nil}}
}

func linuxPod(s *corev1.PodSpec) []setting {
	all := []setting{
		{"hostUsers", s.HostUsers != nil},
		{"hostPID", s.HostPID},
		{"hostIPC", s.HostIPC},
		{"shareProcessNamespace", s.ShareProcessNamespace != nil},
	}
	c := s.SecurityContext
	if c == nil {
		return all
	}
	const at = "securityContext."
	return append(all,
		setting{at + "appArmorProfile", c.AppArmorProfile != nil},
		setting{at + "seLinuxOptions", c.SELinuxOptions != nil},
		setting{at + "seccompProfile", c.SeccompProfile != nil},
		setting{at + "fsGroup", c.FSGroup != nil},
		setting{at + "fsGroupChangePolicy", c.FSGroupChangePolicy != nil},
		setting{at + "sysctls", len(c.Sysctls) > 0},
		setting{at + "runAsUser", c.RunAsUser != nil},
		setting{at + "runAsGroup", c.RunAsGroup != nil},
		setting{at + "supplementalGroups", c.SupplementalGroups != nil},
		setting{at + "supplementalGroupsPolicy", c.SupplementalGroupsPolicy != nil},
		setting{at + "seLinuxChangePolicy", c.SELinuxChangePolicy != nil},
	)
}

func linuxContainer(c *corev1.SecurityContext) []setting {
	if c == nil {
		return nil
	}
	return []setting{
		{"appArmorProfile", c.AppArmorProfile != nil},
		{"seLinuxOptions", c.SELinuxOptions != nil},
		{"seccompProfile", c.SeccompProfile != nil},
		{"capabilities", c.Capabilities != nil},
		{"readOnlyRootFilesystem", c.ReadOnlyRootFilesystem != nil},
		{"privileged", c.Privileged != nil},
		{"allowPrivilegeEscalation", c.AllowPrivilegeEscalation != nil},
		{"procMount", c.ProcMount != nil},
		{"runAsUser", c.RunAsUser != nil},
		{"runAsGroup", c.RunAsGroup != nil},
	}
}
