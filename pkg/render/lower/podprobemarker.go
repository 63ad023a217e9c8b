package lower

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// probedTemplate is a pod template that a PodProbeMarker may reach.
type probedTemplate struct {
	owner     *resource.Resource
	namespace string
	labels    labels.Set
	gates     map[string]bool
}

func templatesOf(c *stage.Context, in []*resource.Resource) []probedTemplate {
	var out []probedTemplate
	for _, r := range in {
		templates, _ := c.Templates(r)
		for _, t := range templates {
			p := probedTemplate{owner: r, namespace: c.Facts.NamespaceOf(r), labels: tree.Strings(tree.Get(t.Node, "metadata", "labels")), gates: map[string]bool{}}
			for _, gate := range tree.Items(tree.Get(t.Node, "spec", "readinessGates")) {
				p.gates[tree.StrAt(gate, "conditionType")] = true
			}
			out = append(out, p)
		}
	}
	return out
}

// probeMarker is a PodProbeMarker that is left out.
type probeMarker struct {
	object
	related *relatedObjects
	spec    kruise.PodProbeMarkerSpec
}

// dropProbeMarker leaves r out and reports for each of its probes what comes
// nearest.
func dropProbeMarker(c *stage.Context, a *relatedObjects, r *resource.Resource) ([]*resource.Resource, error) {
	var marker kruise.PodProbeMarker
	o, err := newObject(c, r, "podprobemarker", &marker)
	if err != nil {
		return nil, err
	}
	m := &probeMarker{object: o, related: a, spec: marker.Spec}
	m.report("podprobemarker/selector", "spec.selector", "")
	for i := range m.spec.Probes {
		m.reportProbe(fmt.Sprintf("spec.probes[%d].", i), &m.spec.Probes[i])
	}
	c.Lineage.Became(r.ID())
	return nil, nil
}

func (m *probeMarker) reportProbe(path string, p *kruise.PodContainerProbe) {
	m.report("podprobemarker/probe", path+"probe", fmt.Sprintf("the %s probe of container %s: it does not run without Kruise's node agent", handlerText(p), p.ContainerName))
	if condition := string(p.PodConditionType); condition != "" {
		if waiting := m.gatedWorkloads(condition); len(waiting) > 0 {
			m.report("podprobemarker/gate", path+"podConditionType", fmt.Sprintf("pods of %s wait for %s in their readinessGates and never become ready", strings.Join(waiting, ", "), condition))
		} else {
			m.report("podprobemarker/condition", path+"podConditionType", "")
		}
	}
	if len(p.MarkerPolicy) > 0 {
		rule, detail := m.markerRule(p.MarkerPolicy)
		m.report(rule, path+"markerPolicy", detail)
	}
}

// handlerText describes how a probe checks the container.
func handlerText(p *kruise.PodContainerProbe) string {
	switch h := p.Probe.ProbeHandler; {
	case h.Exec != nil:
		return "exec"
	case h.HTTPGet != nil:
		return "httpGet"
	default:
		return "tcpSocket"
	}
}

// gatedWorkloads returns the workloads whose pods the marker probes and whose readiness gate
// needs the condition.
func (m *probeMarker) gatedWorkloads(condition string) (owners []string) {
	selector, err := metav1.LabelSelectorAsSelector(m.spec.Selector)
	if err != nil {
		return nil
	}
	for _, t := range m.related.probed {
		if t.gates[condition] && t.namespace == m.c.Facts.NamespaceOf(m.r) && selector.Matches(t.labels) {
			owners = append(owners, t.owner.Kind()+" "+t.owner.Name())
		}
	}
	return owners
}

// markerRule chooses the rule by what the markers are used for.
func (m *probeMarker) markerRule(policies []kruise.ProbeMarkerPolicy) (rule, detail string) {
	rule = "podprobemarker/marker"
	for _, p := range policies {
		if service := m.selectingService(p.Labels); service != "" {
			return "podprobemarker/service-label", "the label by which Service " + service + " selects does not follow the probe"
		}
		if _, ok := p.Annotations[corev1.PodDeletionCost]; ok {
			rule = "podprobemarker/deletion-cost"
		}
	}
	return rule, ""
}

// selectingService returns the first Service, by name, whose selector has one of the labels.
func (m *probeMarker) selectingService(marks map[string]string) (name string) {
	for _, r := range m.related.services {
		if m.c.Facts.NamespaceOf(r) != m.c.Facts.NamespaceOf(m.r) {
			continue
		}
		for key := range tree.Strings(tree.Get(r.Node(), "spec", "selector")) {
			if _, ok := marks[key]; ok && (name == "" || r.Name() < name) {
				name = r.Name()
			}
		}
	}
	return name
}
