package compare

import (
	"cmp"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Report is what differs, the most dangerous first.
type Report struct {
	Changes []Change
	// Objects are how many there were, and are.
	Objects [2]int
}

// Differs reports whether anything changes. Objects that are only affected do not count: none is
// affected without a change.
func (r Report) Differs() bool { return len(r.Changes) > 0 }

// Verb is what happens to an object.
type Verb string

// The verbs.
const (
	Added   Verb = "added"
	Removed Verb = "removed"
	Changed Verb = "changed"
	// Affected is an object that is the same, but not what it does.
	Affected Verb = "affected"
)

// Level is how much attention an effect needs.
type Level string

// The levels, the worst first.
const (
	// Loss: data or service goes away.
	Loss Level = "loss"
	// Refused: an API server, or Kruise's webhooks, do not take it.
	Refused Level = "refused"
	// Recreate: pods are deleted and recreated.
	Recreate Level = "recreate"
	// Blocked: an intended change does not happen.
	Blocked Level = "blocked"
	// Warning: hardly what was meant.
	Warning Level = "warning"
	// Restart: containers restart inside their pods.
	Restart Level = "restart"
	// Note: nothing to worry about.
	Note Level = "note"
)

// Levels are all levels, the worst first.
func Levels() []Level { return []Level{Loss, Refused, Recreate, Blocked, Warning, Restart, Note} }

// Rank orders levels; the worst is 0.
func (l Level) Rank() int { return slices.Index(Levels(), l) }

// Change is what happens to one object.
type Change struct {
	Verb Verb
	ID   resource.ID
	// Was is the object's old name, where it has only got another suffix for its
	// content; empty otherwise.
	Was      string
	Old, New resource.Origin
	// Level is that of the worst effect.
	Level  Level
	Fields []Field
	// Effects are what follows, the worst first.
	Effects []Effect
	// Rollout is what pods of a workload go through, nil without one.
	Rollout *Rollout
	// Subsets are those of a UnitedDeployment or WorkloadSpread that change.
	Subsets []Subset
	// Copies are those of a ResourceDistribution, nil for other kinds.
	Copies *Copies
	// Reach are the workloads that a SidecarSet reaches.
	Reach []Reached

	order int
}

// Field is one field in which the sides differ. A side that is nil has nothing
// there; what is secret is [redact.Masked], also when both sides are.
type Field struct {
	Path string `json:"path"`
	Old  any    `json:"old,omitempty"`
	New  any    `json:"new,omitempty"`
	// Effect and Why are what the field asks for where it is one of a pod
	// template.
	Effect rules.Effect `json:"effect,omitempty"`
	Why    string       `json:"why,omitempty"`
}

// Effect is one thing that follows from a change.
type Effect struct {
	Level Level `json:"level"`
	// Rule is the ID of a rule of lint, empty if no rule is concerned.
	Rule string `json:"rule,omitempty"`
	// Field is empty for the object as a whole.
	Field string `json:"field,omitempty"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
}

// Rollout is what a change does to pods.
type Rollout struct {
	Driver plan.Driver
	Mode   rules.UpdateMode
	// Policy is how the workload may update its pods.
	Policy rules.UpdatePolicy
	// Why is the deciding reason, which names the field.
	Why string
	// Because are the fields that decide, as [Field.Path] has them.
	Because  []string
	Restarts []string
	// Replicas are how many pods are wanted, before and after; -1 is not known.
	From, To int
	// Reach is how many of Total pods follow at once, by partition, pause and
	// strategy; both are 0 when the number of pods is not known.
	Reach, Total int
	// Down and Surge are how many pods may be missing at a time, and be there
	// beside them; -1 when the number of pods is not known.
	Down, Surge int
	// Recreated are those of Reach that another pod takes the place of. Uncounted is why the pods
	// could not be counted, where the number of pods is known.
	Recreated int
	// Deleted are the names of pods that no other takes the place of; where no pod was observed, and
	// the kind does not number its pods, they are made up.
	Deleted   []string
	Uncounted string
	// MaxUnavailable and MaxSurge are what was written, empty for the default.
	MaxUnavailable, MaxSurge string
	// Observed: the numbers are of pods that were seen.
	Observed bool
	Paused   bool
	// Partitioned: the partition keeps pods from a new template.
	Partitioned bool
	// ByHand: a pod gets the new template only when it is deleted.
	ByHand bool
}

// Subset is one part of a workload that is spread.
type Subset struct {
	Verb Verb
	Name string
	// Workload is the object of a UnitedDeployment's subset.
	Workload resource.ID
	// From and To are numbers of pods; -1 is not known, or no limit.
	From, To int
	Rollout  *Rollout
}

// Copies are the namespaces in which a ResourceDistribution has its copies.
type Copies struct {
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	Changed []string `json:"changed,omitempty"`
	// Kept is how many stay as they are.
	Kept int `json:"kept"`
	// Unknown: which namespaces there are is not known.
	Unknown bool `json:"unknownNamespaces,omitempty"`
}

// Reached is a workload that a SidecarSet reaches: newly, not any more, or on
// both sides.
type Reached struct {
	Verb     Verb
	Workload resource.ID
	// Pods is -1 when their number is not known.
	Pods int
}

func (ch *Change) add(level Level, field, text string) {
	ch.Effects = append(ch.Effects, Effect{Level: level, Field: field, Text: text})
}

// sortEffects brings effects into order and works out the level.
func (ch *Change) sortEffects() {
	slices.SortStableFunc(ch.Effects, func(a, b Effect) int { return cmp.Compare(a.Level.Rank(), b.Level.Rank()) })
	ch.Level = Note
	worse := func(l Level) {
		if l.Rank() < ch.Level.Rank() {
			ch.Level = l
		}
	}
	for _, e := range ch.Effects {
		worse(e.Level)
	}
	worse(ch.Rollout.level())
	for _, s := range ch.Subsets {
		worse(s.Rollout.level())
	}
}
