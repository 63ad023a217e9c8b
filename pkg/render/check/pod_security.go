package check

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const longestSysctl = 253

// sysctl is the name of a kernel parameter, with dots or slashes.
var sysctl = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

// podSecurity has the rules for what a pod and its containers may do on their node.
type podSecurity struct{ *podReporter }

// pod checks the security context of the pod, and what the pod shares with its node.
func (p podSecurity) pod(at string, s *corev1.PodSpec) {
	p.hostNamespaces(at, s)
	c := s.SecurityContext
	if c == nil {
		return
	}
	here := at + ".securityContext"
	p.id(here+".runAsUser", c.RunAsUser)
	p.id(here+".runAsGroup", c.RunAsGroup)
	p.id(here+".fsGroup", c.FSGroup)
	for i := range c.SupplementalGroups {
		p.id(fmt.Sprintf("%s.supplementalGroups[%d]", here, i), &c.SupplementalGroups[i])
	}
	if c.FSGroupChangePolicy != nil {
		p.requiredOneOf(here+".fsGroupChangePolicy", string(*c.FSGroupChangePolicy), string(corev1.FSGroupChangeOnRootMismatch), string(corev1.FSGroupChangeAlways))
	}
	if c.SupplementalGroupsPolicy != nil {
		p.requiredOneOf(here+".supplementalGroupsPolicy", string(*c.SupplementalGroupsPolicy), string(corev1.SupplementalGroupsPolicyMerge), string(corev1.SupplementalGroupsPolicyStrict))
	}
	if c.SELinuxChangePolicy != nil {
		p.requiredOneOf(here+".seLinuxChangePolicy", string(*c.SELinuxChangePolicy), string(corev1.SELinuxChangePolicyMountOption), string(corev1.SELinuxChangePolicyRecursive))
	}
	p.seccomp(here+".seccompProfile", c.SeccompProfile)
	p.appArmor(here+".appArmorProfile", c.AppArmorProfile)
	p.sysctls(here+".sysctls", c.Sysctls)
}

// hostNamespaces refuses to share namespaces of the node with a user namespace of the pod.
func (p podSecurity) hostNamespaces(at string, s *corev1.PodSpec) {
	if share := s.ShareProcessNamespace; share != nil && *share && s.HostPID {
		p.fault(at+".shareProcessNamespace", "remove one of them", "shareProcessNamespace and hostPID are mutually exclusive")
	}
	if s.HostUsers == nil || *s.HostUsers {
		return
	}
	for _, f := range []struct {
		field string
		given bool
	}{{"hostNetwork", s.HostNetwork}, {"hostPID", s.HostPID}, {"hostIPC", s.HostIPC}} {
		if f.given {
			p.fault(at+"."+f.field, "remove one of them", "%s is not allowed with hostUsers false", f.field)
		}
	}
}

// sysctls wants each kernel parameter once, with a valid name.
func (p podSecurity) sysctls(at string, list []corev1.Sysctl) {
	seen := map[string]bool{}
	for i, s := range list {
		here := fmt.Sprintf("%s[%d].name", at, i)
		switch {
		case s.Name == "":
			p.fault(here, "", "required")
		case len(s.Name) > longestSysctl || !sysctl.MatchString(s.Name):
			p.fault(here, "for instance net.core.somaxconn", "%q is not the name of a kernel parameter", s.Name)
		case seen[s.Name]:
			p.fault(here, "", "%s is set twice", s.Name)
		}
		seen[s.Name] = true
	}
}

// seccomp wants a path for a profile on the node, and only for that.
func (p podSecurity) seccomp(at string, c *corev1.SeccompProfile) {
	if c == nil {
		return
	}
	p.requiredOneOf(at+".type", string(c.Type), string(corev1.SeccompProfileTypeLocalhost), string(corev1.SeccompProfileTypeRuntimeDefault), string(corev1.SeccompProfileTypeUnconfined))
	file := c.LocalhostProfile
	switch local := c.Type == corev1.SeccompProfileTypeLocalhost; {
	case local && file == nil:
		p.fault(at+".localhostProfile", "", "required with type Localhost")
	case !local && file != nil:
		p.fault(at+".localhostProfile", "remove it", "only allowed with type Localhost")
	case local && (path.IsAbs(*file) || hasParentStep(*file)):
		p.fault(at+".localhostProfile", "", "%q leads out of the kubelet's directory of profiles", *file)
	}
}

// appArmor wants a name for a profile on the node, and only for that.
func (p podSecurity) appArmor(at string, c *corev1.AppArmorProfile) {
	if c == nil {
		return
	}
	p.requiredOneOf(at+".type", string(c.Type), string(corev1.AppArmorProfileTypeLocalhost), string(corev1.AppArmorProfileTypeRuntimeDefault), string(corev1.AppArmorProfileTypeUnconfined))
	name := c.LocalhostProfile
	switch local := c.Type == corev1.AppArmorProfileTypeLocalhost; {
	case local && (name == nil || strings.TrimSpace(*name) == ""):
		p.fault(at+".localhostProfile", "", "required with type Localhost")
	case !local && name != nil:
		p.fault(at+".localhostProfile", "remove it", "only allowed with type Localhost")
	}
}

// container checks the security context of a container.
func (p podSecurity) container(at string, c *corev1.SecurityContext) {
	if c == nil {
		return
	}
	p.id(at+".runAsUser", c.RunAsUser)
	p.id(at+".runAsGroup", c.RunAsGroup)
	p.seccomp(at+".seccompProfile", c.SeccompProfile)
	p.appArmor(at+".appArmorProfile", c.AppArmorProfile)
	if c.ProcMount != nil {
		p.oneOf(at+".procMount", string(*c.ProcMount), string(corev1.DefaultProcMount), string(corev1.UnmaskedProcMount))
	}
	if escalates := c.AllowPrivilegeEscalation; escalates != nil && !*escalates {
		if c.Privileged != nil && *c.Privileged {
			p.fault(at, "remove one of them", "allowPrivilegeEscalation may not be false in a privileged container")
		}
		if c.Capabilities != nil && slices.Contains(c.Capabilities.Add, "CAP_SYS_ADMIN") {
			p.fault(at, "remove one of them", "allowPrivilegeEscalation may not be false with CAP_SYS_ADMIN")
		}
	}
}

// setting is a field, and whether it has a value.
type setting struct {
	field string
	given bool
}

// os wants a known operating system, and refuses settings of the other one.
func (p podSecurity) os(at string, s *corev1.PodSpec) {
	if s.OS == nil {
		return
	}
	if p.refusesOS {
		p.olderReleases(at+".os", "remove it", "Kruise takes no pods with an operating system before 1.6")
	}
	p.requiredOneOf(at+".os.name", string(s.OS.Name), string(corev1.Linux), string(corev1.Windows))
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
