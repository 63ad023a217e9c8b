package group

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// ErrNone is a group that is not recorded.
var ErrNone = errors.New("no such group of rollouts is recorded")

// Record is a group as it is kept in a cluster: all that another machine needs to continue
// it. The progress of each member is in the record of its own rollout.
type Record struct {
	Namespace, Name string
	// Group has no budgets.
	Group Group
	// Plans are those of the members, in their order.
	Plans []plan.Plan
	// Before is the start of the rollout that each member had recorded before the group; that of
	// the group starts later. It is zero if there was none.
	Before []time.Time
	Begun  time.Time
	// By is who wrote it last.
	By string
	// Paused and Aborted are who paused or ended the group, and when; empty for no one. Back
	// has its members rolled back after that.
	Paused, Aborted string
	Back            bool
	// Finished is when the group ended for good.
	Finished time.Time
	// Version changes with every write.
	Version string
}

// NewRecord is the record of a group that begins. waves and dependencies are those of the
// members, in the order of the plans.
func NewRecord(namespace, name string, members []Member, limits Limits, plans []plan.Plan, before []time.Time) (Record, error) {
	r := Record{Namespace: namespace, Name: name, Group: Group{Members: members, Limits: limits}, Plans: plans, Before: before}
	return r, r.Complete()
}

// Complete takes over from the plans what members do to pods, and checks the rest: records
// may be edited.
func (r *Record) Complete() error {
	if len(r.Plans) != len(r.Group.Members) || len(r.Before) != len(r.Plans) {
		return fmt.Errorf("the record is inconsistent: members: %d, plans: %d, times: %d", len(r.Group.Members), len(r.Plans), len(r.Before))
	}
	for i := range r.Plans {
		m := &r.Group.Members[i]
		if of := r.Plans[i].Target.Ref(); of != m.Ref {
			return fmt.Errorf("the plan of %s is for %s", m.Ref, of)
		}
		m.Takes, m.Replicas = r.Plans[i].Limits.MaxUnavailable, r.Plans[i].Limits.Replicas
	}
	return r.Group.Check()
}

// InEffect is the group as it is carried out: in reverse where it is rolled back, which no
// failure stops.
func (r Record) InEffect() (Group, Control) {
	if !r.Back {
		return r.Group, Control{Paused: r.Paused != "", Aborted: r.Aborted != ""}
	}
	g := r.Group.Reverse()
	g.Limits.MaxFailures = len(g.Members)
	return g, Control{Paused: r.Paused != "", Back: true}
}

// digestForm is the version of what a digest is made of.
const digestForm = "rollout-group-1"

// Digest identifies what a user approves: every plan by its own digest, the waves, the
// dependencies and the limits. clusterID identifies the cluster, see [plan.Plan.Digest].
func (r Record) Digest(clusterID string) string {
	var members []any
	for i, m := range r.Group.Members {
		var needs []any
		for _, ref := range m.DependsOn {
			needs = append(needs, refFields(ref))
		}
		members = append(members, []any{refFields(m.Ref), m.Wave, needs, r.Plans[i].Digest(clusterID)})
	}
	l := r.Group.Limits
	text, err := json.Marshal([]any{digestForm, clusterID, r.Namespace, r.Name, []int{l.Parallel, l.MaxUnavailable, l.MaxFailures}, members})
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
func (r Record) PhaseOf(i int, rec plan.Record, ok bool) (p Phase, why string) {
	begun := ok && !rec.Begun.Equal(r.Before[i])
	switch {
	case r.Back:
		return r.rollbackPhase(i, rec, begun)
	case !begun:
		return Pending, ""
	case rec.Plan.RollbackReason != "":
		return Failed, "rolled back: " + rec.Plan.RollbackReason
	case !r.isOwn(i, rec):
		return Failed, "another rollout has taken its place"
	}
	return phaseOf(rec)
}

func (r Record) rollbackPhase(i int, rec plan.Record, begun bool) (Phase, string) {
	switch {
	case !begun:
		return Completed, "" // there is nothing to roll back
	case rec.Plan.RollbackReason != "":
		return phaseOf(rec)
	case r.isOwn(i, rec):
		return Pending, ""
	}
	return Failed, "another rollout has taken its place"
}

// IsUntouched reports whether there is nothing to roll back of a member, by the recorded rollout of its workload.
func (r Record) IsUntouched(i int, rec plan.Record, ok bool) bool {
	return r.Back && (!ok || rec.Begun.Equal(r.Before[i]))
}

// isOwn reports whether a rollout is the one that the group has begun.
func (r Record) isOwn(i int, rec plan.Record) bool {
	return rec.Plan.Digest("") == r.Plans[i].Digest("")
}

// Has reports whether a rollout is one that the group has begun, or the way back from it.
func (r Record) Has(rec plan.Record) bool {
	for i, m := range r.Group.Members {
		if m.Ref == rec.Ref {
			return !rec.Begun.Equal(r.Before[i]) && (rec.Plan.RollbackReason != "" || r.isOwn(i, rec))
		}
	}
	return false
}

func phaseOf(rec plan.Record) (Phase, string) {
	switch rec.State() {
	case plan.StateHalted:
		return Failed, rec.Progress.Failed
	case plan.StateDone:
		return Completed, ""
	case plan.StateHeld:
		return Waiting, ""
	}
	if s, p := rec.Present(), rec.Progress; s != nil && s.Kind == plan.StepPause && s.Pause != nil && s.Pause.For == 0 && !p.Promoted && p.Step >= p.FirstCountingPause {
		return Waiting, ""
	}
	return Progressing, ""
}
