package check

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

const longestSysctl = 253

// sysctl is the name of a kernel parameter, with dots or slashes.
var sysctl = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

// podSecurity checks the security context of the pod, and what the pod shares with its node.
func (p *podCheck) podSecurity(at string, s *corev1.PodSpec) {
	p.namespaces(at, s)
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
		p.need(here+".fsGroupChangePolicy", string(*c.FSGroupChangePolicy), string(corev1.FSGroupChangeOnRootMismatch), string(corev1.FSGroupChangeAlways))
	}
	if c.SupplementalGroupsPolicy != nil {
		p.need(here+".supplementalGroupsPolicy", string(*c.SupplementalGroupsPolicy), string(corev1.SupplementalGroupsPolicyMerge), string(corev1.SupplementalGroupsPolicyStrict))
	}
	if c.SELinuxChangePolicy != nil {
		p.need(here+".seLinuxChangePolicy", string(*c.SELinuxChangePolicy), string(corev1.SELinuxChangePolicyMountOption), string(corev1.SELinuxChangePolicyRecursive))
	}
	p.seccomp(here+".seccompProfile", c.SeccompProfile)
	p.appArmor(here+".appArmorProfile", c.AppArmorProfile)
	p.sysctls(here+".sysctls", c.Sysctls)
}

// namespaces: with users of its own, a pod shares no other namespace with its node.
func (p *podCheck) namespaces(at string, s *corev1.PodSpec) {
	if share := s.ShareProcessNamespace; share != nil && *share && s.HostPID {
		p.fault(at+".shareProcessNamespace", "remove one of them", "shareProcessNamespace and hostPID exclude each other")
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

// id wants the number of a user or a group, if there is one, to be one.
func (p *podCheck) id(path string, n *int64) {
	if n != nil && (*n < 0 || *n > math.MaxInt32) {
		p.fault(path, "", "%d is not between 0 and %d", *n, math.MaxInt32)
	}
}

// sysctls: each kernel parameter has a valid name, and is set once.
func (p *podCheck) sysctls(at string, list []corev1.Sysctl) {
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

// seccomp: a profile on the node has a path, and no other one has.
func (p *podCheck) seccomp(at string, c *corev1.SeccompProfile) {
	if c == nil {
		return
	}
	p.need(at+".type", string(c.Type), string(corev1.SeccompProfileTypeLocalhost), string(corev1.SeccompProfileTypeRuntimeDefault), string(corev1.SeccompProfileTypeUnconfined))
	file := c.LocalhostProfile
	switch local := c.Type == corev1.SeccompProfileTypeLocalhost; {
	case local && file == nil:
		p.fault(at+".localhostProfile", "", "required with type Localhost")
	case !local && file != nil:
		p.fault(at+".localhostProfile", "remove it", "only allowed with type Localhost")
	case local && (path.IsAbs(*file) || above(*file)):
		p.fault(at+".localhostProfile", "", "%q leads out of the kubelet's directory of profiles", *file)
	}
}

// appArmor: a profile on the node has a name, and no other one has.
func (p *podCheck) appArmor(at string, c *corev1.AppArmorProfile) {
	if c == nil {
		return
	}
	p.need(at+".type", string(c.Type), string(corev1.AppArmorProfileTypeLocalhost), string(corev1.AppArmorProfileTypeRuntimeDefault), string(corev1.AppArmorProfileTypeUnconfined))
	name := c.LocalhostProfile
	switch local := c.Type == corev1.AppArmorProfileTypeLocalhost; {
	case local && (name == nil || strings.TrimSpace(*name) == ""):
		p.fault(at+".localhostProfile", "", "required with type Localhost")
	case !local && name != nil:
		p.fault(at+".localhostProfile", "remove it", "only allowed with type Localhost")
	}
}

// security checks the security context of a container.
func (p *podCheck) security(at string, c *corev1.SecurityContext) {
	if c == nil {
		return
	}
	p.id(at+".runAsUser", c.RunAsUser)
	p.id(at+".runAsGroup", c.RunAsGroup)
	p.seccomp(at+".seccompProfile", c.SeccompProfile)
	p.appArmor(at+".appArmorProfile", c.AppArmorProfile)
	if c.ProcMount != nil {
		p.choice(at+".procMount", string(*c.ProcMount), string(corev1.DefaultProcMount), string(corev1.UnmaskedProcMount))
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

// gates: each scheduling gate has a name of its own.
func (p *podCheck) gates(at string, list []corev1.PodSchedulingGate) {
	seen := map[string]bool{}
	for i, g := range list {
		here := fmt.Sprintf("%s[%d].name", at, i)
		switch {
		case len(validation.IsQualifiedName(g.Name)) > 0:
			p.fault(here, "", "%q is not the name of a scheduling gate", g.Name)
		case seen[g.Name]:
			p.fault(here, "", "there are two scheduling gates %s", g.Name)
		}
		seen[g.Name] = true
	}
}
