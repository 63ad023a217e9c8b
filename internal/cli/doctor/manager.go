package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
)

// gatedKinds are kinds whose webhook refuses every object while a gate is off
// (docs/kruise/distribution.md#feature-gates).
var gatedKinds = []struct {
	gate  string
	kinds []string
}{
	{"ImagePullJobGate", []string{kruise.KindImagePullJob, kruise.KindImageListPullJob}},
	{"KruiseDaemon", []string{kruise.KindContainerRecreateRequest, kruise.KindNodeImage}},
	{"ResourceDistributionGate", []string{kruise.KindResourceDistribution}},
	{kruise.KindWorkloadSpread, []string{kruise.KindWorkloadSpread}},
}

// manager looks at Kruise's controllers: their version, whether they run, their gates.
func (p *inspection) manager(ctx context.Context, served map[string][]string) []verdictLine {
	manager, err := installation.FindManager(ctx, p.objects)
	if err != nil {
		return []verdictLine{warned("Kruise", "", "its controllers in namespace %s cannot be read: %v", kruise.DefaultNamespace, err)}
	}
	d := manager.Deployment
	if d == nil {
		return []verdictLine{warned("Kruise", "without controllers its objects do nothing", "no controllers in namespace %s", kruise.DefaultNamespace)}
	}
	c := manager.Container
	said := passed("Kruise", "%s, %d of %d controllers are ready", c.Image, d.Status.ReadyReplicas, d.Status.Replicas)
	if d.Status.ReadyReplicas == 0 {
		said = failedVerdict("Kruise", "kubectl -n "+d.Namespace+" describe deployment "+d.Name, "%s, and none of its controllers is ready", c.Image)
	}
	return append([]verdictLine{said}, gateLines(installation.ManagerGates(c), served, installation.Tell(ctx, manager, p.objects, p.core.Discovery()).Release.OrNewest())...)
}

// release reports which release of Kruise this is, and how sure that is.
func (p *inspection) release(ctx context.Context) verdictLine {
	found := installation.Read(ctx, p.objects, p.core.Discovery())
	switch {
	case found.Release.IsZero():
		return passed("release", "which one of Kruise this is cannot be told: say it with --kruise-version")
	case found.Release.Before(kruise.OldestRecorded):
		return warned("release", "", "%s; of it only fields and versions are known to this program", found)
	case !found.Sure:
		return passed("release", "%s: if it is another one, say it with --kruise-version", found)
	}
	return passed("release", "%s", found)
}

