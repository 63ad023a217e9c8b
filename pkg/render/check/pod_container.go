package check

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// podContainers has the rules for the containers of one pod.
type podContainers struct {
	*podReporter

	// names are those of the containers so far.
	names   map[string]bool
	volumes *podVolumes
	probes  podProbes
}

func newPodContainers(p *podReporter, volumes *podVolumes) *podContainers {
	return &podContainers{podReporter: p, names: map[string]bool{}, volumes: volumes, probes: podProbes{podReporter: p}}
}

// pod checks all containers of a pod, and their ports on the node.
func (p *podContainers) pod(at string, s *corev1.PodSpec) {
	for i := range s.InitContainers {
		p.container(fmt.Sprintf("%s.initContainers[%d]", at, i), &s.InitContainers[i], true)
	}
	if len(s.Containers) == 0 {
		p.fault(at+".containers", "", "at least one container is required")
	}
	for i := range s.Containers {
		p.container(fmt.Sprintf("%s.containers[%d]", at, i), &s.Containers[i], false)
	}
	p.hostPorts(at, s)
}

func (p *podContainers) container(at string, c *corev1.Container, init bool) {
	p.label(at+".name", "container", c.Name, p.names)
	p.image(at+".image", c.Image)
	p.volumes.volumeMounts(at, c)
	p.fields(at, c, init)
	if !init || isNativeSidecar(c) {
		p.probes.probe(at+".startupProbe", c.StartupProbe, true)
	}
}

// fields checks what depends on neither the volumes nor the other containers. It leaves out
// startupProbe, for which SidecarSets have rules of their own.
func (p *podContainers) fields(at string, c *corev1.Container, init bool) {
	p.ports(at, c.Ports)
	p.environment(at, c)
	p.oneOf(at+".imagePullPolicy", string(c.ImagePullPolicy), "Always", "IfNotPresent", "Never")
	p.oneOf(at+".terminationMessagePolicy", string(c.TerminationMessagePolicy), "File", "FallbackToLogsOnError")
	resources(p.fault, at+".resources", c.Resources)
	p.resizePolicies(at+".resizePolicy", c.ResizePolicy)
	podSecurity{p.podReporter}.container(at+".securityContext", c.SecurityContext)
	p.restartPolicy(at, c, init)
	if init && !isNativeSidecar(c) {
		p.regularInit(at, c)
		return
	}
	p.probes.probe(at+".livenessProbe", c.LivenessProbe, true)
	p.probes.probe(at+".readinessProbe", c.ReadinessProbe, false)
	p.probes.lifecycle(at+".lifecycle", c.Lifecycle)
}

func (p *podContainers) image(at, image string) {
	switch {
	case image == "":
		p.fault(at, "", "an image is required")
	case strings.TrimSpace(image) != image:
		p.refusedInPods(at, "", "%q has a space at an end", image)
	}
}

// isNativeSidecar reports an init container that runs beside the regular containers.
func isNativeSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// restartPolicy wants a policy only in init containers, and only Always.
func (p *podContainers) restartPolicy(at string, c *corev1.Container, init bool) {
	switch {
	case c.RestartPolicy == nil:
	case !init:
		p.fault(at+".restartPolicy", "remove it: spec.restartPolicy is for all containers", "only an init container has a policy of its own")
	case !isNativeSidecar(c):
		p.fault(at+".restartPolicy", "", "%q is not allowed: want Always", *c.RestartPolicy)
	}
}

