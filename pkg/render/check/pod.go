package check

import (
	"cmp"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// checkPodTemplate checks the pod template at the path as Kruise's webhooks do. claims are
// volumes that come from claim templates.
func checkPodTemplate(s *subject, at string, t *corev1.PodTemplateSpec, claims []corev1.PersistentVolumeClaim) {
	checkPodMetadata(at, t, s.podFault)
	p := s.podReporter(s.podFault)
	if s.c.Kruise.OrNewest().Before(kruise.Next) {
		p.olderReleases = func(path, hint, format string, args ...any) {
			s.releaseFault(podInvalid, false, path, hint, format, args...)
		}
		p.refusesOS = s.c.Kruise.OrNewest().Before(kruise.Minor(6)) // as recorded of 1.5
	}
	checkPodSpec(p, at+".spec", &t.Spec, claims)
}

func (s *subject) podFault(path, hint, format string, args ...any) {
	s.faultUnder(podInvalid, path, hint, format, args...)
}

// podReporter returns what reports the faults of pods of the object.
func (s *subject) podReporter(fault faulter) *podReporter {
	return &podReporter{fault: fault, refusedInPods: func(path, hint, format string, args ...any) {
		s.accepted(func() { fault(path, hint, format, args...) })
	}}
}

// checkPodMetadata checks the labels and annotations of a pod template.
func checkPodMetadata(at string, t *corev1.PodTemplateSpec, fault faulter) {
	meta := field.NewPath(at, "metadata")
	problems := metavalidation.ValidateLabels(t.Labels, meta.Child("labels"))
	problems = append(problems, apivalidation.ValidateAnnotations(t.Annotations, meta.Child("annotations"))...)
	for _, e := range sortedErrors(problems) {
		fault(e.Field, "", "%s", detailOf(e))
	}
}

// checkPodSpec checks the spec of a pod by those of Kubernetes' rules that mistakes are
// made against.
func checkPodSpec(p *podReporter, at string, s *corev1.PodSpec, claims []corev1.PersistentVolumeClaim) {
	volumes := newPodVolumes(p, claims)
	volumes.pod(at, s.Volumes)
	containers := newPodContainers(p, volumes)
	containers.probes.graceSeconds = cmp.Or(s.TerminationGracePeriodSeconds, new(int64(corev1.DefaultTerminationGracePeriodSeconds)))
	containers.pod(at, s)
	p.podNumbers(at, s)
	if len(s.EphemeralContainers) > 0 {
		p.fault(at+".ephemeralContainers", "remove them: an EphemeralJob puts them into running pods", "not allowed in a pod template")
	}
	podNetwork{p}.pod(at, s)
	p.oneOf(at+".restartPolicy", string(s.RestartPolicy), "Always", "OnFailure", "Never")
	if s.ServiceAccountName != "" {
		p.subdomain(at+".serviceAccountName", s.ServiceAccountName)
	} else if s.DeprecatedServiceAccount != "" {
		p.subdomain(at+".serviceAccount", s.DeprecatedServiceAccount)
	}
	for i, g := range s.ReadinessGates {
		if len(validation.IsQualifiedName(string(g.ConditionType))) > 0 {
			p.fault(fmt.Sprintf("%s.readinessGates[%d].conditionType", at, i), "", "%q is not a condition type", g.ConditionType)
		}
	}
	if s.PriorityClassName != "" {
		p.subdomain(at+".priorityClassName", s.PriorityClassName)
	}
	if s.RuntimeClassName != nil {
		p.subdomain(at+".runtimeClassName", *s.RuntimeClassName)
	}
	if s.NodeName != "" {
		p.subdomain(at+".nodeName", s.NodeName)
	}
	if s.PreemptionPolicy != nil {
		p.requiredOneOf(at+".preemptionPolicy", string(*s.PreemptionPolicy), string(corev1.PreemptLowerPriority), string(corev1.PreemptNever))
	}
	podScheduling{p}.schedulingGates(at+".schedulingGates", s.SchedulingGates)
	podResources{p}.resourceClaims(at, s)
	podResources{p}.pod(at, s)
	podSecurity{p}.pod(at, s)
	podSecurity{p}.os(at, s)
	podScheduling{p}.pod(at, s)
}

func (p *podReporter) podNumbers(at string, s *corev1.PodSpec) {
	if n := s.TerminationGracePeriodSeconds; n != nil && *n < 0 { // API servers take it for 1
		p.refusedInPods(at+".terminationGracePeriodSeconds", "", "%d must not be negative", *n)
	}
	if n := s.ActiveDeadlineSeconds; n != nil && (*n < 1 || *n > math.MaxInt32) {
		p.fault(at+".activeDeadlineSeconds", "", "%d is not between 1 and %d", *n, math.MaxInt32)
	}
}

// checkLongRunning refuses fields that pods of a workload that never ends cannot have.
func checkLongRunning(s *subject, spec *corev1.PodSpec) {
	const at = "spec.template.spec."
	if spec.RestartPolicy != "" && spec.RestartPolicy != corev1.RestartPolicyAlways {
		s.podFault(at+"restartPolicy", "", "%q is not allowed: want Always", spec.RestartPolicy)
	}
	if spec.ActiveDeadlineSeconds != nil {
		s.podFault(at+"activeDeadlineSeconds", "remove it", "pods of a %s have no deadline", s.kind.kind)
	}
}
