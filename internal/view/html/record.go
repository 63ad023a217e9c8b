package html

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// recordView is a rollout as the template reads it.
type recordView struct {
	view.RecordPage
	Plan  planView
	Tone  string
	Word  string
	Tiles []tile
	// Decisions are entries of the history, each with the time since the one before it.
	Decisions []decision

	data *rolloutData
}

type decision struct {
	plan.AuditEntry
	// Event is what happened, in words.
	Event string
	// Missing is how many entries before this one are no longer kept.
	Missing int
	// Since is the time since the entry before, "" for the first one.
	Since string
}

var stateTones = map[plan.State]string{plan.StateDone: "good", plan.StateRunning: "calm", plan.StateHeld: "warn", plan.StateHalted: "bad"}

var stateWords = map[plan.State]string{plan.StateDone: "Complete", plan.StateRunning: "In progress", plan.StateHeld: "Paused", plan.StateHalted: "Stopped"}

func newRecordView(r view.RecordPage) (recordView, error) {
	p, err := newPlanView(Plan{Page: r.Plan, Digest: r.Digest}, "p1-", false)
	if err != nil {
		return recordView{}, err
	}
	v := recordView{RecordPage: r, Plan: p, Tone: stateTones[r.State], Word: stateWords[r.State], data: newRolloutData(r, p.data)}
	done := 0
	for _, s := range r.Steps {
		if s.State == view.StepDone {
			done++
		}
	}
	v.Tiles = []tile{
		{"Pods", strconv.Itoa(r.Plan.Replicas), "at most " + strconv.Itoa(r.Plan.MaxUnavailable) + " unavailable at a time"},
		{"Steps", strconv.Itoa(done) + " of " + strconv.Itoa(len(r.Steps)), "done"},
	}
	if r.Took != "" {
		v.Tiles = append(v.Tiles, tile{"Duration", r.Took, "from the first step to the end"})
	}
	v.Tiles = append(v.Tiles, tile{"Events", strconv.Itoa(len(r.History) + r.Dropped), people(r.History)})
	for i, e := range r.History {
		d := decision{AuditEntry: e, Event: e.Happened()}
		if i == 1 {
			d.Missing = r.Dropped
		}
		if i > 0 {
			d.Since = svg.Span(e.At.Sub(r.History[i-1].At))
		}
		v.Decisions = append(v.Decisions, d)
	}
	return v, nil
}

// people names everyone who decided something, in the order of their first decision.
func people(history []plan.AuditEntry) string {
	var list []string
	for _, e := range history {
		if e.By != "" && !slices.Contains(list, e.By) {
			list = append(list, e.By)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "by " + strings.Join(list, ", ")
}
