package view

import (
	"io"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// diffReport is the document of -o json.
type diffReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Objects are how many there were, and are.
	Objects map[string]int `json:"objects"`
	Summary diffSummary    `json:"summary"`
	Changes []diffChange   `json:"changes"`
}

type diffSummary struct {
	Text   string                `json:"text"`
	Verbs  map[compare.Verb]int  `json:"verbs"`
	Levels map[compare.Level]int `json:"levels"`
	// Recreated and InPlace are pods whose number is known.
	Recreated int `json:"podsRecreated"`
	InPlace   int `json:"podsUpdatedInPlace"`
	// Unknown: there are more of them.
	Unknown bool `json:"morePods,omitempty"`
}

type diffChange struct {
	Level   compare.Level    `json:"level"`
	Verb    compare.Verb     `json:"verb"`
	Object  resource.ID      `json:"object"`
	Was     string           `json:"was,omitempty"`
	Old     string           `json:"old,omitempty"`
	New     string           `json:"new,omitempty"`
	Rollout *diffRollout     `json:"rollout,omitempty"`
	Effects []compare.Effect `json:"effects,omitempty"`
	Fields  []compare.Field  `json:"fields,omitempty"`
	Subsets []diffSubset     `json:"subsets,omitempty"`
	Copies  *compare.Copies  `json:"copies,omitempty"`
	Reach   []diffReached    `json:"reaches,omitempty"`
}

type diffRollout struct {
	Driver   plan.Driver      `json:"driver"`
	Mode     rules.UpdateMode `json:"mode"`
	Why      string           `json:"why,omitempty"`
	Because  []string         `json:"because,omitempty"`
	Restarts []string         `json:"restarts,omitempty"`
	// Numbers are missing where they are not known.
	From           *int   `json:"from,omitempty"`
	To             *int   `json:"to,omitempty"`
	Reach          *int   `json:"follow,omitempty"`
	Total          *int   `json:"of,omitempty"`
	Down           *int   `json:"downAtOnce,omitempty"`
	Surge          *int   `json:"surge,omitempty"`
	Recreated      int    `json:"recreatedBySurge,omitempty"`
	Deleted        int    `json:"podsDeleted,omitempty"`
	MaxUnavailable string `json:"maxUnavailable,omitempty"`
	MaxSurge       string `json:"maxSurge,omitempty"`
	Observed       bool   `json:"observed,omitempty"`
	Paused         bool   `json:"paused,omitempty"`
	ByHand         bool   `json:"byHand,omitempty"`
}

type diffSubset struct {
	Name     string       `json:"name"`
	Verb     compare.Verb `json:"verb"`
	Workload resource.ID  `json:"workload,omitzero"`
	From     *int         `json:"from,omitempty"`
	To       *int         `json:"to,omitempty"`
	Rollout  *diffRollout `json:"rollout,omitempty"`
}

type diffReached struct {
	Verb     compare.Verb `json:"verb"`
	Workload resource.ID  `json:"workload"`
	Pods     *int         `json:"pods,omitempty"`
}

// JSON writes everything, for programs.
func (c Changes) JSON(w io.Writer) error { return JSON(w, c.document()) }

// document is everything as data.
func (c Changes) document() diffReport {
	t := c.tally()
	out := diffReport{
		APIVersion: plan.APIVersion, Kind: "DiffReport", Objects: map[string]int{"old": c.Objects[0], "new": c.Objects[1]},
		Summary: diffSummary{
			Text: c.Summary(), Verbs: t.verbs, Levels: t.levels, Recreated: t.recreated, InPlace: t.inPlace, Unknown: t.moreRecreated || t.moreInPlace,
		},
		Changes: []diffChange{},
	}
	for i := range c.Changes {
		out.Changes = append(out.Changes, changeJSON(&c.Changes[i]))
	}
	return out
}

func changeJSON(ch *compare.Change) diffChange {
	out := diffChange{
		Level: ch.Level, Verb: ch.Verb, Object: ch.ID, Was: ch.Was, Old: origin(ch.Old), New: origin(ch.New), Rollout: rolloutJSON(ch.Rollout),
		Effects: ch.Effects, Fields: ch.Fields, Copies: ch.Copies,
	}
	for _, s := range ch.Subsets {
		out.Subsets = append(out.Subsets, diffSubset{s.Name, s.Verb, s.Workload, known(s.From), known(s.To), rolloutJSON(s.Rollout)})
	}
	for _, r := range ch.Reach {
		out.Reach = append(out.Reach, diffReached{r.Verb, r.Workload, known(r.Pods)})
	}
	return out
}

func rolloutJSON(r *compare.Rollout) *diffRollout {
	if r == nil {
		return nil
	}
	out := &diffRollout{
		Driver: r.Driver, Mode: r.Mode, Why: r.Why, Because: r.Because, Restarts: r.Restarts, From: known(r.From), To: known(r.To),
		Down: known(r.Down), Surge: known(r.Surge), MaxUnavailable: r.MaxUnavailable, MaxSurge: r.MaxSurge,
		Observed: r.Observed, Paused: r.Paused, ByHand: r.ByHand, Deleted: len(r.Deleted),
	}
	if r.Mode != rules.ModeRecreate {
		out.Recreated = r.Recreated
	}
	if r.Down >= 0 {
		out.Reach, out.Total = &r.Reach, &r.Total
	}
	return out
}

// known is a number, nil for one that is not known.
func known(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}

func origin(o resource.Origin) string {
	if o.File == "" {
		return ""
	}
	return strings.TrimSpace(o.String())
}
