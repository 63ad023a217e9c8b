package check

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

const markerProbes = "spec.probes"

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindPodProbeMarker, object: kruise.PodProbeMarker{},
	check: podProbeMarker,
	rules: []Rule{
		{ID: "selector-invalid", fields: []string{"spec.selector"}, Doc: "The selector is missing, empty or malformed."},
		{ID: "probe-invalid", fields: []string{markerProbes}, Doc: "There is no probe, a name is missing, repeated or reserved, or the probe has no effect."},
		{ID: "handler-invalid", fields: []string{markerProbes + ".probe"}, Doc: "The probe asks in no way or in several, by gRPC, of another host, or without a scheme; defaults are not filled in."},
		{ID: "marker-invalid", fields: []string{markerProbes + ".markerPolicy"}, Doc: "A marker writes nothing, or its state is neither Succeeded nor Failed, or repeated."},
	},
})

// podProbeMarker holds the rules of the webhook (docs/kruise/protection.md#other-features and
// docs/kruise/sidecarset.md#observed-on-a-cluster).
func podProbeMarker(s *subject) {
	var marker kruise.PodProbeMarker
	if !s.read(&marker) {
		return
	}
	s.choose("spec.selector", marker.Spec.Selector, "name the labels of the pods")
	if len(marker.Spec.Probes) == 0 {
		s.fault(markerProbes, "", "at least one probe is required")
	}
	seen, conditions := map[string]bool{}, map[corev1.PodConditionType]bool{}
	for i := range marker.Spec.Probes {
		p := &marker.Spec.Probes[i]
		at := fmt.Sprintf("%s[%d]", markerProbes, i)
		if c := p.PodConditionType; c != "" {
			if conditions[c] {
				s.fault(at+".podConditionType", "", "there are two probes for the condition %s", c)
			}
			conditions[c] = true
		}
		s.probeName(at+".name", p.Name, seen)
		if p.ContainerName == "" {
			s.fault(at+".containerName", "", "a container is required")
		}
		s.markerProbe(at+".probe", &p.Probe.Probe)
		s.effect(at, p)
	}
	var old kruise.PodProbeMarker
	if s.before(&old) {
		s.constant(unchanging{"spec.selector", old.Spec.Selector, marker.Spec.Selector})
	}
}

// native are the conditions of pods that are Kubernetes' own.
var native = []string{"PodScheduled", "Ready", "Initialized", "ContainersReady", "PodReadyToStartContainers", "DisruptionTarget"}

func (s *subject) probeName(path, name string, seen map[string]bool) {
	switch {
	case name == "":
		s.fault(path, "", "a probe needs a name")
	case strings.Contains(name, "#"):
		s.fault(path, "", "%q holds a #", name)
	case slices.Contains(native, name):
		s.fault(path, "", "%s is a condition of Kubernetes' own", name)
	case seen[name]:
		s.fault(path, "", "there are two probes %s", name)
	}
	seen[name] = true
}

// effect: a probe whose answer nobody sees is refused.
func (s *subject) effect(at string, p *kruise.PodContainerProbe) {
	condition := string(p.PodConditionType)
	switch {
	case condition == "" && len(p.MarkerPolicy) == 0:
		s.fault(at, "give one of the two", "podConditionType or markerPolicy is required")
	case slices.Contains(native, condition):
		s.accepted(func() { s.fault(at+".podConditionType", "", "%s is a condition of Kubernetes' own", condition) })
	case condition != "" && len(validation.IsQualifiedName(condition)) > 0:
		s.fault(at+".podConditionType", "", "%q is not a condition type", condition)
	}
	states := map[kruise.ProbeState]bool{}
	for i, m := range p.MarkerPolicy {
		here := fmt.Sprintf("%s.markerPolicy[%d]", at, i)
		if states[m.State] {
			s.fault(here+".state", "", "there are two markers for %s", m.State)
		}
		states[m.State] = true
		if len(m.Labels)+len(m.Annotations) == 0 {
			s.fault(here, "", "a marker needs labels or annotations")
		}
		for _, e := range ordered(metavalidation.ValidateLabels(m.Labels, field.NewPath(here, "labels"))) {
			s.fault(e.Field, "", "%s", said(e))
		}
		for _, e := range ordered(apivalidation.ValidateAnnotations(m.Annotations, field.NewPath(here, "annotations"))) {
			s.fault(e.Field, "", "%s", said(e))
		}
		if m.State != kruise.ProbeSucceeded && m.State != kruise.ProbeFailed {
			s.fault(fmt.Sprintf("%s.markerPolicy[%d].state", at, i), "", "%q is not allowed: want Succeeded or Failed", m.State)
		}
	}
}

// markerProbe: the node's agent asks, and knows three ways.
func (s *subject) markerProbe(at string, p *corev1.Probe) {
	probeNumbers(s.fault, at, p)
	if n := given(p.Exec != nil, p.HTTPGet != nil, p.TCPSocket != nil); n != 1 {
		s.fault(at, "give one of exec, httpGet, tcpSocket", "a probe asks in one way, not %d", n)
	}
	if p.Exec != nil && len(p.Exec.Command) == 0 {
		s.fault(at+".exec.command", "", "a command is required")
	}
	if h := p.HTTPGet; h != nil {
		here := at + ".httpGet"
		s.ownHost(here, h.Host)
		port(s.fault, here+".port", h.Port)
		if h.Path == "" {
			s.fault(here+".path", "", "a path is required")
		}
		if h.Scheme != corev1.URISchemeHTTP && h.Scheme != corev1.URISchemeHTTPS {
			s.fault(here+".scheme", "no default is filled in: write scheme: HTTP", "%q is not allowed: want HTTP or HTTPS", h.Scheme)
		}
		for i, header := range h.HTTPHeaders {
			if len(validation.IsHTTPHeaderName(header.Name)) > 0 {
				s.fault(fmt.Sprintf("%s.httpHeaders[%d].name", here, i), "", "%q is not a header", header.Name)
			}
		}
	}
	if p.TCPSocket != nil {
		s.ownHost(at+".tcpSocket", p.TCPSocket.Host)
		port(s.fault, at+".tcpSocket.port", p.TCPSocket.Port)
	}
}

func (s *subject) ownHost(at, host string) {
	if host != "" {
		s.fault(at+".host", "remove it: the pod itself is asked", "not allowed here")
	}
}

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindNodePodProbe, object: kruise.NodePodProbe{},
	// The controller writes these objects; only the schema looks at them.
	check: func(s *subject) { s.read(&kruise.NodePodProbe{}) },
})
