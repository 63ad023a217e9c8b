package html

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// report is the JSON that a page holds for programs and for its own script.
type report struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Report is plan, simulation, diff or rollout.
	Report  string       `json:"report"`
	Program string       `json:"program,omitempty"`
	Plans   []planData   `json:"plans,omitempty"`
	Diff    any          `json:"diff,omitempty"`
	Rollout *rolloutData `json:"rollout,omitempty"`
}

// planData is a plan without what is secret, and its run.
type planData struct {
	Plan       any        `json:"plan"`
	Digest     string     `json:"digest,omitempty"`
	Simulation *simulated `json:"simulation,omitempty"`
	// Pods are [name, node] in the order of the page, [name, node, subset] in a subset.
	Pods [][]string `json:"pods,omitempty"`
}

// simulated is a run in tables: with names in every row it would be several times as long.
type simulated struct {
	view.RunSummary
	Steps   []stepData `json:"steps"`
	States  table      `json:"states"`
	Records table      `json:"records"`
}

type stepData struct {
	Number int      `json:"number"`
	Name   string   `json:"name"`
	Begin  float64  `json:"begin"`
	End    *float64 `json:"end,omitempty"`
}

type table struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

type rolloutData struct {
	planData

	State    plan.State     `json:"state"`
	Text     string         `json:"text"`
	Failed   string         `json:"failed,omitempty"`
	Begun    time.Time      `json:"begun,omitzero"`
	Finished time.Time      `json:"finished,omitzero"`
	Steps    []recordedStep `json:"steps"`
	History  []entry        `json:"history"`
	Dropped  int            `json:"dropped,omitempty"`
}

type recordedStep struct {
	Name  string    `json:"name"`
	State string    `json:"state"`
	Begun time.Time `json:"begun,omitzero"`
	Took  string    `json:"took,omitempty"`
}

type entry struct {
	At      time.Time `json:"at"`
	What    string    `json:"what"`
	By      string    `json:"by"`
	Program string    `json:"program,omitempty"`
	Detail  string    `json:"detail,omitempty"`
}

// encode writes JSON that may be between the tags of a script: without markup, without what
// ends a line in JavaScript, and without what acts where text is shown.
func (r report) encode() (string, error) {
	r.APIVersion, r.Kind = plan.APIVersion, "Report"
	b, err := json.Marshal(r) // it escapes <, >, & and U+2028
	if err != nil {
		return "", fmt.Errorf("the report cannot be written as JSON: %w", err)
	}
	var out bytes.Buffer
	w := text.JSON(&out)
	if _, err := w.Write(b); err != nil {
		return "", err
	}
	text.Flush(w)
	return out.String(), nil
}

func newPlanData(p Plan) (planData, error) {
	out := planData{Digest: p.Digest}
	text, _ := planfile.Write(p.Page.Masked) // a page shows every plan, no run reads it
	if err := yaml.Unmarshal(text, &out.Plan); err != nil {
		return out, fmt.Errorf("the plan cannot be read back: %w", err)
	}
	if p.Page.Timeline == nil {
		return out, nil
	}
	index := map[string]int{}
	for i, pod := range p.Page.Pods {
		out.Pods = append(out.Pods, []string{pod.Name, pod.Node})
		if pod.Subset != "" {
			out.Pods[i] = append(out.Pods[i], pod.Subset)
		}
		index[pod.Name] = i
	}
	out.Simulation = newSimulated(p.Page.Timeline)
	for _, r := range p.Page.Timeline.Records {
		// The script tells by these how a pod is.
		if _, shown := r.Op.Word(); !shown && r.Op != simulate.OpGone {
			continue
		}
		at, ok := index[r.Pod]
		if !ok { // a pod that the run creates
			at = len(out.Pods)
			index[r.Pod] = at
			out.Pods = append(out.Pods, []string{r.Pod, r.Node})
		}
		if out.Pods[at][1] == "" {
			out.Pods[at][1] = r.Node
		}
		out.Simulation.Records.Rows = append(out.Simulation.Records.Rows, []any{seconds(r.At), r.Op, at})
	}
	return out, nil
}

func newSimulated(t *simulate.Timeline) *simulated {
	out := &simulated{
		RunSummary: view.NewRunSummary(t.Summary), Steps: []stepData{},
		States:  table{Columns: []string{"at", "old", "new", "oldDown", "newDown", "wanted"}, Rows: [][]any{}},
		Records: table{Columns: []string{"at", "op", "pod"}, Rows: [][]any{}},
	}
	out.Seconds = seconds(t.Summary.Duration)
	for _, m := range t.Steps {
		one := stepData{Number: m.Index + 1, Name: m.Name, Begin: seconds(m.Begin)}
		if m.End >= 0 {
			end := seconds(m.End)
			one.End = &end
		}
		out.Steps = append(out.Steps, one)
	}
	for _, x := range t.Samples {
		out.States.Rows = append(out.States.Rows, []any{seconds(x.At), x.Old, x.New, x.OldDown, x.NewDown, x.Wanted})
	}
	return out
}

func newRolloutData(r view.RecordPage, p planData) *rolloutData {
	out := &rolloutData{
		planData: p, State: r.State, Text: r.Text, Failed: r.Failed, Begun: r.Begun.UTC(), Finished: r.Finished.UTC(),
		Steps: []recordedStep{}, History: []entry{}, Dropped: r.Dropped,
	}
	for _, s := range r.Steps {
		out.Steps = append(out.Steps, recordedStep{s.Name, s.State, s.Begun.UTC(), s.Took})
	}
	for _, e := range r.History {
		out.History = append(out.History, entry{e.At, e.What, e.By, e.Program, strings.TrimSpace(e.Detail)})
	}
	return out
}

// seconds is a length of time, to the millisecond.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }
