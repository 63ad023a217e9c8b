package check

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindUnitedDeployment, object: kruise.UnitedDeployment{}, filled: true,
	open:      openTemplates,
	check:     unitedDeployment,
	misplaced: unitedMisplaced,
	rules: []Rule{
		{ID: "selector-invalid", fields: []string{"spec.selector"}, Doc: "The selector is missing, empty or malformed."},
		{ID: "template-invalid", fields: []string{"spec.template"}, Doc: "Not exactly one workload template is given, its labels do not match, or it says what the subsets say; CloneSet templates have the shape of v1beta1."},
		{ID: "topology-invalid", fields: []string{subsetsField, "spec.topology.scheduleStrategy"}, Doc: "Names of subsets are wrong or repeated, or the ways to size them contradict each other."},
		{ID: "replicas-invalid", fields: []string{"spec.replicas"}, Doc: "replicas is negative."},
		{ID: "partition-invalid", fields: []string{"spec.updateStrategy"}, Doc: "The update type is unknown, or a partition is negative or names no subset."},
	},
})

// unitedDeploymentCheck gathers the faults of one UnitedDeployment.
type unitedDeploymentCheck struct {
	*subject
	// spec has Kruise's defaults filled in.
	spec *kruise.UnitedDeploymentSpec
	// selector is nil when it is at fault itself.
	selector labels.Selector
}

// unitedDeployment holds the rules of the webhook and the schema (docs/kruise/distribution.md#spec
// and docs/kruise/distribution.md#observed-on-a-cluster).
func unitedDeployment(s *subject) {
	var ud kruise.UnitedDeployment
	if !s.read(&ud) {
		return
	}
	kruise.Default(&ud)
	k := &unitedDeploymentCheck{subject: s, spec: &ud.Spec}
	k.selector = k.choose("spec.selector", k.spec.Selector, "set matchLabels to labels that the pods have")
	k.template()
	k.topology()
	k.updateStrategy()
	k.change()
}

func (k *unitedDeploymentCheck) updateStrategy() {
	u := k.spec.UpdateStrategy
	if u.Type != "" && u.Type != kruise.ManualUpdateStrategyType {
		k.fault("spec.updateStrategy.type", "", "%q is not allowed: want Manual", u.Type)
	}
	if u.ManualUpdate == nil {
		return
	}
	declared := map[string]bool{}
	for _, s := range k.spec.Topology.Subsets {
		declared[s.Name] = true
	}
	for _, subset := range slices.Sorted(maps.Keys(u.ManualUpdate.Partitions)) {
		at := fmt.Sprintf("spec.updateStrategy.manualUpdate.partitions[%s]", subset)
		if !declared[subset] {
			k.fault(at, "name a subset of spec.topology.subsets", "there is no subset %s", subset)
		}
		if n := u.ManualUpdate.Partitions[subset]; n < 0 {
			k.fault(at, "", "%d is negative", n)
		}
	}
}
