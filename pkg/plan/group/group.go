// Package group decides in which order several rollouts are carried out: which of them may
// start now, given waves, dependencies, limits and failures. It is pure, as package plan is,
// and knows nothing of how one rollout goes: that is for [plan.Next].
package group

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// DependsOnAnnotation names workloads that have to be completed before the one that carries
// it may start.
const DependsOnAnnotation = "kubectl-kruise.dev/depends-on"

// Member is one rollout of a group.
type Member struct {
	Ref cluster.Ref
	// Wave is when it starts: no member starts before those of all lower waves have ended.
	Wave int
	// DependsOn are members that have to be completed before it starts.
	DependsOn []cluster.Ref
	// Takes is how many pods its plan may make unavailable at a time, Replicas how many
	// pods it has.
	Takes, Replicas int
}

// Limits bound a group as a whole. The zero value starts everything at once, and stops at
// the first failure.
type Limits struct {
	// Parallel is how many members may be in progress at a time; 0 is any number.
	Parallel int
	// MaxUnavailable is how many pods of all members may be unavailable at a time; 0 is
	// any number.
	MaxUnavailable int
	// MaxFailures is how many members may fail before no further one starts.
	MaxFailures int
}

// Budget is a PodDisruptionBudget or PodUnavailableBudget that covers pods of several
// members.
type Budget struct {
	// Name is kind/namespace/name, for users.
	Name string
	// Allowed is how many of its pods may be unavailable, Elsewhere how many are that no
	// member has.
	Allowed, Elsewhere int
	// Takes is how many of its pods each member may make unavailable, by the member's index.
	Takes map[int]int
}

// Group is several rollouts with what bounds them.
type Group struct {
	Members []Member
	Limits  Limits
	// Budgets are shared by members. They are looked up in the cluster, and no record has
	// them.
	Budgets []Budget
}

// Name is a member for users: with its namespace where members are in several.
func (g Group) Name(ref cluster.Ref) string {
	for _, m := range g.Members {
		if m.Ref.Namespace != ref.Namespace {
			return strings.TrimPrefix(ref.Namespace+"/"+ref.String(), "/")
		}
	}
	return ref.String()
}

// Check refuses a group that could not end: circles of dependencies, a member that waits for
// a later wave, or one that may take more pods down than the group.
func (g Group) Check() error {
	index := map[cluster.Ref]int{}
	for i, m := range g.Members {
		if _, ok := index[m.Ref]; ok {
			return &tree.Error{Msg: fmt.Sprintf("%s is there twice", g.Name(m.Ref)), Hint: "roll each workload out once"}
		}
		index[m.Ref] = i
	}
	if g.Limits.Parallel < 0 || g.Limits.MaxUnavailable < 0 || g.Limits.MaxFailures < 0 {
		return &tree.Error{Msg: "a limit of the group is below 0"}
	}
	for _, m := range g.Members {
		if err := g.checkMember(index, m); err != nil {
			return err
		}
	}
	return g.checkCycles(index)
}

func (g Group) checkMember(index map[cluster.Ref]int, m Member) error {
	if most := g.Limits.MaxUnavailable; most > 0 && m.Takes > most {
		return &tree.Error{
			Msg:  fmt.Sprintf("the rollout of %s may make %s unavailable at a time, and all rollouts together may make %d", g.Name(m.Ref), pods(m.Takes), most),
			Hint: "lower maxUnavailable of the workload, or raise --max-unavailable-total",
		}
	}
	for _, ref := range m.DependsOn {
		i, ok := index[ref]
		switch {
		case !ok:
			return &tree.Error{Msg: fmt.Sprintf("%s depends on %s, which is not in the group", g.Name(m.Ref), g.Name(ref))}
		case g.Members[i].Wave > m.Wave:
			return &tree.Error{
				Msg:  fmt.Sprintf("%s in wave %d depends on %s, which starts later, in wave %d", g.Name(m.Ref), m.Wave, g.Name(ref), g.Members[i].Wave),
				Hint: "change one of the waves, or the annotation " + DependsOnAnnotation,
			}
		}
	}
	return nil
}

// checkCycles names the members of a circle of dependencies.
func (g Group) checkCycles(index map[cluster.Ref]int) error {
	done := make([]bool, len(g.Members))
	var path []int
	var visit func(int) []int
	visit = func(i int) []int {
		if at := slices.Index(path, i); at >= 0 {
			return append(slices.Clone(path[at:]), i)
		}
		if done[i] {
			return nil
		}
		path = append(path, i)
		for _, ref := range g.Members[i].DependsOn {
			if found := visit(index[ref]); found != nil {
				return found
			}
		}
		path, done[i] = path[:len(path)-1], true
		return nil
	}
	for i := range g.Members {
		if found := visit(i); found != nil {
			var names []string
			for _, j := range found {
				names = append(names, g.Name(g.Members[j].Ref))
			}
			return &tree.Error{
				Msg:  "these depend on each other: " + strings.Join(names, " → "),
				Hint: "remove one of the names from the annotation " + DependsOnAnnotation,
			}
		}
	}
	return nil
}

// Waves are the indexes of the members of each wave, the first wave first. Within a wave
// they are in the order of the group.
func (g Group) Waves() [][]int {
	byWave := map[int][]int{}
	var numbers []int
	for i, m := range g.Members {
		if byWave[m.Wave] == nil {
			numbers = append(numbers, m.Wave)
		}
		byWave[m.Wave] = append(byWave[m.Wave], i)
	}
	slices.Sort(numbers)
	out := make([][]int, len(numbers))
	for i, n := range numbers {
		out[i] = byWave[n]
	}
	return out
}

// Reverse is the group in which the members are rolled back: the last wave first, and each
// member before those that it depends on.
func (g Group) Reverse() Group {
	out := Group{Members: slices.Clone(g.Members), Limits: g.Limits, Budgets: g.Budgets}
	needed := map[cluster.Ref][]cluster.Ref{}
	for i, m := range g.Members {
		out.Members[i].Wave = -m.Wave
		for _, ref := range m.DependsOn {
			needed[ref] = append(needed[ref], m.Ref)
		}
	}
	for i := range out.Members {
		out.Members[i].DependsOn = needed[out.Members[i].Ref]
	}
	return out
}
