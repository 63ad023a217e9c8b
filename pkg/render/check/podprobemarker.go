package check

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

const markerProbes = "spec.probes"

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindPodProbeMarker, object: kruise.PodProbeMarker{},
	check: podProbeMarker,
})

// markerCheck gathers the faults of one PodProbeMarker.
type markerCheck struct{ *subject }

// podProbeMarker has the rules of the webhook (docs/kruise/protection.md#other-features and
// docs/kruise/sidecarset.md#observed-on-a-cluster).
func podProbeMarker(s *subject) {
	var marker kruise.PodProbeMarker
	if !s.read(&marker) {
		return
	}
	requiredSelector(s, "spec.selector", marker.Spec.Selector, "name the labels of the pods")
	if len(marker.Spec.Probes) == 0 {
		s.fault(markerProbes, "", "at least one probe is required")
	}
	k := &markerCheck{s}
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
		k.probeName(at+".name", p.Name, seen)
		if p.ContainerName == "" {
			s.fault(at+".containerName", "", "a container is required")
		}
		k.probe(at+".probe", &p.Probe.Probe)
		k.effect(at, p)
	}
	var old kruise.PodProbeMarker
	if s.decodeOld(&old) {
		immutableFields(s, fieldChange{"spec.selector", old.Spec.Selector, marker.Spec.Selector})
	}
}

// native are the conditions of pods that are Kubernetes' own.
var native = []string{"PodScheduled", "Ready", "Initialized", "ContainersReady", "PodReadyToStartContainers", "DisruptionTarget"}

func (k *markerCheck) probeName(path, name string, seen map[string]bool) {
	switch {
	case name == "":
		k.fault(path, "", "a probe needs a name")
	case strings.Contains(name, "#"):
		k.fault(path, "", "%q holds a #", name)
	case slices.Contains(native, name):
		k.fault(path, "", "%s is a condition of Kubernetes' own", name)
	case seen[name]:
		k.fault(path, "", "there are two probes %s", name)
	}
	seen[name] = true
}

// effect wants a probe whose result is written as a condition or by a marker.
func (k *markerCheck) effect(at string, p *kruise.PodContainerProbe) {
	condition := string(p.PodConditionType)
	switch {
	case condition == "" && len(p.MarkerPolicy) == 0:
		k.fault(at, "give one of the two", "podConditionType or markerPolicy is required")
	case slices.Contains(native, condition):
		k.accepted(func() { k.fault(at+".podConditionType", "", "%s is a condition of Kubernetes' own", condition) })
	case condition != "" && len(validation.IsQualifiedName(condition)) > 0:
		k.fault(at+".podConditionType", "", "%q is not a condition type", condition)
	}
	states := map[kruise.ProbeState]bool{}
	for i, m := range p.MarkerPolicy {
		here := fmt.Sprintf("%s.markerPolicy[%d]", at, i)
		if states[m.State] {
			k.fault(here+".state", "", "there are two markers for %s", m.State)
		}
		states[m.State] = true
		if len(m.Labels)+len(m.Annotations) == 0 {
			k.fault(here, "", "a marker needs labels or annotations")
		}
		for _, e := range sortedErrors(metavalidation.ValidateLabels(m.Labels, field.NewPath(here, "labels"))) {
			k.fault(e.Field, "", "%s", wordsOf(e))
		}
		for _, e := range sortedErrors(apivalidation.ValidateAnnotations(m.Annotations, field.NewPath(here, "annotations"))) {
			k.fault(e.Field, "", "%s", wordsOf(e))
		}
		if m.State != kruise.ProbeSucceeded && m.State != kruise.ProbeFailed {
			k.fault(here+".state", "", "%q is not allowed: want Succeeded or Failed", m.State)
		}
	}
}

// port wants a number or a name of a port.
func (k *markerCheck) port(at string, v intstr.IntOrString) {
	msgs := validation.IsValidPortNum(v.IntValue())
	if v.Type == intstr.String {
		msgs = validation.IsValidPortName(v.StrVal)
	}
	if len(msgs) > 0 {
		k.fault(at, "", "%s: %s", v.String(), strings.Join(msgs, "; "))
	}
}

// given counts the fields that have a value.
func given(fields ...bool) (n int) {
	for _, there := range fields {
		if there {
			n++
		}
	}
	return n
}

// probe wants exactly one of the three handlers that Kruise's daemon supports.
func (k *markerCheck) probe(at string, p *corev1.Probe) {
	notNegative(k.subject, at+".initialDelaySeconds", &p.InitialDelaySeconds)
	notNegative(k.subject, at+".timeoutSeconds", &p.TimeoutSeconds)
	notNegative(k.subject, at+".periodSeconds", &p.PeriodSeconds)
	notNegative(k.subject, at+".successThreshold", &p.SuccessThreshold)
	notNegative(k.subject, at+".failureThreshold", &p.FailureThreshold)
	if n := given(p.Exec != nil, p.HTTPGet != nil, p.TCPSocket != nil); n != 1 {
		k.fault(at, "give one of exec, httpGet, tcpSocket", "a probe needs exactly one handler, not %d", n)
	}
	if p.Exec != nil && len(p.Exec.Command) == 0 {
		k.fault(at+".exec.command", "", "a command is required")
	}
	if h := p.HTTPGet; h != nil {
		here := at + ".httpGet"
		k.noHost(here, h.Host)
		k.port(here+".port", h.Port)
		if h.Path == "" {
			k.fault(here+".path", "", "a path is required")
		}
		if h.Scheme != corev1.URISchemeHTTP && h.Scheme != corev1.URISchemeHTTPS {
			k.fault(here+".scheme", "no default is filled in: write scheme: HTTP", "%q is not allowed: want HTTP or HTTPS", h.Scheme)
		}
		for i, header := range h.HTTPHeaders {
			if len(validation.IsHTTPHeaderName(header.Name)) > 0 {
				k.fault(fmt.Sprintf("%s.httpHeaders[%d].name", here, i), "", "%q is not a header", header.Name)
			}
		}
	}
	if p.TCPSocket != nil {
		k.noHost(at+".tcpSocket", p.TCPSocket.Host)
		k.port(at+".tcpSocket.port", p.TCPSocket.Port)
	}
}

func (k *markerCheck) noHost(at, host string) {
	if host != "" {
		k.fault(at+".host", "remove it: the probe is sent to the pod itself", "not allowed here")
	}
}

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindNodePodProbe, object: kruise.NodePodProbe{},
	// The controller writes these objects; only the schema looks at them.
	check: func(s *subject) { s.read(&kruise.NodePodProbe{}) },
})
