package check

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

const ephemeralContainers = "spec.template.ephemeralContainers"

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindEphemeralJob, object: kruise.EphemeralJob{},
	open:  []string{ephemeralContainers},
	check: ephemeralJob,
	rules: []Rule{
		{ID: "selector-invalid", fields: []string{"spec.selector"}, Doc: "The selector is missing or malformed."},
		{ID: "container-invalid", fields: []string{ephemeralContainers}, Doc: "A container has no name or image, lacks a policy that is not defaulted here, or has what ephemeral containers may not have."},
	},
})

// ephemeralJob holds the rules of the webhook (docs/kruise/jobs.md#ephemeraljob and
// docs/kruise/distribution.md#observed-on-a-cluster).
func ephemeralJob(s *subject) {
	var job kruise.EphemeralJob
	if !s.read(&job) {
		return
	}
	if job.Spec.Selector == nil {
		s.fault("spec.selector", "name the labels of the pods", "a selector is required")
	} else {
		s.sound("spec.selector", job.Spec.Selector)
	}
	p := s.podCheck(s.fault)
	for i := range job.Spec.Template.EphemeralContainers {
		p.ephemeral(fmt.Sprintf("%s[%d]", ephemeralContainers, i), &job.Spec.Template.EphemeralContainers[i])
	}
}

// ephemeral: what is put into a running pod has few fields, and none of them is
// defaulted before it is looked at.
func (p *podCheck) ephemeral(at string, c *corev1.EphemeralContainer) {
	p.label(at+".name", "container", c.Name, p.names)
	if c.Image == "" {
		p.fault(at+".image", "", "an image is required")
	}
	p.need(at+".terminationMessagePolicy", string(c.TerminationMessagePolicy), "File", "FallbackToLogsOnError")
	p.need(at+".imagePullPolicy", string(c.ImagePullPolicy), "Always", "IfNotPresent", "Never")
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
			p.fault(fmt.Sprintf("%s.volumeMounts[%d].subPath", at, i), "remove it", "an ephemeral container cannot mount a part of a volume")
		}
	}
}
