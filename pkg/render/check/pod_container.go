package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

func (p *podCheck) container(at string, c *corev1.Container, init bool) {
	p.label(at+".name", "container", c.Name, p.names)
	switch {
	case c.Image == "":
		p.fault(at+".image", "", "an image is required")
	case strings.TrimSpace(c.Image) != c.Image:
		p.fault(at+".image", "", "%q has a space at an end", c.Image)
	}
	p.mounts(at, c)
	p.ports(at, c.Ports)
	p.environment(at, c)
	p.choice(at+".imagePullPolicy", string(c.ImagePullPolicy), "Always", "IfNotPresent", "Never")
	p.choice(at+".terminationMessagePolicy", string(c.TerminationMessagePolicy), "File", "FallbackToLogsOnError")
	resources(p.fault, at+".resources", c.Resources)
	native := init && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	if init && !native {
		p.plainInit(at, c)
		return
	}
	p.probe(at+".livenessProbe", c.LivenessProbe, true)
	p.probe(at+".readinessProbe", c.ReadinessProbe, false)
	p.probe(at+".startupProbe", c.StartupProbe, true)
	p.hooks(at+".lifecycle", c.Lifecycle)
}

// plainInit: a container that runs to its end is neither probed nor hooked.
func (p *podCheck) plainInit(at string, c *corev1.Container) {
	for _, f := range []struct {
		field string
		given bool
	}{
		{"livenessProbe", c.LivenessProbe != nil},
		{"readinessProbe", c.ReadinessProbe != nil},
		{"startupProbe", c.StartupProbe != nil},
		{"lifecycle", c.Lifecycle != nil},
	} {
		if f.given {
			p.fault(at+"."+f.field, "set restartPolicy: Always, or remove it", "an init container may have this only with restartPolicy Always")
		}
	}
}

func (p *podCheck) ports(at string, ports []corev1.ContainerPort) {
	names := map[string]bool{}
	for i, port := range ports {
		here := fmt.Sprintf("%s.ports[%d]", at, i)
		if port.ContainerPort < 1 || port.ContainerPort > 65535 {
			p.fault(here+".containerPort", "", "%d is no port", port.ContainerPort)
		}
		if port.HostPort < 0 || port.HostPort > 65535 {
			p.fault(here+".hostPort", "", "%d is no port", port.HostPort)
		}
		p.choice(here+".protocol", string(port.Protocol), "TCP", "UDP", "SCTP")
		if port.Name == "" {
			continue
		}
		if msgs := validation.IsValidPortName(port.Name); len(msgs) > 0 {
			p.fault(here+".name", "", "%q: %s", port.Name, strings.Join(msgs, "; "))
		}
		if names[port.Name] {
			p.fault(here+".name", "", "there are two ports %s", port.Name)
		}
		names[port.Name] = true
	}
}

// hostPorts: on the host's network a port is that of the host; elsewhere a port
// of the host is taken once.
func (p *podCheck) hostPorts(at string, s *corev1.PodSpec) {
	taken := map[string]bool{}
	for i, c := range s.Containers {
		for j, port := range c.Ports {
			here := fmt.Sprintf("%s.containers[%d].ports[%d].hostPort", at, i, j)
			if s.HostNetwork && port.HostPort != 0 && port.HostPort != port.ContainerPort {
				p.fault(here, "", "%d must equal containerPort %d with hostNetwork", port.HostPort, port.ContainerPort)
			}
			key := fmt.Sprintf("%s/%s/%d", cmp.Or(string(port.Protocol), "TCP"), port.HostIP, port.HostPort)
			if port.HostPort != 0 && taken[key] {
				p.fault(here, "", "%d is taken twice", port.HostPort)
			}
			taken[key] = true
		}
	}
}

func (p *podCheck) environment(at string, c *corev1.Container) {
	for i, e := range c.Env {
		here := fmt.Sprintf("%s.env[%d]", at, i)
		if e.Name == "" {
			p.fault(here+".name", "", "a name is required")
		} else if msgs := validation.IsRelaxedEnvVarName(e.Name); len(msgs) > 0 {
			p.fault(here+".name", "", "%q: %s", e.Name, strings.Join(msgs, "; "))
		}
		p.source(here, e)
	}
	for i, from := range c.EnvFrom {
		if (from.ConfigMapRef != nil) == (from.SecretRef != nil) {
			p.fault(fmt.Sprintf("%s.envFrom[%d]", at, i), "", "want one of configMapRef and secretRef")
		}
	}
}

func (p *podCheck) source(at string, e corev1.EnvVar) {
	if e.ValueFrom == nil {
		return
	}
	v := e.ValueFrom
	if n := given(v.FieldRef != nil, v.ResourceFieldRef != nil, v.ConfigMapKeyRef != nil, v.SecretKeyRef != nil, v.FileKeyRef != nil); n != 1 {
		p.fault(at+".valueFrom", "", "want one source, not %d", n)
	}
	if e.Value != "" {
		p.fault(at+".valueFrom", "keep one of the two", "value and valueFrom exclude each other")
	}
	if v.FieldRef != nil && v.FieldRef.FieldPath == "" {
		p.fault(at+".valueFrom.fieldRef.fieldPath", "", "required")
	}
}

// given counts what is there.
func given(fields ...bool) (n int) {
	for _, there := range fields {
		if there {
			n++
		}
	}
	return n
}

// resources: nothing negative, no request above its limit.
func resources(fault faulter, path string, r corev1.ResourceRequirements) {
	for _, name := range sortedNames(r.Limits) {
		if limit := r.Limits[name]; limit.Sign() < 0 {
			fault(fmt.Sprintf("%s.limits[%s]", path, name), "", "%s must not be negative", limit.String())
		}
	}
	for _, name := range sortedNames(r.Requests) {
		at := fmt.Sprintf("%s.requests[%s]", path, name)
		request := r.Requests[name]
		limit, limited := r.Limits[name]
		switch {
		case request.Sign() < 0:
			fault(at, "", "%s must not be negative", request.String())
		case limited && request.Cmp(limit) > 0:
			fault(at, "", "%s is more than the limit of %s", request.String(), limit.String())
		}
	}
}

func sortedNames(list corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
