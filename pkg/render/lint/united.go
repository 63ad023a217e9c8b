package lint

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Rules about UnitedDeployments (docs/kruise/distribution.md#uniteddeployment).
var _ = advise(
	advice{
		Rule:  Rule{ID: "uniteddeployment/partition-updates-nothing", Kind: kruise.KindUnitedDeployment, Severity: Warning, Doc: "A partition as large as its subset keeps every pod there old; one of a subset of Deployments is ignored."},
		kinds: []string{united}, look: typed(subsetPartitions),
	},
	advice{
		Rule:  Rule{ID: "uniteddeployment/match-fields", Kind: kruise.KindUnitedDeployment, Severity: Warning, Doc: "Of a nodeSelectorTerm only matchExpressions are used."},
		kinds: []string{united}, look: typed(matchFields),
	},
)

func subsetPartitions(s *subject, u *kruise.UnitedDeployment) {
	if u.Spec.UpdateStrategy.ManualUpdate == nil {
		return
	}
	partitions := u.Spec.UpdateStrategy.ManualUpdate.Partitions
	for _, name := range slices.Sorted(maps.Keys(partitions)) {
		field := "spec.updateStrategy.manualUpdate.partitions[" + name + "]"
		if partitions[name] > 0 && u.Spec.Template.DeploymentTemplate != nil {
			s.say(field, "a Deployment is paced by its own strategy", "is ignored: subsets of Deployments have no partition")
			continue
		}
		i := slices.IndexFunc(u.Spec.Topology.Subsets, func(sub kruise.Subset) bool { return sub.Name == name })
		if i < 0 {
			continue
		}
		if n := u.Spec.Topology.Subsets[i].Replicas; n != nil && n.Type == intstr.Int && n.IntVal > 0 && partitions[name] >= n.IntVal {
			s.say(field, "lower the partition to update pods", "keeps all %d pods of the subset old", n.IntVal)
		}
	}
}

func matchFields(s *subject, u *kruise.UnitedDeployment) {
	for i, sub := range u.Spec.Topology.Subsets {
		if len(sub.NodeSelectorTerm.MatchFields) > 0 {
			s.say(fmt.Sprintf("spec.topology.subsets[%d].nodeSelectorTerm.matchFields", i), "use matchExpressions, such as one on kubernetes.io/hostname", "is ignored")
		}
	}
}
