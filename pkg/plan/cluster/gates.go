package cluster

import (
	"maps"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Gates are the properties of a Kruise installation that change the rules: its feature gates
// (docs/kruise/workloads.md#feature-gates) and its release. The zero value has all of them off;
// [GatesOf] is a plain installation.
type Gates struct {
	// Release is the one that is installed; one that is not known is taken for the newest.
	Release kruise.Release
	// CloneSetPartitionRollback lets a raised partition take updated pods back.
	CloneSetPartitionRollback bool
	// PreparingUpdateAsUpdate counts pods in PreparingUpdate as updated when a
	// CloneSet is scaled.
	PreparingUpdateAsUpdate bool
	// InPlaceUpdateEnvFromMetadata restarts containers whose env reads a label
	// or annotation that changed.
	InPlaceUpdateEnvFromMetadata bool
	// InPlaceWorkloadVerticalScaling allows cpu and memory to change in place.
	InPlaceWorkloadVerticalScaling bool
	// RecreatePodWhenChangeVCT is RecreatePodWhenChangeVCTInCloneSetGate: pods
	// with other claim templates are recreated.
	RecreatePodWhenChangeVCT bool
	// StatefulSetStartOrdinal makes spec.ordinals.start count.
	StatefulSetStartOrdinal bool
	// MaxUnavailableStatefulSet is a gate of Kubernetes: rollingUpdate.maxUnavailable
	// of its own StatefulSets counts. It is off in 1.36.
	MaxUnavailableStatefulSet bool
	// GuardUpdates is PodUnavailableBudgetUpdateGate: budgets are asked before a pod is
	// updated in place, not only before it is deleted or evicted.
	GuardUpdates bool
}

// MaxUnavailableStatefulSet is the name of the one gate of Kubernetes among them.
const MaxUnavailableStatefulSet = "MaxUnavailableStatefulSet"

// gates are the fields by the names of the gates.
var gates = map[string]func(*Gates) *bool{
	"CloneSetPartitionRollback":              func(g *Gates) *bool { return &g.CloneSetPartitionRollback },
	"PreparingUpdateAsUpdate":                func(g *Gates) *bool { return &g.PreparingUpdateAsUpdate },
	"InPlaceUpdateEnvFromMetadata":           func(g *Gates) *bool { return &g.InPlaceUpdateEnvFromMetadata },
	"InPlaceWorkloadVerticalScaling":         func(g *Gates) *bool { return &g.InPlaceWorkloadVerticalScaling },
	"RecreatePodWhenChangeVCTInCloneSetGate": func(g *Gates) *bool { return &g.RecreatePodWhenChangeVCT },
	"StatefulSetStartOrdinal":                func(g *Gates) *bool { return &g.StatefulSetStartOrdinal },
	"PodUnavailableBudgetUpdateGate":         func(g *Gates) *bool { return &g.GuardUpdates },
	MaxUnavailableStatefulSet:                func(g *Gates) *bool { return &g.MaxUnavailableStatefulSet },
}

// GateNames are the names of the gates, in alphabetical order.
func GateNames() []string { return slices.Sorted(maps.Keys(gates)) }

// Gate is the gate of a name; nil for one that changes no rule.
func (g *Gates) Gate(name string) *bool {
	if field := gates[name]; field != nil {
		return field(g)
	}
	return nil
}

// GatesOf are the gates as a release of Kruise has them by default; a release that is not
// known has those of the newest one.
func GatesOf(release kruise.Release) Gates {
	g := Gates{Release: release}
	for name, field := range gates {
		*field(&g) = release.OrNewest().GateOn(name)
	}
	return g
}

// DefaultGates are those of a release that is not known.
func DefaultGates() Gates { return GatesOf(kruise.Release{}) }
