package html

import (
	"cmp"
	"html/template"
	"strconv"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// planView is a plan as the template reads it.
type planView struct {
	view.PlanPage
	// ID is before every identifier of the plan, and Sub is set where the page has several
	// plans, whose headings are one level deeper.
	ID        string
	Sub       bool
	Simulated bool
	Digest    string
	// Headline is what a reader must know who reads nothing else: that the simulated run
	// fails, or else what the pods go through. Least is how many pods must be available at any time.
	Headline string
	Least    int
	// Tone is good, warn or bad: how much attention the verdict asks for.
	Tone  string
	Tiles []tile
	// Chart is empty without a run.
	Chart   template.HTML
	Moments []view.Moment
	// Within is how much time one line of the timeline covers; 0 for the usual.
	Within time.Duration
	Marks  map[int]simulate.StepMark
	Nodes  []node
	// Subsets has all pods, where some pod is in a subset; Folded says that nodes and subsets
	// are closed at first.
	Subsets []subset
	Folded  bool

	data planData
}

// tile is a figure at the top of a report.
type tile struct{ Label, Value, Note string }

// node is a node with its pods.
type node struct {
	Name string
	// Label names the node, also where pods are not bound yet.
	Label string
	Pods  []view.PlanPod
	// Changed is how many of them the plan touches.
	Changed int
}

// The bounds of what is shown at once: lines of the timeline, and pods before nodes are folded.
const (
	mostMoments = 400
	mostOpen    = 60
)

func newPlanView(p Plan, id string, sub bool) (planView, error) {
	data, err := newPlanData(p)
	if err != nil {
		return planView{}, err
	}
	v := planView{
		PlanPage: p.Page, ID: id, Sub: sub, Digest: p.Digest, Headline: p.Page.Verdict, Least: p.Page.Picture().Least, Tone: toneOf(p.Page), Tiles: tilesOf(p.Page),
		Nodes: nodesOf(p.Page.Pods), Folded: len(p.Page.Pods) > mostOpen, data: data,
	}
	if fails(p.Page) {
		v.Headline = "The simulated rollout " + p.Page.Outcome.Text
	}
	v.Subsets = subsetsOf(p.Page.Pods)
	if t := p.Page.Timeline; t != nil {
		v.Chart = template.HTML(svg.Chart(p.Page.Picture(), id+"chart")) //nolint:gosec // the package escapes every text
		v.Moments, v.Within = view.Moments(*t, mostMoments)
		if v.Within <= time.Second {
			v.Within = 0
		}
		v.Marks = map[int]simulate.StepMark{}
		for _, s := range t.Steps {
			v.Marks[s.Index+1] = s
		}
	}
	return v, nil
}

func fails(p view.PlanPage) bool {
	return p.Outcome != nil && (p.Outcome.Outcome == simulate.Failed || p.Outcome.Outcome == simulate.Blocked)
}

func toneOf(p view.PlanPage) string {
	if fails(p) {
		return "bad"
	}
	switch p.Mode {
	case rules.ModeNotAllowed:
		return "bad"
	case rules.ModeRecreate:
		return "warn"
	}
	return "good"
}

func tilesOf(p view.PlanPage) []tile {
	out := []tile{{"Pods", strconv.Itoa(p.Replicas), "at most " + strconv.Itoa(p.MaxUnavailable) + " unavailable at a time"}}
	o := p.Outcome
	if o == nil {
		return append(out, tile{"Steps", strconv.Itoa(len(p.Steps)), ""})
	}
	words := map[simulate.Outcome]string{
		simulate.Completed: "simulated, until complete", simulate.Waiting: "simulated, until it waits for approval",
		simulate.Failed: "simulated, until it fails", simulate.Blocked: "simulated, until it is blocked",
	}
	return append(out,
		tile{"Duration", svg.Span(o.Duration), words[o.Outcome]},
		tile{"Steps", strconv.Itoa(len(p.Steps)), waitsOf(p)},
		tile{"Most unavailable", counted.Of(o.MostDown, "pod"), "at most " + counted.Of(o.MostPods, "pod") + " at once"},
		tile{"Restarts", counted.Of(o.Restarts, "container"), counted.Of(o.Recreated, "pod") + " recreated" + o.AndDeleted()},
	)
}

// waitsOf reports how many steps wait for approval.
func waitsOf(p view.PlanPage) string {
	if p.Waits == 0 {
		return "none waits for approval"
	}
	return counted.With(p.Waits, "waits", "wait") + " for approval"
}

func nodesOf(pods []view.PlanPod) []node {
	var out []node
	for _, list := range view.Grouped(pods, func(p view.PlanPod) string { return p.Node }) {
		n := node{Name: list[0].Node, Label: cmp.Or(list[0].Node, "no node yet"), Pods: list}
		for _, p := range list {
			n.Changed += min(p.Step, 1)
		}
		out = append(out, n)
	}
	return out
}
