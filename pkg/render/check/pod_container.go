package check

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// amounts are what an environment variable may take from the resources of a container.
var amounts = regexp.MustCompile(`^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$`)

func (p *podCheck) container(at string, c *corev1.Container, init bool) {
	p.label(at+".name", "container", c.Name, p.names)
	p.image(at+".image", c.Image)
	p.mounts(at, c)
	p.inside(at, c, init)
	if !init || alongside(c) {
		p.probe(at+".startupProbe", c.StartupProbe, true)
	}
}

// inside holds what needs neither the volumes nor the other containers; the
// startupProbe, which SidecarSets treat in a way of their own, is left out.
func (p *podCheck) inside(at string, c *corev1.Container, init bool) {
	p.ports(at, c.Ports)
	p.environment(at, c)
	p.choice(at+".imagePullPolicy", string(c.ImagePullPolicy), "Always", "IfNotPresent", "Never")
	p.choice(at+".terminationMessagePolicy", string(c.TerminationMessagePolicy), "File", "FallbackToLogsOnError")
	resources(p.fault, at+".resources", c.Resources)
	p.resizes(at+".resizePolicy", c.ResizePolicy)
	p.security(at+".securityContext", c.SecurityContext)
	p.restart(at, c, init)
	if init && !alongside(c) {
		p.plainInit(at, c)
		return
	}
	p.probe(at+".livenessProbe", c.LivenessProbe, true)
	p.probe(at+".readinessProbe", c.ReadinessProbe, false)
	p.hooks(at+".lifecycle", c.Lifecycle)
}

func (p *podCheck) image(at, image string) {
	switch {
	case image == "":
		p.fault(at, "", "an image is required")
	case strings.TrimSpace(image) != image:
		p.later(at, "", "%q has a space at an end", image)
	}
}

// alongside reports an init container that runs beside the others.
func alongside(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// restart: a policy of its own is for init containers, which know one.
func (p *podCheck) restart(at string, c *corev1.Container, init bool) {
	switch {
	case c.RestartPolicy == nil:
	case !init:
		p.fault(at+".restartPolicy", "remove it: spec.restartPolicy is for all containers", "only an init container has a policy of its own")
	case !alongside(c):
		p.fault(at+".restartPolicy", "", "%q is not allowed: want Always", *c.RestartPolicy)
	}
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
			p.fault(here+".containerPort", "", "%d is not a port", port.ContainerPort)
		}
		if port.HostPort < 0 || port.HostPort > 65535 {
			p.fault(here+".hostPort", "", "%d is not a port", port.HostPort)
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
		} else if msgs := validation.IsEnvVarName(e.Name); len(msgs) > 0 && p.older != nil {
			p.older(here+".name", "", "%q: %s", e.Name, strings.Join(msgs, "; "))
		}
		p.source(here, e)
	}
	for i, from := range c.EnvFrom {
		here := fmt.Sprintf("%s.envFrom[%d]", at, i)
		if (from.ConfigMapRef != nil) == (from.SecretRef != nil) {
			p.fault(here, "", "want one of configMapRef and secretRef")
		}
		if from.ConfigMapRef != nil {
			p.required(here+".configMapRef.name", from.ConfigMapRef.Name)
		}
		if from.SecretRef != nil {
			p.required(here+".secretRef.name", from.SecretRef.Name)
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
	if r := v.ResourceFieldRef; r != nil && !amounts.MatchString(r.Resource) {
		p.fault(at+".valueFrom.resourceFieldRef.resource", "for instance limits.cpu or requests.memory", "%q is not an amount of a container", r.Resource)
	}
	if v.FieldRef != nil && v.FieldRef.FieldPath == "" {
		p.fault(at+".valueFrom.fieldRef.fieldPath", "", "required")
	}
	if r := v.ConfigMapKeyRef; r != nil {
		p.key(at+".valueFrom.configMapKeyRef.key", r.Key)
	}
	if r := v.SecretKeyRef; r != nil {
		p.key(at+".valueFrom.secretKeyRef.key", r.Key)
	}
}

// key wants the key of a ConfigMap or Secret.
func (p *podCheck) key(at, key string) {
	if key == "" {
		p.fault(at, "", "required")
	} else if msg := dataKey(key); msg != "" {
		p.fault(at, "", "%q: %s", key, msg)
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
