package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

var driverWords = map[plan.Driver]string{
	plan.DriverKruise: "Kruise's controllers", plan.DriverNative: "Kubernetes' own controllers", plan.DriverClient: "this client, pod by pod",
}

// Plan writes a plan for people: what changes, what it does to the pods and why,
// every step with its pods, what to look out for. predicted is how a simulation of
// it ended, nil without one.
func Plan(w io.Writer, p plan.Plan, predicted *simulate.Summary, st Style) error {
	b := &builder{st: st}
	b.planHead(p)
	if len(p.Change.Fields) > 0 {
		b.section("changes")
		b.fields(fields(p.Change.Fields), p.Change.Mode)
	}
	if others := p.SpecWrites(); len(others) > 0 {
		b.section("changes outside of the pod template")
		for _, w := range others {
			b.line("  %s", w.Path)
			if w.Old != nil {
				b.line("%s", st.paint(red, st.cut("    - "+st.value(w.Old))))
			}
			switch {
			case w.New != nil:
				b.line("%s", st.paint(green, st.cut("    + "+st.value(w.New))))
			case w.Old == nil:
				b.line("%s", st.paint(red, "    - removed"))
			}
		}
	}
	b.section("steps")
	names := nameWidth(p.Steps)
	for i := range p.Steps {
		b.step(p, i, names)
	}
	b.section("look out for")
	for _, r := range Risks(p) {
		b.line("  - %s", r)
	}
	if predicted != nil {
		b.section("predicted")
		b.line("  %s", st.paint(outcomeColors[predicted.Outcome], OutcomeText(*predicted)+when(predicted.Reason != "", ": "+predicted.Reason)))
		b.line("  %s", PredictedText(*predicted))
	}
	return b.write(w)
}

func (b *builder) section(title string) {
	b.line("")
	b.line("%s", b.st.paint(bold, title))
}

func (b *builder) planHead(p plan.Plan) {
	b.line("%s, driven by %s", b.st.paint(bold, targetText(p.Target)), driverWords[p.Driver])
	if c := p.Target.Carrier; c != nil {
		b.line("  stands in      %s", targetText(*c))
	}
	b.line("  pods are       %s", b.st.paint(modeColors[p.Change.Mode], modeText(p.Change.Mode, p.Change.Restarts)))
	if p.Change.Why != "" {
		b.line("  because        %s", p.Change.Why)
	}
	b.line("  how fast       %s", limitsText(p.Limits))
	if revisions := revisionsText(p.Change); revisions != "" {
		b.line("  revisions      %s", revisions)
	}
}

func targetText(t plan.Target) string {
	text := strings.ToLower(t.Kind) + "/" + t.Name
	if t.Namespace != "" {
		text += " in " + t.Namespace
	}
	return text
}

// limitsText says how many pods there are, and how many of them at a time.
func limitsText(l plan.Limits) string {
	text := fmt.Sprintf("%s, at most %d down at a time", plural(l.Replicas, "pod"), l.MaxUnavailable)
	if l.MaxSurge > 0 {
		text += fmt.Sprintf(", at most %d more than wanted", l.MaxSurge)
	}
	if l.MinReady > 0 {
		text += ", each ready for " + svg.Span(l.MinReady) + " to count"
	}
	return text
}

func revisionsText(c plan.Change) string {
	if c.FromRevision == "" && c.ToRevision == "" {
		return ""
	}
	return cmp.Or(c.FromRevision, "(none)") + " to " + cmp.Or(c.ToRevision, "(one that is new)")
}

func nameWidth(steps []plan.Step) int {
	width := 0
	for _, s := range steps {
		width = max(width, len([]rune(s.Name)))
	}
	return min(width, 24)
}

// step writes one step: its title, its pods, and in full also what must hold, what
// is sent and how long it may take.
func (b *builder) step(p plan.Plan, i, names int) {
	s := p.Steps[i]
	b.line("%s", b.st.cut(fmt.Sprintf("  %2d  %s  %s", i+1, pad(s.Name, names), cmp.Or(s.Title, string(s.Kind)))))
	indent := strings.Repeat(" ", names+8)
	for _, group := range podGroups(s.Pods) {
		text := modeWords[group.mode] + ": "
		room := 70
		if b.st.Width > 0 {
			room = max(b.st.Width-len(indent)-len(text), 16)
		}
		b.line("%s%s%s", indent, text, podList(group.names, room, b.st.Full))
	}
	if !b.st.Full {
		return
	}
	if before := conditionsText(s.Before); before != "" {
		b.line("%sbefore: %s", indent, before)
	}
	for _, patch := range s.Patches {
		b.line("%ssends: %s", indent, patchCommand(&p, patch))
	}
	if after := conditionsText(s.After); after != "" {
		b.line("%sdone when: %s", indent, after)
	}
	if s.Timeout > 0 {
		b.line("%stime limit: %s, then %s", indent, svg.Span(s.Timeout), cmp.Or(s.OnFailure, plan.FailPause))
	}
}

// podGroup are the pods of a step that go through the same.
type podGroup struct {
	mode  rules.UpdateMode
	names []string
}

func podGroups(pods []plan.PodStep) []podGroup {
	var out []podGroup
	for _, p := range pods {
		i := slices.IndexFunc(out, func(g podGroup) bool { return g.mode == p.Mode })
		if i < 0 {
			out = append(out, podGroup{mode: p.Mode})
			i = len(out) - 1
		}
		name := p.Name
		if p.Tie > 0 {
			name += "~"
		}
		out[i].names = append(out[i].names, name)
	}
	return out
}

func conditionsText(list []plan.Condition) string {
	var out []string
	for _, c := range list {
		out = append(out, strings.TrimSpace(string(c.Type)+" "+c.Value))
	}
	return strings.Join(out, ", ")
}
