package live

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/podstate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/placement"
)

// The facts that PersistentPodStates are rendered from.
var (
	podStates = &kind{group: kruise.Group, name: placement.Kind, resource: "persistentpodstates", keep: []string{
		targetRef, "spec requiredPersistentTopology", "spec preferredPersistentTopology", "spec persistentPodStateRetentionPolicy", "status podStates",
	}, tidy: unannotated}
	renderedStates = &kind{version: "v1", name: "ConfigMap", resource: "configmaps", keep: []string{metaLabels, "data"}}
	placedPods     = &kind{version: "v1", name: "Pod", resource: "pods", keep: []string{
		owners + "apiVersion", owners + "kind", owners + "name", owners + "controller",
		"spec nodeName", "status phase", "status conditions type", "status conditions status",
	}}
)

// unannotated takes the recorded annotations of pods away, which are never put
// back.
func unannotated(object map[string]any) {
	status, _ := object["status"].(map[string]any)
	states, _ := status["podStates"].(map[string]any)
	for _, state := range states {
		if s, ok := state.(map[string]any); ok {
			delete(s, "annotations")
		}
	}
}

// places asks where pods are to go back to. Kruise records that; where it is not,
// an earlier rendering has, or the pods that are there tell.
func (a *asker) places() {
	wanted := slices.Clone(pick(a.stream, placement.Kind))
	for _, r := range a.stream {
		if _, ok := podstate.Generated(r.Node()); ok && r.Kind() == kruise.KindStatefulSet {
			wanted = append(wanted, r)
		}
	}
	for _, ns := range a.namespacesOf(append(wanted, pick(a.stream, kruise.KindStatefulSet)...)) {
		a.ask(want{kind: podStates, what: "PersistentPodStates in " + ns, namespace: ns, selectable: true})
	}
	if len(wanted) == 0 || a.served[kruise.Group] != "" {
		return
	}
	if !a.has(placement.Kind) {
		a.ask(want{kind: nodes, what: "nodes"})
	}
	for _, ns := range a.namespacesOf(wanted) {
		a.ask(want{kind: renderedStates, what: "rendered states of pods in " + ns, namespace: ns, selector: kruise.SourceLabel, only: ofPodStates})
		a.ask(want{kind: placedPods, what: "pods of StatefulSets in " + ns, namespace: ns, selector: appsv1.StatefulSetPodNameLabel, only: runs})
	}
}

// ofPodStates finds what was rendered for a PersistentPodState.
func ofPodStates(object map[string]any) bool {
	meta, _ := object["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	source, _ := labels[kruise.SourceLabel].(string)
	return strings.HasPrefix(source, strings.ToLower(placement.Kind)+".")
}

// runs finds pods that have a node.
func runs(object map[string]any) bool {
	spec, _ := object["spec"].(map[string]any)
	return spec["nodeName"] != nil
}
