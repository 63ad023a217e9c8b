package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// PlanPage is all that a reader is shown of a plan, in words and in the order in which it is
// read. The text, the Markdown, the picture and the HTML of a plan are made of it, and of
// nothing else. Nothing in it is secret.
type PlanPage struct {
	// Target is TYPE/NAME in NAMESPACE, Carrier the native object rendered from it where
	// there is no Kruise, Driver who replaces its pods.
	Target, Carrier, Driver string
	// Mode is what most pods go through, Verdict the same in words, and Why the reason.
	Mode         rules.UpdateMode
	Verdict, Why string
	// Restart is set for a plan that restarts containers and leaves the template as it is.
	Restart bool
	// Limits and Revisions are lines of text: both revisions, or the one of a plan that changes no template. Replicas and
	// MaxUnavailable are pods.
	Limits, Revisions        string
	Replicas, MaxUnavailable int
	Fields                   []rules.FieldChange
	// Spec are the fields outside of the pod template that are written.
	Spec  []plan.SpecWrite
	Steps []PlanStep
	// Waits is how many steps wait for approval.
	Waits int
	// Watch is what to know before saying yes, Warnings what the plan itself warns of.
	Watch, Warnings []string
	// Pods are all pods that the plan touches, and those beside them that it does not, by
	// node and name.
	Pods []PlanPod
	// Outcome is how a simulated run ends, nil without one; Timeline is the run, if it is
	// known pod by pod.
	Outcome  *PlanOutcome
	Timeline *simulate.Timeline
	// Masked is the plan without what is secret in its patches.
	Masked plan.Plan

	images string
}

// PlanStep is one step of a plan.
type PlanStep struct {
	// Number counts from 1.
	Number      int
	Name, Title string
	Groups      []PodGroup
	// Patches are commands of kubectl that do the same by hand.
	Patches []string
	// Before and After are the conditions of the step, Limit its time limit and what follows
	// when it is over; each may be empty.
	Before, After, Limit string
	// Pods is how many pods it touches.
	Pods int
}

// PodGroup are the pods of a step that go through the same.
type PodGroup struct {
	Mode  rules.UpdateMode
	Word  string
	Names []string
}

// PlanPod is what a plan does to one pod.
type PlanPod struct {
	Name, Node, Subset string
	// Step is the number of the step that touches it, 0 for none, and StepName its name.
	Step     int
	StepName string
	Mode     rules.UpdateMode
	Word     string
	// Tied pods are alike to Kruise: any of them may come in the place of another.
	Tied bool
}

// PlanOutcome is how a simulated run ends.
type PlanOutcome struct {
	simulate.Summary
	// Text is what happens and after how long, Numbers what it costs.
	Text, Numbers string
}

// NewPlanPage reads a plan. run is a simulation of it, nil without one.
func NewPlanPage(p plan.Plan, run *simulate.Timeline) PlanPage {
	page := PlanPage{
		Target: targetText(p.Target), Driver: driverWords[p.Driver],
		Mode: p.Change.Mode, Verdict: verdictText(&p), Why: p.Reason(),
		Limits: limitsText(p.Limits), Revisions: p.Change.FromRevision, Replicas: p.Limits.Replicas, MaxUnavailable: p.Limits.MaxUnavailable,
		Fields: p.Change.Fields, Spec: p.SpecWrites(), Warnings: p.Warnings, Masked: maskedPlan(p),
		images: imagesText(p.Change.Fields),
	}
	if p.Change.FromRevision != p.Change.ToRevision {
		page.Revisions = cmp.Or(p.Change.FromRevision, "(none)") + " to " + cmp.Or(p.Change.ToRevision, "(a new revision)")
	}
	if page.Restart = len(p.Change.Restarts) > 0 && p.Change.FromHash == p.Change.ToHash && len(p.Change.Fields) == 0; page.Restart {
		page.Verdict = "restart " + strings.Join(p.Change.Restarts, ", ") + " inside the pods; the template does not change"
	}
	if c := p.Target.Carrier; c != nil {
		page.Carrier = targetText(*c)
	}
	for i := range p.Steps {
		page.Steps = append(page.Steps, planStep(&p, i))
		if pause := p.Steps[i].Pause; pause != nil && pause.For == 0 {
			page.Waits++
		}
	}
	page.Watch = watched(p, page.Waits)
	page.Pods = touched(p.Steps)
	if run != nil {
		page.Timeline, page.Outcome = run, planOutcome(run.Summary)
	}
	return page
}

