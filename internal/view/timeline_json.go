package view

import (
	"encoding/json"
	"io"
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// The lines of a timeline in JSON: each has a type and, except for the summary,
// the time in seconds since the beginning.
type (
	stepLine struct {
		Type  string  `json:"type"`
		At    float64 `json:"at"`
		Index int     `json:"index"`
		Name  string  `json:"name"`
		Title string  `json:"title,omitempty"`
		// Ended is missing for a step that did not end.
		Ended *float64 `json:"ended,omitempty"`
	}
	podLine struct {
		Type      string      `json:"type"`
		At        float64     `json:"at"`
		Op        simulate.Op `json:"op"`
		Pod       string      `json:"pod"`
		UID       string      `json:"uid,omitempty"`
		Node      string      `json:"node,omitempty"`
		Revision  string      `json:"revision,omitempty"`
		Container string      `json:"container,omitempty"`
		From      string      `json:"from,omitempty"`
		To        string      `json:"to,omitempty"`
		Reason    string      `json:"reason,omitempty"`
	}
	stateLine struct {
		Type    string  `json:"type"`
		At      float64 `json:"at"`
		Old     int     `json:"old"`
		New     int     `json:"new"`
		OldDown int     `json:"oldDown"`
		NewDown int     `json:"newDown"`
		Wanted  int     `json:"wanted"`
	}
	summaryLine struct {
		Type      string           `json:"type"`
		Outcome   simulate.Outcome `json:"outcome"`
		Reason    string           `json:"reason,omitempty"`
		Seconds   float64          `json:"seconds"`
		MostDown  int              `json:"mostDown"`
		MostPods  int              `json:"mostPods"`
		Restarts  int              `json:"restarts"`
		Recreated int              `json:"recreated"`
		Pulls     int              `json:"pulls"`
		Writes    int              `json:"writes"`
	}
)

// TimelineJSON writes a run as JSON lines in the order of time: steps, what
// happens to pods, how the pods stand, and a summary at the end.
func TimelineJSON(w io.Writer, t simulate.Timeline) error {
	type timed struct {
		at   time.Duration
		line any
	}
	var lines []timed
	for _, s := range t.Steps {
		l := stepLine{Type: "step", At: s.Begin.Seconds(), Index: s.Index, Name: s.Name, Title: s.Title}
		if s.End >= 0 {
			ended := s.End.Seconds()
			l.Ended = &ended
		}
		lines = append(lines, timed{s.Begin, l})
	}
	for _, r := range t.Records {
		lines = append(lines, timed{r.At, podLine{
			Type: "pod", At: r.At.Seconds(), Op: r.Op, Pod: r.Pod, UID: r.UID, Node: r.Node, Revision: r.Revision,
			Container: r.Container, From: r.From, To: r.To, Reason: r.Reason,
		}})
	}
	for _, s := range t.Samples {
		lines = append(lines, timed{s.At, stateLine{Type: "state", At: s.At.Seconds(), Old: s.Old, New: s.New, OldDown: s.OldDown, NewDown: s.NewDown, Wanted: s.Wanted}})
	}
	slices.SortStableFunc(lines, func(a, b timed) int { return int(min(max(a.at-b.at, -1), 1)) })
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, l := range lines {
		if err := e.Encode(l.line); err != nil {
			return err
		}
	}
	return e.Encode(summaryOf(t.Summary))
}

func summaryOf(s simulate.Summary) summaryLine {
	return summaryLine{
		Type: "summary", Outcome: s.Outcome, Reason: s.Reason, Seconds: s.Duration.Seconds(), MostDown: s.MostDown, MostPods: s.MostPods,
		Restarts: s.Restarts, Recreated: s.Recreated, Pulls: s.Pulls, Writes: s.Writes,
	}
}