// regularInit refuses probes and hooks of an init container that runs to completion.
func (p *podContainers) regularInit(at string, c *corev1.Container) {
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

// ephemeral checks an ephemeral container: it has few fields, and none of them has a default.
func (p *podContainers) ephemeral(at string, c *corev1.EphemeralContainer) {
	p.label(at+".name", "container", c.Name, p.names)
	if c.Image == "" {
		p.fault(at+".image", "", "an image is required")
	}
	p.requiredOneOf(at+".terminationMessagePolicy", string(c.TerminationMessagePolicy), "File", "FallbackToLogsOnError")
	p.requiredOneOf(at+".imagePullPolicy", string(c.ImagePullPolicy), "Always", "IfNotPresent", "Never")
	for _, f := range []struct {
		field string
		given bool
	}{
		{"ports", len(c.Ports) > 0},
		{"resources", len(c.Resources.Limits)+len(c.Resources.Requests)+len(c.Resources.Claims) > 0},
		{"livenessProbe", c.LivenessProbe != nil},
		{"readinessProbe", c.ReadinessProbe != nil},
		{"startupProbe", c.StartupProbe != nil},
		{"lifecycle", c.Lifecycle != nil},
		{"resizePolicy", len(c.ResizePolicy) > 0},
		{"restartPolicy", c.RestartPolicy != nil},
	} {
		if f.given {
			p.fault(at+"."+f.field, "remove it", "an ephemeral container cannot have this")
		}
	}
	container := corev1.Container(c.EphemeralContainerCommon)
	p.environment(at, &container)
	for i, m := range c.VolumeMounts {
		if m.SubPath != "" || m.SubPathExpr != "" {
			p.fault(fmt.Sprintf("%s.volumeMounts[%d].subPath", at, i), "remove it", "an ephemeral container cannot mount a subPath")
		}
	}
}

func (p *podContainers) ports(at string, ports []corev1.ContainerPort) {
	names := map[string]bool{}
	for i, port := range ports {
		here := fmt.Sprintf("%s.ports[%d]", at, i)
		if port.ContainerPort < 1 || port.ContainerPort > 65535 {
			p.fault(here+".containerPort", "", "%d is not a port", port.ContainerPort)
		}
		if port.HostPort < 0 || port.HostPort > 65535 {
			p.fault(here+".hostPort", "", "%d is not a port", port.HostPort)
		}
		p.oneOf(here+".protocol", string(port.Protocol), "TCP", "UDP", "SCTP")
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

// hostPorts wants the same port of the node and of the container on the node's network, and
// each port of the node once.
func (p *podContainers) hostPorts(at string, s *corev1.PodSpec) {
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

// amounts are the resources of a container that an environment variable may refer to.
var amounts = regexp.MustCompile(`^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$`)

func (p *podContainers) environment(at string, c *corev1.Container) {
	for i, e := range c.Env {
		here := fmt.Sprintf("%s.env[%d]", at, i)
		if e.Name == "" {
			p.fault(here+".name", "", "a name is required")
		} else if msgs := validation.IsRelaxedEnvVarName(e.Name); len(msgs) > 0 {
			p.fault(here+".name", "", "%q: %s", e.Name, strings.Join(msgs, "; "))
		} else if msgs := validation.IsEnvVarName(e.Name); len(msgs) > 0 && p.olderReleases != nil {
			p.olderReleases(here+".name", "", "%q: %s", e.Name, strings.Join(msgs, "; "))
		}
		p.envSource(here, e)
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

func (p *podContainers) envSource(at string, e corev1.EnvVar) {
	if e.ValueFrom == nil {
		return
	}
	v := e.ValueFrom
	if n := given(v.FieldRef != nil, v.ResourceFieldRef != nil, v.ConfigMapKeyRef != nil, v.SecretKeyRef != nil, v.FileKeyRef != nil); n != 1 {
		p.fault(at+".valueFrom", "", "want one source, not %d", n)
	}
	if e.Value != "" {
		p.fault(at+".valueFrom", "keep one of the two", "value and valueFrom are mutually exclusive")
	}
	if r := v.ResourceFieldRef; r != nil && !amounts.MatchString(r.Resource) {
		p.fault(at+".valueFrom.resourceFieldRef.resource", "for instance limits.cpu or requests.memory", "%q is not an amount of a container", r.Resource)
	}
	if v.FieldRef != nil && v.FieldRef.FieldPath == "" {
		p.fault(at+".valueFrom.fieldRef.fieldPath", "", "required")
	}
	if r := v.ConfigMapKeyRef; r != nil {
		p.dataKey(at+".valueFrom.configMapKeyRef.key", r.Key)
	}
	if r := v.SecretKeyRef; r != nil {
		p.dataKey(at+".valueFrom.secretKeyRef.key", r.Key)
	}
}

// resizePolicies wants each resource once, with a known restart policy.
func (p *podContainers) resizePolicies(at string, list []corev1.ContainerResizePolicy) {
	seen := map[corev1.ResourceName]bool{}
	for i, r := range list {
		here := fmt.Sprintf("%s[%d]", at, i)
		p.requiredOneOf(here+".resourceName", string(r.ResourceName), string(corev1.ResourceCPU), string(corev1.ResourceMemory))
		p.requiredOneOf(here+".restartPolicy", string(r.RestartPolicy), string(corev1.NotRequired), string(corev1.RestartContainer))
		if seen[r.ResourceName] {
			p.fault(here+".resourceName", "", "%s is listed twice", r.ResourceName)
		}
		seen[r.ResourceName] = true
	}
}
