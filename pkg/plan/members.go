package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// DependsOnAnnotation names workloads that have to be completed before the one that carries
// it may start.
const DependsOnAnnotation = "kubectl-kruise.dev/depends-on"

// ErrNoGroup is a rollout of several workloads that is not recorded.
var ErrNoGroup = errors.New("no such group of rollouts is recorded")

// Rollout is what is carried out as one: members, and what bounds them together. A record of it
// is all that another machine needs to continue it; how far each member has come is in the record
// of its workload.
type Rollout struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Begun is when it was begun, By who wrote it last.
	Begun   time.Time `json:"begun,omitzero"`
	By      string    `json:"by,omitempty"`
	Bounds  Bounds    `json:"limits"`
	Members []Member  `json:"members"`
	// Paused and Aborted are who paused or ended it, and when; empty for no one. Back has its
	// members rolled back after that.
	Paused  string `json:"paused,omitempty"`
	Aborted string `json:"aborted,omitempty"`
	Back    bool   `json:"back,omitempty"`
	// Finished is when it ended for good.
	Finished time.Time `json:"finished,omitzero"`
	// Budgets are shared by members. They are looked up in the cluster, and no record has
	// them.
	Budgets []SharedBudget `json:"-"`
	// Version changes with every write.
	Version string `json:"-"`
}

// Member is the part of a rollout that one workload has.
type Member struct {
	Ref  cluster.Ref `json:"workload"`
	Plan Plan        `json:"-"`
	// Wave is when it starts: no member starts before those of all lower waves have ended.
	Wave int `json:"wave,omitempty"`
	// DependsOn are members that have to be completed before it starts.
	DependsOn []cluster.Ref `json:"dependsOn,omitempty"`
	// Before is the start of the rollout that its workload had recorded before this one, which
	// starts later. It is zero if there was none.
	Before time.Time `json:"before,omitzero"`
}

// Bounds are those of a rollout as a whole. The zero value starts all members at once, and stops
// at the first failure.
type Bounds struct {
	// Parallel is how many members may be in progress at a time; 0 is any number.
	Parallel int `json:"parallel,omitempty"`
	// MaxUnavailable is how many pods of all members may be unavailable at a time; 0 is
	// any number.
	MaxUnavailable int `json:"maxUnavailable,omitempty"`
	// MaxFailures is how many members may fail before no further one starts.
	MaxFailures int `json:"maxFailures,omitempty"`
	// PassWaiting has members that wait for a user not count among those in progress. It is for a
	// rollout that no record has as a whole: no digest has it.
	PassWaiting bool `json:"-"`
}

// SharedBudget is a PodDisruptionBudget or PodUnavailableBudget that covers pods of several
// members.
type SharedBudget struct {
	// Name is kind/namespace/name, for users.
	Name string
	// Allowed is how many of its pods may be unavailable, Elsewhere how many are that no
	// member has.
	Allowed, Elsewhere int
	// Takes is how many of its pods each member may make unavailable, by the member's index.
	Takes map[int]int
}

// SharedBudgets are the budgets of several members, as [Rollout.Start] looks at them.
func SharedBudgets(of []Member, known []Snapshot) []SharedBudget {
	found := map[string]int{}
	var all []SharedBudget
	add := func(i int, kind, name string, n rules.BudgetCounts, pods int) {
		key := fmt.Sprintf("%s/%s/%s", kind, known[i].Workload.Namespace, name)
		at, ok := found[key]
		if !ok {
			at = len(all)
			found[key] = at
			all = append(all, SharedBudget{Name: key, Allowed: max(0, n.Expected-n.Desired), Takes: map[int]int{}})
		}
		all[at].Takes[i] = min(of[i].Plan.Limits.MaxUnavailable, pods)
	}
	for i, s := range known {
		for _, b := range s.Budgets {
			add(i, "podunavailablebudget", b.Name, b.Counts(), len(b.Pods))
		}
		for _, b := range s.Disruptions {
			add(i, "poddisruptionbudget", b.Name, b.Counts(), len(b.Pods))
		}
	}
	return slices.DeleteFunc(all, func(b SharedBudget) bool { return len(b.Takes) < 2 })
}

