package world

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// FanOuts are the objects that spread something: over subsets, namespaces or nodes.
type FanOuts struct{ List []*FanOut }

// FanOut is one of them: a UnitedDeployment, WorkloadSpread, ResourceDistribution or
// ImagePullJob.
type FanOut struct {
	cluster.Ref
	Created time.Time
	Health  Health
	// Target is the workload or resource that it spreads.
	Target string
	// Wanted and Got are all of its places together.
	Wanted, Got int
	// Places are in the order of the spec.
	Places []Place
	// Problems are of the object as a whole.
	Problems []string
}

// Place is one subset, namespace or node.
type Place struct {
	Name string
	// Limit is what the spec gives a subset, as written there; empty for none.
	Limit string
	// Wanted and Got are pods of a subset; 1 and 0 or 1 of anything else.
	Wanted, Got, Ready int
	// Updated are pods with the new template.
	Updated int
	Health  Health
	// Why is what is wrong: a conflict, a pull that fails, a subset that cannot
	// schedule.
	Why string
}
