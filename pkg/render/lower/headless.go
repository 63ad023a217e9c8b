package lower

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// governingService is the Service that governs a StatefulSet.
type governingService struct {
	name string
	// made is nil where a Service that exists serves.
	made *resource.Resource
}

// governingService finds or makes the Service: NAME, or NAME-headless where an
// ordinary Service has that name already. It has no ports, since only the DNS
// names of pods depend on it, and publishes pods once they are ready: a
// CloneSet's pods have no such names, so nothing asks for them earlier.
func (l *cloneSetExpansion) governingService() (governingService, error) {
	name := serviceName(l.r.Name())
	selector := l.podSelector()
	for _, name := range []string{name, suffixed(name, "-headless")} {
		id := resource.ID{Kind: "Service", Namespace: l.c.Facts.NamespaceOf(l.r), Name: name}
		have := l.related.services[id]
		rendered := have != nil && !l.related.given[have] && have.Label(kruise.SourceLabel) == l.source() // earlier, from this CloneSet
		if have == nil || rendered {
			l.report("cloneset/headless-service", "spec.volumeClaimTemplates", "")
			return governingService{name: name, made: resource.Derived(l.service(name, selector), l.r)}, nil
		}
		if l.selectsPods(have) {
			l.report("cloneset/headless-service", "spec.volumeClaimTemplates", "the headless Service "+name+", which exists, governs the StatefulSet")
			return governingService{name: name}, nil
		}
	}
	return governingService{}, l.r.Fault("metadata.name", "make one of them headless (clusterIP: None) with the selector of these pods, or rename it",
		"the StatefulSet that this becomes needs a headless Service, but Services %s and %s exist, and neither fits its pods", name, suffixed(name, "-headless"))
}

// selectsPods reports whether an existing Service is headless and selects the pods.
func (l *cloneSetExpansion) selectsPods(service *resource.Resource) bool {
	selector := tree.Strings(tree.Get(service.Node(), "spec", "selector"))
	if tree.StrAt(service.Node(), "spec", "clusterIP") != "None" || len(selector) == 0 {
		return false
	}
	for key, value := range selector {
		if l.spec.Template.Labels[key] != value {
			return false
		}
	}
	return true
}

// podSelector returns the labels by which a Service, which knows no
// expressions, finds the pods: those that the CloneSet's selector demands.
func (l *cloneSetExpansion) podSelector() map[string]string {
	out := map[string]string{}
	if s := l.spec.Selector; s != nil {
		maps.Copy(out, s.MatchLabels)
		for _, e := range s.MatchExpressions {
			if v, ok := l.spec.Template.Labels[e.Key]; ok {
				out[e.Key] = v
			}
		}
	}
	return out
}

// service returns the manifest. It carries the labels of the CloneSet, so that
// a selection of the objects of the application by label finds it.
func (l *cloneSetExpansion) service(name string, selector map[string]string) *tree.Node {
	meta := tree.Map("name", name)
	if ns := l.r.Namespace(); ns != "" {
		tree.Set(meta, "namespace", tree.String(ns))
	}
	labels := tree.Clone(tree.Get(l.hub, "metadata", "labels"))
	if !tree.IsMap(labels) {
		labels = tree.Map()
	}
	tree.Set(meta, "labels", labels)
	setOnce(meta, "labels", kruise.SourceLabel, tree.String(l.source()))
	return tree.Map("apiVersion", "v1", "kind", "Service", "metadata", meta,
		"spec", tree.Map("clusterIP", "None", "selector", tree.FromValue(stringValues(selector))))
}

func stringValues(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// serviceName returns name in the narrower form that a Service's must have: a
// DNS label that begins with a letter.
func serviceName(name string) string {
	name = strings.ReplaceAll(name, ".", "-")
	if len(validation.IsDNS1035Label(name)) > 0 && name != "" && (name[0] < 'a' || name[0] > 'z') {
		name = "s-" + name
	}
	return suffixed(name, "")
}

// suffixed returns name with suffix, cut to the length of a DNS label.
func suffixed(name, suffix string) string {
	if most := validation.DNS1035LabelMaxLength - len(suffix); len(name) > most {
		name = strings.TrimRight(name[:most], "-")
	}
	return name + suffix
}
