package check

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindSidecarSet, object: kruise.SidecarSet{}, plainName: true, filled: true,
	// What Kubernetes defines and our version of it lacks is no fault.
	open:  []string{"spec.containers", "spec.initContainers", "spec.volumes"},
	check: sidecarSet,
	rules: []Rule{
		{ID: "selector-invalid", fields: []string{"spec.selector"}, Doc: "The selector is missing, empty or malformed."},
		{ID: "namespace-selector-invalid", fields: []string{"spec.namespaceSelector"}, Doc: "The namespace selector is empty or malformed."},
		{ID: "container-invalid", fields: []string{"spec.containers", "spec.initContainers"}, Doc: "Kubernetes' rules for containers, or Kruise's for sidecars, refuse a container, or another set that may meet this one in a pod has it."},
		{ID: "volume-invalid", fields: []string{"spec.volumes"}, Doc: "A volume has no proper name, or another set that may meet this one in a pod has it with other content."},
		{ID: "update-strategy-invalid", fields: []string{"spec.updateStrategy"}, Doc: "The type, partition, selector, priorities or scatter terms of the update are wrong or contradict each other."},
		{ID: "revision-invalid", fields: []string{"spec.injectionStrategy"}, Doc: "The revision to inject is not named or not stored."},
		{ID: "pod-metadata-invalid", fields: []string{"spec.patchPodMetadata"}, Doc: "An annotation to patch is not on the whitelist, is there twice, or another set overwrites it."},
		{ID: "canary-invalid", fields: []string{"metadata.annotations"}, Doc: "The base of a canary is missing, itself a canary, or changed."},
	},
})

// setCheck holds one SidecarSet to the rules of Kruise's webhook
// (docs/kruise/sidecarset.md#what-is-refused and docs/kruise/sidecarset.md#observed-on-a-cluster).
// Paths are the same in both versions, but for the namespaces.
type setCheck struct {
	*subject
	hub  *tree.Node
	spec *tree.Node
}

func sidecarSet(s *subject) {
	if !s.read(&kruise.SidecarSet{}) {
		return
	}
	hub := newest(s.r)
	k := &setCheck{subject: s, hub: hub, spec: tree.Get(hub, "spec")}
	k.selectors()
	k.containers()
	k.updateStrategy()
	k.revision()
	k.podMetadata()
	k.canary()
	k.conflicts()
	k.change()
}

func (k *setCheck) selectors() {
	if tree.Get(k.spec, "selector") == nil {
		k.fault("spec.selector", "", "required: without it the set matches nothing")
	} else {
		k.selector("spec.selector", tree.Get(k.spec, "selector"))
	}
	if n := tree.Get(k.spec, "namespaceSelector"); n != nil {
		k.selector("spec.namespaceSelector", n)
	}
}

// selector wants a valid label selector that is not empty.
func (k *setCheck) selector(path string, n *tree.Node) {
	s, err := labelSelector(n)
	if err != nil {
		k.addAll(err, path)
		return
	}
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		hint := "give matchLabels or matchExpressions"
		if path == "spec.namespaceSelector" {
			hint = "leave it out to mean every namespace"
		}
		k.fault(path, hint, "an empty selector is not valid for a SidecarSet")
		return
	}
	if _, err := metav1.LabelSelectorAsSelector(s); err != nil {
		k.fault(path, "", "%v", err)
	}
}

func labelSelector(n *tree.Node) (*metav1.LabelSelector, error) {
	s := &metav1.LabelSelector{}
	_, err := tree.Decode(n, s)
	return s, err
}

func isJSON(text string) bool { return json.Valid([]byte(text)) }