// RolloutOf is the rollout of one workload by a plan: it has no name, and the record of its workload
// is all that is kept of it.
func RolloutOf(p Plan) Rollout {
	ref := p.Target.Ref()
	return Rollout{Namespace: ref.Namespace, Members: []Member{{Ref: ref, Plan: p}}}
}

// MemberName is a member for users: with its namespace where members are in several.
func (r *Rollout) MemberName(ref cluster.Ref) string {
	for _, m := range r.Members {
		if m.Ref.Namespace != ref.Namespace {
			return strings.TrimPrefix(ref.Namespace+"/"+ref.String(), "/")
		}
	}
	return ref.String()
}

// Check refuses a rollout without members, and one that could not end: circles of dependencies, a member that waits for
// a later wave, or one that may take more pods down than all together.
func (r *Rollout) Check() error {
	if len(r.Members) == 0 {
		return &tree.Error{Msg: "it has no members"}
	}
	index := map[cluster.Ref]int{}
	for i, m := range r.Members {
		if of := m.Plan.Target.Ref(); of != m.Ref {
			return fmt.Errorf("the plan of %s is for %s", m.Ref, of)
		}
		if _, ok := index[m.Ref]; ok {
			return &tree.Error{Msg: fmt.Sprintf("%s is there twice", r.MemberName(m.Ref)), Hint: "roll each workload out once"}
		}
		index[m.Ref] = i
	}
	if r.Bounds.Parallel < 0 || r.Bounds.MaxUnavailable < 0 || r.Bounds.MaxFailures < 0 {
		return &tree.Error{Msg: "a limit of the group is below 0"}
	}
	for i := range r.Members {
		if err := r.checkMember(index, &r.Members[i]); err != nil {
			return err
		}
	}
	return r.checkCycles(index)
}

func (r *Rollout) checkMember(index map[cluster.Ref]int, m *Member) error {
	if most := r.Bounds.MaxUnavailable; most > 0 && m.takes() > most {
		return &tree.Error{
			Msg:  fmt.Sprintf("the rollout of %s may make %s unavailable at a time, and all rollouts together may make %d", r.MemberName(m.Ref), podCount(m.takes()), most),
			Hint: "lower maxUnavailable of the workload, or raise --max-unavailable-total",
		}
	}
	for _, ref := range m.DependsOn {
		i, ok := index[ref]
		switch {
		case !ok:
			return &tree.Error{Msg: fmt.Sprintf("%s depends on %s, which is not in the group", r.MemberName(m.Ref), r.MemberName(ref))}
		case r.Members[i].Wave > m.Wave:
			return &tree.Error{
				Msg:  fmt.Sprintf("%s in wave %d depends on %s, which starts later, in wave %d", r.MemberName(m.Ref), m.Wave, r.MemberName(ref), r.Members[i].Wave),
				Hint: "change one of the waves, or the annotation " + DependsOnAnnotation,
			}
		}
	}
	return nil
}

