package argocd

import (
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// The annotations that place an object in a sync. Objects that have one of them, and
// those of Helm's, stay where their author put them.
const (
	waveAnnotation = "argocd.argoproj.io/sync-wave"
	hookAnnotation = "argocd.argoproj.io/hook"
	helmAnnotation = "helm.sh/hook"
)

// waves are the kinds that go before the rest. A wave waits until everything in it is
// healthy, so nothing is listed here whose health waits for workloads: a claim is bound
// when its pod comes, a Service of type LoadBalancer gets its address whenever.
var waves = func() map[string]int {
	m := map[string]int{}
	for wave, kinds := range map[int][]string{
		-3: {"Namespace", "CustomResourceDefinition"},
		-2: {
			"PriorityClass", "ResourceQuota", "LimitRange", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding",
			"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
		},
		-1: {"ConfigMap", "Secret", kruise.KindResourceDistribution, kruise.KindSidecarSet, kruise.KindPodProbeMarker, kruise.KindPersistentPodState, kruise.KindWorkloadSpread, kruise.KindPodUnavailableBudget, "PodDisruptionBudget"},
	} {
		for _, kind := range kinds {
			m[kind] = wave
		}
	}
	return m
}()

// SyncWaves writes the waves of what workloads need, in place: namespaces first, then
// policies and rights, then configuration. Injection needs it: Argo CD applies custom
// resources behind the workloads of their wave (docs/facts/argocd.md#health-and-order).
func SyncWaves(list []*resource.Resource) {
	for _, r := range list {
		wave, early := waves[r.Kind()]
		if early && r.Annotation(waveAnnotation) == "" && r.Annotation(hookAnnotation) == "" && r.Annotation(helmAnnotation) == "" {
			annotate(r.Edit(), wave)
		}
	}
}

// annotate copies what it writes into: copies of one object share their nodes.
func annotate(n *tree.Node, wave int) {
	meta := tree.Shallow(tree.Get(n, "metadata"))
	annotations := tree.Map()
	if have := tree.Get(meta, "annotations"); tree.IsMap(have) {
		annotations = tree.Shallow(have)
	}
	tree.Set(annotations, waveAnnotation, tree.String(strconv.Itoa(wave)))
	tree.Set(meta, "annotations", annotations)
	tree.Set(n, "metadata", meta)
}