// gateLines infers them from the controllers' arguments, and names kinds that are served and
// refused.
func gateLines(given []string, served map[string][]string, of kruise.Release) []verdictLine {
	lines := []verdictLine{passed("gates", "Kruise's defaults")}
	if len(given) > 0 {
		lines[0] = passed("gates", "%s, the others as Kruise has them by default", strings.Join(given, ", "))
	}
	for _, g := range gatedKinds {
		if !of.HasGate(g.gate) {
			continue // nothing to set: the release has the kind without it
		}
		on := of.GateOn(g.gate)
		if i := slices.IndexFunc(given, func(s string) bool { return strings.HasPrefix(s, g.gate+"=") }); i >= 0 {
			on = strings.EqualFold(given[i], g.gate+"=true")
		}
		refused := slices.DeleteFunc(slices.Clone(g.kinds), func(kind string) bool { return len(served[kind]) == 0 })
		if !on && len(refused) > 0 {
			lines = append(lines, warned(
				"gates", "set --feature-gates="+g.gate+"=true for Kruise, or let render expand them", "%s is off: every %s is refused", g.gate, strings.Join(refused, " and "),
			))
		}
	}
	return lines
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// definitions looks into Kruise's custom resource definitions for what discovery does
// not tell: that one is not established, or holds objects in a version it no longer has.
func (p *inspection) definitions(ctx context.Context) []verdictLine {
	list, err := p.objects.Resource(definitions).List(ctx, metav1.ListOptions{})
	if err != nil {
		return []verdictLine{warned("definitions", "", "cannot be read: %v", err)}
	}
	var lines []verdictLine
	n := 0
	for _, crd := range list.Items {
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		if group != kruise.Group && group != kruise.PolicyGroup {
			continue
		}
		n++
		for _, fault := range definitionFaults(crd.Object) {
			lines = append(lines, failedVerdict("definitions", "install Kruise's definitions of one release, all of them", "%s: %s", crd.GetName(), fault))
		}
		if isUnconverted(crd.Object) {
			lines = append(lines, warned("definitions", "write all objects of the kind in one version", "%s: has several versions and no conversion between them: the other version does not show fields that it calls otherwise", crd.GetName()))
		}
	}
	if len(lines) == 0 {
		lines = append(lines, passed("definitions", "%d are established", n))
	}
	return lines
}

// definitionFaults are those of one definition.
func definitionFaults(crd map[string]any) []string {
	var out []string
	if !isEstablished(crd) {
		out = append(out, "is not established")
	}
	var has []string
	versions, _, _ := unstructured.NestedSlice(crd, "spec", "versions")
	for _, v := range versions {
		if m, ok := v.(map[string]any); ok {
			has = append(has, fmt.Sprint(m["name"]))
		}
	}
	stored, _, _ := unstructured.NestedStringSlice(crd, "status", "storedVersions")
	for _, v := range stored {
		if !slices.Contains(has, v) {
			out = append(out, "objects are stored as "+v+", which it no longer has")
		}
	}
	return out
}

// isUnconverted reports whether the API server serves several versions of a kind and converts
// none, although one field has different names in them. Whether Kruise's own manifests of a kind ask for
// conversion differs between builds of its main branch, so that this is no fault of the installation.
func isUnconverted(crd map[string]any) bool {
	versions, _, _ := unstructured.NestedSlice(crd, "spec", "versions")
	strategy, _, _ := unstructured.NestedString(crd, "spec", "conversion", "strategy")
	return strategy == "None" && len(versions) > 1 && hasRenamedFields(crd)
}

// hasRenamedFields reports whether the kind's versions have one field under different names. Kruise
// ships the definitions of other kinds without conversion, and they need none.
func hasRenamedFields(crd map[string]any) bool {
	group, _, _ := unstructured.NestedString(crd, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd, "spec", "names", "kind")
	known, ok := kruise.Lookup(group, kind)
	return !ok || known.Renames
}

func isEstablished(crd map[string]any) bool {
	conditions, _, _ := unstructured.NestedSlice(crd, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		m, ok := c.(map[string]any)
		return ok && m["type"] == "Established" && m["status"] == "True"
	})
}

// daemonSelector is the label of the pods that restart containers and pull images for Kruise.
const daemonSelector = "control-plane=daemon"

// daemons looks on which nodes Kruise's daemon is ready.
func (p *inspection) daemons(ctx context.Context) []verdictLine {
	nodes, err := p.core.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return []verdictLine{warned("daemon", "", "the nodes cannot be read: %v", err)}
	}
	pods, err := p.core.CoreV1().Pods(kruise.DefaultNamespace).List(ctx, metav1.ListOptions{LabelSelector: daemonSelector})
	if err != nil {
		return []verdictLine{warned("daemon", "", "its pods cannot be read: %v", err)}
	}
	ready := map[string]bool{}
	for _, pod := range pods.Items {
		for _, c := range pod.Status.Conditions {
			ready[pod.Spec.NodeName] = ready[pod.Spec.NodeName] || c.Type == "Ready" && c.Status == "True"
		}
	}
	var without []string
	for _, n := range nodes.Items {
		if !ready[n.Name] {
			without = append(without, n.Name)
		}
	}
	if len(without) == 0 {
		return []verdictLine{passed("daemon", "ready on %d of %s", len(nodes.Items), counted.Of(len(nodes.Items), "node"))}
	}
	return []verdictLine{warned(
		"daemon", "containers there restart by another name of the image or a signal, and images are pulled by pods",
		"not ready on %d of %s: %s", len(without), counted.Of(len(nodes.Items), "node"), firstNames(without),
	)}
}

// firstNames names the first of many.
func firstNames(names []string) string {
	const some = 5
	if len(names) > some {
		return strings.Join(names[:some], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