// checkCycles names the members of a circle of dependencies.
func (r *Rollout) checkCycles(index map[cluster.Ref]int) error {
	done := make([]bool, len(r.Members))
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
		for _, ref := range r.Members[i].DependsOn {
			if found := visit(index[ref]); found != nil {
				return found
			}
		}
		path, done[i] = path[:len(path)-1], true
		return nil
	}
	for i := range r.Members {
		if found := visit(i); found != nil {
			var names []string
			for _, j := range found {
				names = append(names, r.MemberName(r.Members[j].Ref))
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
// they are in the order of the rollout.
func (r *Rollout) Waves() [][]int {
	byWave := map[int][]int{}
	var numbers []int
	for i, m := range r.Members {
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

// InEffect is the rollout as it is carried out: where it is rolled back, the last wave first, each
// member before those that it depends on, and no failure stops it.
func (r *Rollout) InEffect() *Rollout {
	out := *r
	if !r.Back {
		return &out
	}
	out.Aborted, out.Members, out.Bounds.MaxFailures = "", slices.Clone(r.Members), len(r.Members)
	needed := map[cluster.Ref][]cluster.Ref{}
	for i, m := range r.Members {
		out.Members[i].Wave = -m.Wave
		for _, ref := range m.DependsOn {
			needed[ref] = append(needed[ref], m.Ref)
		}
	}
	for i := range out.Members {
		out.Members[i].DependsOn = needed[out.Members[i].Ref]
	}
	return &out
}

// Plans are those of the members, in their order.
func (r *Rollout) Plans() []Plan {
	out := make([]Plan, len(r.Members))
	for i := range r.Members {
		out[i] = r.Members[i].Plan
	}
	return out
}

// takes is how many pods its plan may make unavailable at a time.
func (m *Member) takes() int { return m.Plan.Limits.MaxUnavailable }

// rolloutDigestForm is the version of what a digest is made of.
const rolloutDigestForm = "rollout-group-1"

// Digest identifies what a user approves: every plan by its own digest, the waves, the
// dependencies and the limits; of one without a name that is its plan. clusterID identifies the
// cluster, see [Plan.Digest].
func (r *Rollout) Digest(clusterID string) string {
	if r.Name == "" && len(r.Members) == 1 {
		return r.Members[0].Plan.Digest(clusterID)
	}
	var members []any
	for i, m := range r.Members {
		var needs []any
		for _, ref := range m.DependsOn {
			needs = append(needs, refFields(ref))
		}
		members = append(members, []any{refFields(m.Ref), m.Wave, needs, r.Members[i].Plan.Digest(clusterID)})
	}
	l := r.Bounds
	text, err := json.Marshal([]any{rolloutDigestForm, clusterID, r.Namespace, r.Name, []int{l.Parallel, l.MaxUnavailable, l.MaxFailures}, members})
	if err != nil {
		return "" // strings and numbers always encode
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:16])
}

func refFields(ref cluster.Ref) []string {
	return []string{ref.Group, ref.Kind, ref.Namespace, ref.Name}
}

// PhaseOf is how far a member is, by the recorded rollout of its workload; ok is false if it has
// none. why is why a failed one failed.
func (r *Rollout) PhaseOf(i int, rec Record, ok bool) (p Phase, why string) {
	begun := ok && !rec.Begun.Equal(r.Members[i].Before)
	switch {
	case r.Back:
		return r.rollbackPhase(i, rec, begun)
	case !begun:
		return PhasePending, ""
	case r.isOwn(i, rec): // it may be a way back itself
		return phaseOf(rec)
	case rec.Plan.RollbackReason != "":
		return PhaseFailed, "rolled back: " + rec.Plan.RollbackReason
	}
	return PhaseFailed, "another rollout has taken its place"
}

func (r *Rollout) rollbackPhase(i int, rec Record, begun bool) (Phase, string) {
	switch {
	case !begun:
		return PhaseCompleted, "" // there is nothing to roll back
	case rec.Plan.RollbackReason != "":
		return phaseOf(rec)
	case r.isOwn(i, rec):
		return PhasePending, ""
	}
	return PhaseFailed, "another rollout has taken its place"
}

// IsUntouched reports whether there is nothing to roll back of a member, by the recorded rollout of its workload.
func (r *Rollout) IsUntouched(i int, rec Record, ok bool) bool {
	return r.Back && (!ok || rec.Begun.Equal(r.Members[i].Before))
}

// isOwn reports whether a rollout is the one that was begun for it.
func (r *Rollout) isOwn(i int, rec Record) bool {
	return rec.Plan.Digest("") == r.Members[i].Plan.Digest("")
}

// Has reports whether a rollout is one that was begun for it, or the way back from it.
func (r *Rollout) Has(rec Record) bool {
	for i, m := range r.Members {
		if m.Ref == rec.Ref {
			return !rec.Begun.Equal(r.Members[i].Before) && (rec.Plan.RollbackReason != "" || r.isOwn(i, rec))
		}
	}
	return false
}

func phaseOf(rec Record) (Phase, string) {
	switch rec.State() {
	case StateHalted:
		return PhaseFailed, rec.Progress.Failed
	case StateDone:
		return PhaseCompleted, ""
	case StateHeld:
		return PhaseWaiting, ""
	}
	if s, p := rec.Present(), rec.Progress; s != nil && s.Kind == StepPause && s.Pause != nil && s.Pause.For == 0 && !p.Promoted && p.Step >= p.FirstCountingPause {
		return PhaseWaiting, ""
	}
	return PhaseProgressing, ""
}