func planStep(p *plan.Plan, i int) PlanStep {
	s := &p.Steps[i]
	out := PlanStep{
		Number: i + 1, Name: s.Name, Title: cmp.Or(s.Title, string(s.Kind)), Groups: podGroups(s.Pods), Pods: len(s.Pods),
		Before: plan.ConditionsText(s.Before), After: plan.ConditionsText(s.After),
	}
	for _, patch := range s.Patches {
		out.Patches = append(out.Patches, patchCommand(p, patch))
	}
	if s.Timeout > 0 {
		out.Limit = fmt.Sprintf("%s, then %s", svg.Span(time.Duration(s.Timeout)), cmp.Or(s.OnFailure, plan.FailPause))
	}
	return out
}

// maskedPlan is the plan without secrets.
func maskedPlan(p plan.Plan) plan.Plan {
	of := p
	of.Steps = slices.Clone(p.Steps)
	for i := range of.Steps {
		of.Steps[i].Patches = slices.Clone(of.Steps[i].Patches)
		for j, patch := range of.Steps[i].Patches {
			of.Steps[i].Patches[j].Body = p.Masked(patch)
		}
		of.Steps[i].Verify = maskedVerify(of.Steps[i].Verify)
	}
	return of
}

func maskedVerify(v *plan.Verify) *plan.Verify {
	if v == nil {
		return nil
	}
	out := *v
	out.URL, out.Prometheus = redact.Inside(v.URL), redact.Inside(v.Prometheus)
	// The value of a flag is a word of its own, so the command is read as a whole.
	if command := strings.Join(v.Command, " "); redact.Inside(command) != command {
		out.Command = []string{redact.Inside(command)}
	}
	if v.Job != nil {
		out.Job = redact.Object(v.Job)
	}
	return &out
}

func touched(steps []plan.Step) []PlanPod {
	var out []PlanPod
	for i := range steps {
		for _, pod := range steps[i].Pods {
			out = append(out, PlanPod{
				Name: pod.Name, Node: pod.Node, Step: i + 1, StepName: steps[i].Name, Mode: pod.Mode, Word: modeWords[pod.Mode], Tied: pod.Tie > 0,
			})
		}
	}
	sortPods(out)
	return out
}

func sortPods(list []PlanPod) {
	slices.SortStableFunc(list, func(a, b PlanPod) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Name, b.Name)) })
}

// Place adds what a cluster knows of the pods: their subsets, and the pods that the plan
// does not touch.
func (page PlanPage) Place(pods []*cluster.Pod) PlanPage {
	list := slices.Clone(page.Pods)
	have := map[string]int{}
	for i, p := range list {
		have[p.Name] = i
	}
	for _, pod := range pods {
		i, ok := have[pod.Name]
		if !ok {
			list = append(list, PlanPod{Name: pod.Name, Mode: rules.ModeUnchanged, Word: modeWords[rules.ModeUnchanged]})
			i = len(list) - 1
		}
		list[i].Node, list[i].Subset = cmp.Or(list[i].Node, pod.Node), spread.SubsetOf(pod.Labels, pod.Annotations)
	}
	sortPods(list)
	page.Pods = list
	return page
}

func planOutcome(s simulate.Summary) *PlanOutcome {
	numbers := fmt.Sprintf("at most %s unavailable, at most %s at once; %s, %d recreated%s, %s, %s",
		counted.Of(s.MostDown, "pod"), counted.Of(s.MostPods, "pod"), counted.Of(s.Restarts, "container restart"), s.Recreated, s.AndDeleted(),
		counted.Of(s.Pulls, "image pull"), counted.Of(s.Writes, "API write"))
	return &PlanOutcome{Summary: s, Text: OutcomeText(s), Numbers: numbers}
}

// Picture is how the simulated run of a plan is drawn.
func (page PlanPage) Picture() svg.Picture {
	out := svg.Picture{Title: page.Target + page.images, Least: max(page.Replicas-page.MaxUnavailable, 0)}
	if page.Timeline != nil {
		out.Timeline = *page.Timeline
	}
	if s := page.Outcome; s != nil {
		out.Description = fmt.Sprintf("%s %s: %s, at most %s unavailable and %s at once.",
			counted.Of(page.Replicas, "pod"), pictureWords[page.Mode], s.Text, counted.Of(s.MostDown, "pod"), counted.Of(s.MostPods, "pod"))
	}
	return out
}

// Title is the plan in a line: its target, and the image that changes.
func (page PlanPage) Title() string { return page.Target + page.images }

// Kind is the kind of the target, as it is written in TYPE/NAME.
func (page PlanPage) Kind() string {
	kind, _, _ := strings.Cut(page.Target, "/")
	return kind
}
