package check

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
)

// podProbes has the rules for probes and lifecycle hooks.
type podProbes struct {
	*podReporter

	// graceSeconds is how many seconds the pod has to stop; nil where it is not known.
	graceSeconds *int64
}

// probe wants exactly one handler, and valid numbers. once is set for probes that may have no
// successThreshold but 1.
func (p podProbes) probe(at string, probe *corev1.Probe, once bool) {
	if probe == nil {
		return
	}
	probeHandlers(p.fault, at, probe)
	p.handler(at, corev1.LifecycleHandler{Exec: probe.Exec, HTTPGet: probe.HTTPGet, TCPSocket: probe.TCPSocket})
	if probe.GRPC != nil {
		port(p.fault, at+".grpc.port", intstr.FromInt32(probe.GRPC.Port))
	}
	probeNumbers(p.fault, at, probe)
	if once && probe.SuccessThreshold > 1 {
		p.fault(at+".successThreshold", "", "must be 1 here")
	}
	p.terminationGrace(at+".terminationGracePeriodSeconds", probe.TerminationGracePeriodSeconds, once)
}

// probeHandlers wants exactly one handler.
func probeHandlers(fault faulter, at string, p *corev1.Probe) {
	if p == nil {
		return
	}
	if n := given(p.Exec != nil, p.HTTPGet != nil, p.TCPSocket != nil, p.GRPC != nil); n != 1 {
		fault(at, "give one of exec, httpGet, tcpSocket, grpc", "a probe needs exactly one handler, not %d", n)
	}
}

// terminationGrace wants a time only for probes that stop a container.
func (p podProbes) terminationGrace(at string, seconds *int64, stops bool) {
	switch {
	case seconds == nil:
	case !stops:
		p.fault(at, "remove it", "a readinessProbe does not stop containers")
	case *seconds < 1:
		p.fault(at, "", "%d must be 1 or more", *seconds)
	}
}

func probeNumbers(fault faulter, at string, p *corev1.Probe) {
	for _, n := range []struct {
		field string
		value int32
	}{
		{"initialDelaySeconds", p.InitialDelaySeconds},
		{"timeoutSeconds", p.TimeoutSeconds},
		{"periodSeconds", p.PeriodSeconds},
		{"successThreshold", p.SuccessThreshold},
		{"failureThreshold", p.FailureThreshold},
	} {
		if n.value < 0 {
			fault(at+"."+n.field, "", "%d must not be negative", n.value)
		}
	}
}

func (p podProbes) lifecycle(at string, l *corev1.Lifecycle) {
	if l == nil {
		return
	}
	for _, h := range []struct {
		field   string
		handler *corev1.LifecycleHandler
	}{{"postStart", l.PostStart}, {"preStop", l.PreStop}} {
		if h.handler == nil {
			continue
		}
		here := at + "." + h.field
		if n := given(h.handler.Exec != nil, h.handler.HTTPGet != nil, h.handler.TCPSocket != nil, h.handler.Sleep != nil); n != 1 {
			p.fault(here, "", "a hook needs exactly one handler, not %d", n)
		}
		p.handler(here, *h.handler)
	}
}

func (p podProbes) handler(at string, h corev1.LifecycleHandler) {
	if h.Exec != nil && len(h.Exec.Command) == 0 {
		p.fault(at+".exec.command", "", "required")
	}
	if h.Sleep != nil {
		p.sleepSeconds(at+".sleep.seconds", h.Sleep.Seconds)
	}
	if h.HTTPGet != nil {
		port(p.fault, at+".httpGet.port", h.HTTPGet.Port)
		p.oneOf(at+".httpGet.scheme", string(h.HTTPGet.Scheme), "HTTP", "HTTPS")
		for i, header := range h.HTTPGet.HTTPHeaders {
			if len(validation.IsHTTPHeaderName(header.Name)) > 0 {
				p.fault(fmt.Sprintf("%s.httpGet.httpHeaders[%d].name", at, i), "", "%q is not the name of a header", header.Name)
			}
		}
	}
	if h.TCPSocket != nil {
		port(p.fault, at+".tcpSocket.port", h.TCPSocket.Port)
	}
}

// sleepSeconds wants a hook to end within the termination grace period of the pod. The API
// server checks postStart in the same way.
func (p podProbes) sleepSeconds(at string, seconds int64) {
	switch {
	case seconds < 0:
		p.fault(at, "", "%d must not be negative", seconds)
	case p.graceSeconds != nil && seconds > *p.graceSeconds:
		p.fault(at, "raise terminationGracePeriodSeconds, or sleep for less", "%d is more than the %d of terminationGracePeriodSeconds", seconds, *p.graceSeconds)
	}
}

// port wants a number or a name of a port.
func port(fault faulter, at string, v intstr.IntOrString) {
	msgs := validation.IsValidPortNum(v.IntValue())
	if v.Type == intstr.String {
		msgs = validation.IsValidPortName(v.StrVal)
	}
	if len(msgs) > 0 {
		fault(at, "", "%s: %s", v.String(), strings.Join(msgs, "; "))
	}
}
