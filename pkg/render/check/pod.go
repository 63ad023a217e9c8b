package check

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// faulter reports one fault of the object under test.
type faulter func(path, hint, format string, args ...any)

// podCheck holds one pod template to Kubernetes' rules, of those the ones that
// mistakes are made against.
type podCheck struct {
	fault faulter
	// later reports what is taken in a template and refused of its pods.
	later faulter
	// older reports what releases of Kruise refuse, and its main branch may not; nil where
	// Kruise does not look.
	older faulter
	// systemless releases refuse pods that name an operating system.
	systemless bool
	// names are those of the containers so far, volumes what they can mount.
	names, volumes map[string]bool
	// files are the volumes that are mounted as files only: not from a claim.
	files map[string]bool
	// stopping is how many seconds the pod has to stop; nil where it is not known.
	stopping *int64
}

func (s *subject) podCheck(fault faulter) *podCheck {
	p := &podCheck{fault: fault, names: map[string]bool{}, volumes: map[string]bool{}, files: map[string]bool{}}
	p.later = func(path, hint, format string, args ...any) {
		s.accepted(func() { fault(path, hint, format, args...) })
	}
	return p
}

// pods checks the pod template at the path. claims are volumes that come from
// claim templates.
func (s *subject) pods(at string, t *corev1.PodTemplateSpec, claims []corev1.PersistentVolumeClaim) {
	s.podMetadata(at, t, s.podFault)
	p := s.podCheck(s.podFault)
	if s.c.Kruise.OrNewest().Before(kruise.Next) {
		p.older = func(path, hint, format string, args ...any) {
			s.another(podInvalid, false, path, hint, format, args...)
		}
		p.systemless = s.c.Kruise.OrNewest().Before(kruise.Minor(6)) // as recorded of 1.5
	}
	p.whole(at, t, claims)
}

func (s *subject) podFault(path, hint, format string, args ...any) {
	s.against(podInvalid, path, hint, format, args...)
}

func (s *subject) podTemplate(at string, t *corev1.PodTemplateSpec, claims []corev1.PersistentVolumeClaim, fault faulter) {
	s.podMetadata(at, t, fault)
	s.podSpec(at, t, claims, fault)
}

// podMetadata checks the labels and annotations of a pod template.
func (s *subject) podMetadata(at string, t *corev1.PodTemplateSpec, fault faulter) {
	meta := field.NewPath(at, "metadata")
	problems := metavalidation.ValidateLabels(t.Labels, meta.Child("labels"))
	problems = append(problems, apivalidation.ValidateAnnotations(t.Annotations, meta.Child("annotations"))...)
	for _, e := range ordered(problems) {
		fault(e.Field, "", "%s", said(e))
	}
}

// podSpec checks the spec of a pod template.
func (s *subject) podSpec(at string, t *corev1.PodTemplateSpec, claims []corev1.PersistentVolumeClaim, fault faulter) {
	s.podCheck(fault).whole(at, t, claims)
}

func (p *podCheck) whole(at string, t *corev1.PodTemplateSpec, claims []corev1.PersistentVolumeClaim) {
	for _, c := range claims {
		p.volumes[c.Name] = true
	}
	p.spec(at+".spec", &t.Spec)
}

func (p *podCheck) spec(at string, s *corev1.PodSpec) {
	p.stopping = cmp.Or(s.TerminationGracePeriodSeconds, new(int64(corev1.DefaultTerminationGracePeriodSeconds)))
	p.volumesOf(at, s.Volumes)
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
	p.numbers(at, s)
	if len(s.EphemeralContainers) > 0 {
		p.fault(at+".ephemeralContainers", "remove them: an EphemeralJob puts them into running pods", "not allowed in a pod template")
	}
	p.network(at, s)
	p.choice(at+".restartPolicy", string(s.RestartPolicy), "Always", "OnFailure", "Never")
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
		p.need(at+".preemptionPolicy", string(*s.PreemptionPolicy), string(corev1.PreemptLowerPriority), string(corev1.PreemptNever))
	}
	p.gates(at+".schedulingGates", s.SchedulingGates)
	p.claimed(at, s)
	p.wholeResources(at, s)
	p.podSecurity(at, s)
	p.system(at, s)
	p.scheduling(at, s)
}

func (p *podCheck) numbers(at string, s *corev1.PodSpec) {
	if n := s.TerminationGracePeriodSeconds; n != nil && *n < 0 { // API servers take it for 1
		p.later(at+".terminationGracePeriodSeconds", "", "%d must not be negative", *n)
	}
	if n := s.ActiveDeadlineSeconds; n != nil && (*n < 1 || *n > math.MaxInt32) {
		p.fault(at+".activeDeadlineSeconds", "", "%d is not between 1 and %d", *n, math.MaxInt32)
	}
}

// endless refuses what pods of a workload that never ends cannot have.
func (s *subject) endless(spec *corev1.PodSpec) {
	const at = "spec.template.spec."
	if spec.RestartPolicy != "" && spec.RestartPolicy != corev1.RestartPolicyAlways {
		s.podFault(at+"restartPolicy", "", "%q is not allowed: want Always", spec.RestartPolicy)
	}
	if spec.ActiveDeadlineSeconds != nil {
		s.podFault(at+"activeDeadlineSeconds", "remove it", "pods of a %s have no deadline", s.kind.kind)
	}
}

// label: a name that is a DNS label and appears once.
func (p *podCheck) label(path, what, name string, seen map[string]bool) {
	switch msgs := validation.IsDNS1123Label(name); {
	case name == "":
		p.fault(path, "", "a %s needs a name", what)
	case len(msgs) > 0:
		p.fault(path, "", "%q is not a name: %s", name, strings.Join(msgs, "; "))
	case seen[name]:
		p.fault(path, "", "there are two %ss %s", what, name)
	}
	seen[name] = true
}

func (p *podCheck) subdomain(path, name string) {
	for _, msg := range validation.IsDNS1123Subdomain(name) {
		p.fault(path, "", "%q: %s", name, msg)
	}
}

// choice wants text, if there is any, to be one of the values.
func (p *podCheck) choice(path, value string, allowed ...string) {
	for _, a := range allowed {
		if value == "" || value == a {
			return
		}
	}
	p.fault(path, "", "%q is not allowed: want %s", value, either(allowed))
}
