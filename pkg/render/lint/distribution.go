package lint

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Rules about fields that nothing reads (docs/kruise/distribution.md#resourcedistribution,
// docs/kruise/workloads.md#advanced-daemonset).
var _ = advise(
	advice{
		Rule:  Rule{ID: "resourcedistribution/ignored-field", Kind: kruise.KindResourceDistribution, Severity: Warning, Doc: "With allNamespaces the included namespaces and the selector are ignored; a namespace in the resource always is."},
		kinds: []string{shared}, look: typed(ignoredTargets),
	},
	advice{
		Rule:  Rule{ID: "daemonset/ignored-field", Kind: kruise.KindDaemonSet, Severity: Warning, Doc: "Of a DaemonSet's lifecycle only preDelete acts."},
		kinds: []string{daemonSet}, look: typed(ignoredLifecycle),
	},
)

func ignoredTargets(s *subject, d *kruise.ResourceDistribution) {
	t := d.Spec.Targets
	if t.AllNamespaces && len(t.IncludedNamespaces.List) > 0 {
		s.say("spec.targets.includedNamespaces", "take one of the two out", "is ignored: allNamespaces is set")
	}
	if t.AllNamespaces && len(t.NamespaceSelector.MatchLabels)+len(t.NamespaceSelector.MatchExpressions) > 0 {
		s.say("spec.targets.namespaceSelector", "take one of the two out", "is ignored: allNamespaces is set")
	}
	var meta struct{ Metadata metav1.ObjectMeta }
	if json.Unmarshal(d.Spec.Resource.Raw, &meta) == nil && meta.Metadata.Namespace != "" {
		s.say("spec.resource.metadata.namespace", "take it out: the targets say where copies go", "is ignored")
	}
}

func ignoredLifecycle(s *subject, d *kruise.DaemonSet) {
	if l := d.Spec.Lifecycle; l != nil && l.PreNormal != nil {
		s.say("spec.lifecycle.preNormal", "only preDelete acts here", "is ignored")
	}
}
