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
	Level   compare.Level `json:"level"`
	Verb    compare.Verb  `json:"verb"`
	Object  object        `json:"object"`
	Was     string        `json:"was,omitempty"`
	Old     string        `json:"old,omitempty"`
	New     string        `json:"new,omitempty"`
	Rollout *diffRollout  `json:"rollout,omitempty"`
	Effects []diffEffect  `json:"effects,omitempty"`
	Fields  []diffField   `json:"fields,omitempty"`
	Subsets []diffSubset  `json:"subsets,omitempty"`
	Copies  *diffCopies   `json:"copies,omitempty"`
	Reach   []diffReached `json:"reaches,omitempty"`
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

type diffEffect struct {
	Level compare.Level `json:"level"`
	Rule  string        `json:"rule,omitempty"`
	Field string        `json:"field,omitempty"`
	Text  string        `json:"text"`
	Hint  string        `json:"hint,omitempty"`
}

type diffField struct {
	Path   string       `json:"path"`
	Old    any          `json:"old,omitempty"`
	New    any          `json:"new,omitempty"`
	Effect rules.Effect `json:"effect,omitempty"`
	Why    string       `json:"why,omitempty"`
}

type diffSubset struct {
	Name     string       `json:"name"`
	Verb     compare.Verb `json:"verb"`
	Workload *object      `json:"workload,omitempty"`
	From     *int         `json:"from,omitempty"`
	To       *int         `json:"to,omitempty"`
	Rollout  *diffRollout `json:"rollout,omitempty"`
}

type diffCopies struct {
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	Changed []string `json:"changed,omitempty"`
	Kept    int      `json:"kept"`
	Unknown bool     `json:"unknownNamespaces,omitempty"`
}

type diffReached struct {
	Verb     compare.Verb `json:"verb"`
	Workload object       `json:"workload"`
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
		Level: ch.Level, Verb: ch.Verb, Object: named(ch.ID), Was: ch.Was, Old: origin(ch.Old), New: origin(ch.New), Rollout: rolloutJSON(ch.Rollout),
	}
	for _, e := range ch.Effects {
		out.Effects = append(out.Effects, diffEffect(e))
	}
	for _, f := range ch.Fields {
		out.Fields = append(out.Fields, diffField(f))
	}
	for _, s := range ch.Subsets {
		sub := diffSubset{Name: s.Name, Verb: s.Verb, Rollout: rolloutJSON(s.Rollout), From: known(s.From), To: known(s.To)}
		if s.Workload.Name != "" {
			o := named(s.Workload)
			sub.Workload = &o
		}
		out.Subsets = append(out.Subsets, sub)
	}
	if c := ch.Copies; c != nil {
		copies := diffCopies(*c)
		out.Copies = &copies
	}
	for _, r := range ch.Reach {
		out.Reach = append(out.Reach, diffReached{Verb: r.Verb, Workload: named(r.Workload), Pods: known(r.Pods)})
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
