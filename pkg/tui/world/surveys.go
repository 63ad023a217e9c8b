package world

import (
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Sidecars are all SidecarSets against all workloads.
type Sidecars struct{ Sets []*SidecarSet }

// SidecarSet is a row of the matrix.
type SidecarSet struct {
	Name     string
	Revision string
	// Paused and Frozen are what its strategy says: for now, or for good (NotUpdate).
	Paused, Frozen bool
	// Partition is as in the spec, empty without one.
	Partition  string
	Containers []SidecarContainer
	Matched    int
	Updated    int
	Ready      int
	// Cells are the workloads that it matches pods of.
	Cells []SidecarCell
}

// SidecarContainer is one container of a set.
type SidecarContainer struct {
	Name, Image string
	// Hot is upgraded without a gap, through its empty twin.
	Hot bool
}

// SidecarCell is one set on the pods of one workload.
type SidecarCell struct {
	// Workload owns the pods; its name is empty for pods without an owner.
	Workload cluster.Ref
	Matched  int
	Updated  int
	Ready    int
	// UpdatedReady are ready and updated.
	UpdatedReady int
	// Held are pods that cannot be upgraded, with the reason. Those that the set does
	// not count are among them, and not in Matched.
	Held []Held
	// Upgrading are pods in the middle of a hot upgrade, by name, with its phase.
	Upgrading map[string]string
}

// Hold adds pods that are held back for a reason, "" for none.
func (c *SidecarCell) Hold(why string, pods ...string) {
	i := slices.IndexFunc(c.Held, func(h Held) bool { return h.Why == why })
	switch {
	case why == "":
	case i < 0:
		c.Held = append(c.Held, Held{pods, why})
	default:
		c.Held[i].Pods = append(slices.Clip(c.Held[i].Pods), pods...)
	}
}

// Held is pods that something holds back for one reason.
type Held struct {
	Pods []string
	Why  string
}

// Distributions are the objects that spread something: over subsets, namespaces or nodes.
type Distributions struct{ List []*Distribution }

// Distribution is one of them: a UnitedDeployment, WorkloadSpread, ResourceDistribution or
// ImagePullJob.
type Distribution struct {
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
