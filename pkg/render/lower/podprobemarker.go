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

// probed is a pod template that a PodProbeMarker may reach.
type probed struct {
	owner     *resource.Resource
	namespace string
	labels    labels.Set
	gates     map[string]bool
}

func templatesOf(c *stage.Context, in []*resource.Resource) []probed {
	var out []probed
	for _, r := range in {
		templates, _ := c.Templates(r)
		for _, t := range templates {
			p := probed{owner: r, namespace: c.Facts.NamespaceOf(r), labels: tree.Strings(tree.Get(t.Node, "metadata", "labels")), gates: map[string]bool{}}
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
	around *around
	spec   kruise.PodProbeMarkerSpec
}

// dropProbeMarker leaves r out and says for each of its probes what comes
// nearest.
func dropProbeMarker(c *stage.Context, a *around, r *resource.Resource) ([]*resource.Resource, error) {
	var marker kruise.PodProbeMarker
	o, err := read(c, r, "podprobemarker", &marker)
	if err != nil {
		return nil, err
	}
	m := &probeMarker{object: o, around: a, spec: marker.Spec}
	m.report("podprobemarker/selector", "spec.selector", "")
	for i := range m.spec.Probes {
		m.reportProbe(fmt.Sprintf("spec.probes[%d].", i), &m.spec.Probes[i])
	}
	c.Lineage.Became(r.ID())
	return nil, nil
}

func (m *probeMarker) reportProbe(path string, p *kruise.PodContainerProbe) {
	m.report("podprobemarker/probe", path+"probe", fmt.Sprintf("the %s probe of container %s: it does not run without Kruise's node agent", handler(p), p.ContainerName))
	if condition := string(p.PodConditionType); condition != "" {
		if waiting := m.waiting(condition); len(waiting) > 0 {
			m.report("podprobemarker/gate", path+"podConditionType", fmt.Sprintf("pods of %s wait for %s in their readinessGates and never become ready", strings.Join(waiting, ", "), condition))
		} else {
			m.report("podprobemarker/condition", path+"podConditionType", "")
		}
	}
	if len(p.MarkerPolicy) > 0 {
		rule, detail := m.marking(p.MarkerPolicy)
		m.report(rule, path+"markerPolicy", detail)
	}
}

// handler is how a probe looks at the container.
func handler(p *kruise.PodContainerProbe) string {
	switch h := p.Probe.ProbeHandler; {
	case h.Exec != nil:
		return "exec"
	case h.HTTPGet != nil:
		return "httpGet"
	default:
		return "tcpSocket"
	}
}

// waiting are the workloads whose pods the marker probes and which are not ready
// without the condition.
func (m *probeMarker) waiting(condition string) (owners []string) {
	selector, err := metav1.LabelSelectorAsSelector(m.spec.Selector)
	if err != nil {
		return nil
	}
	for _, t := range m.around.probed {
		if t.gates[condition] && t.namespace == m.c.Facts.NamespaceOf(m.r) && selector.Matches(t.labels) {
			owners = append(owners, t.owner.Kind()+" "+t.owner.Name())
		}
	}
	return owners
}

// marking chooses the rule by what the markers are good for.
func (m *probeMarker) marking(policies []kruise.ProbeMarkerPolicy) (rule, detail string) {
	rule = "podprobemarker/marker"
	for _, p := range policies {
		if service := m.selecting(p.Labels); service != "" {
			return "podprobemarker/service-label", "the label by which Service " + service + " selects does not follow the probe"
		}
		if _, ok := p.Annotations[corev1.PodDeletionCost]; ok {
			rule = "podprobemarker/deletion-cost"
		}
	}
	return rule, ""
}

// selecting is the first Service by name whose selector has one of the labels.
func (m *probeMarker) selecting(marks map[string]string) (name string) {
	for _, r := range m.around.services {
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
