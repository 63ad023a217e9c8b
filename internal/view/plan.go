package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

var driverWords = map[plan.Driver]string{
	plan.DriverKruise: "Kruise's controllers", plan.DriverNative: "Kubernetes' own controllers", plan.DriverClient: "this client, pod by pod",
}

// Plan writes a plan for people: what changes, what it does to the pods and why,
// every step with its pods, warnings. predicted is how a simulation of
// it ended, nil without one.
func Plan(w io.Writer, p plan.Plan, predicted *simulate.Summary, st Style) error {
	page := NewPlanPage(p, nil)
	if predicted != nil {
		page.Outcome = planOutcome(*predicted)
	}
	return page.Text(w, st)
}

// Text writes the page for a terminal or a pipe.
func (page PlanPage) Text(w io.Writer, st Style) error {
	b := &builder{st: st}
	b.planHead(page)
	if len(page.Fields) > 0 {
		b.section("changes")
		b.fields(page.Fields, page.Mode)
	}
	b.specWrites(page.Spec)
	b.section("steps")
	names := 0
	for i := range page.Steps {
		names = min(max(names, utf8.RuneCountInString(page.Steps[i].Name)), 24)
	}
	for i := range page.Steps {
		b.step(&page.Steps[i], names)
	}
	b.section("warnings")
	for _, r := range slices.Concat(page.Watch, page.Warnings) {
		b.line("  - %s", r)
	}
	if o := page.Outcome; o != nil {
		b.section("estimate")
		b.line("  %s", st.paint(outcomeColors[o.Outcome], o.Text+when(o.Reason != "", ": "+o.Reason)))
		b.line("  %s", o.Numbers)
	}
	return b.write(w)
}

func (b *builder) specWrites(list []plan.SpecWrite) {
	if len(list) == 0 {
		return
	}
	b.section("changes outside of the pod template")
	for _, w := range list {
		b.line("  %s", w.Path)
		b.values(w.Old, w.New)
		if w.Old == nil && w.New == nil {
			b.line("%s", b.st.paint(red, "    - removed"))
		}
	}
}

func (b *builder) section(title string) {
	b.line("")
	b.line("%s", b.st.paint(bold, title))
}

func (b *builder) planHead(page PlanPage) {
	b.line("%s, updated by %s", b.st.paint(bold, page.Target), page.Driver)
	if page.Carrier != "" {
		b.line("  runs as        %s", page.Carrier)
	}
	if page.Restart {
		b.line("  restart        %s", b.st.paint(modeColors[page.Mode], strings.TrimPrefix(page.Verdict, "restart ")))
	} else {
		b.line("  update         %s", b.st.paint(modeColors[page.Mode], page.Verdict))
	}
	if page.Why != "" && !page.Restart {
		b.line("  reason         %s", page.Why)
	}
	b.line("  limits         %s", page.Limits)
	switch {
	case page.Revisions == "":
	case page.Restart:
		b.line("  revision       %s", page.Revisions)
	default:
		b.line("  revisions      %s", page.Revisions)
	}
}

func targetText(t plan.Target) string {
	text := strings.ToLower(t.Kind) + "/" + t.Name
	if t.Namespace != "" {
		text += " in " + t.Namespace
	}
	return text
}

// limitsText reports how many pods there are, and how many of them at a time.
func limitsText(l plan.Limits) string {
	text := fmt.Sprintf("%s, at most %d unavailable at a time", counted.Of(l.Replicas, "pod"), l.MaxUnavailable)
	if l.MaxSurge > 0 {
		text += fmt.Sprintf(", at most %s above replicas", counted.Of(l.MaxSurge, "pod"))
	}
	if l.MinReady > 0 {
		text += ", each ready for " + svg.Span(time.Duration(l.MinReady)) + " to count"
	}
	return text
}

// step writes one step: its title, its pods, and in full also what must hold, what
// is sent and how long it may take.
func (b *builder) step(s *PlanStep, names int) {
	b.line("  %2d  %s  %s", s.Number, pad(s.Name, names), s.Title)
	indent := strings.Repeat(" ", names+8)
	for _, group := range s.Groups {
		text := group.Word + ": "
		room := 70
		if b.st.Width > 0 {
			room = max(b.st.Width-len(indent)-len(text), 16)
		}
		b.line("%s%s%s", indent, text, podList(group.Names, room, b.st.Full))
	}
	if !b.st.Full {
		return
	}
	if s.Before != "" {
		b.line("%sbefore: %s", indent, s.Before)
	}
	for _, command := range s.Patches {
		b.line("%ssends: %s", indent, command)
	}
	if s.After != "" {
		b.line("%sdone when: %s", indent, s.After)
	}
	if s.Limit != "" {
		b.line("%stime limit: %s", indent, s.Limit)
	}
}

func podGroups(pods []plan.PodStep) []PodGroup {
	var out []PodGroup
	for _, same := range Grouped(pods, func(p plan.PodStep) rules.UpdateMode { return p.Mode }) {
		group := PodGroup{Mode: same[0].Mode, Word: modeWords[same[0].Mode]}
		for _, p := range same {
			group.Names = append(group.Names, p.Name+when(p.Tie > 0, "~"))
		}
		out = append(out, group)
	}
	return out
}

// watched are the risks that every plan like this one has, of which so many steps wait for approval.
func watched(p plan.Plan, waits int) []string {
	out := []string{downText(p.Limits)}
	recreated, kept := p.Counts()
	if p.Change.Mode == rules.ModeRecreate || recreated > 0 {
		text := "a recreated pod gets a new address and empty emptyDir volumes"
		if p.Target.Kind == kruise.KindDaemonSet {
			out = append(out, text+"; it stays on its node")
		} else {
			out = append(out, text+", and may land on another node")
		}
	}
	// Where every sidecar that changes is exchanged hot, a warning says so.
	hot := p.Target.Kind == kruise.KindSidecarSet && len(p.Change.Restarts) == 0
	if p.Change.Mode == rules.ModeInPlace && !hot && (kept > 0 || recreated == 0) {
		out = append(out, "a container that restarts drops its connections; the pod keeps its name, node, address and volumes")
	}
	tied := func(p plan.PodStep) bool { return p.Tie > 0 }
	if slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return slices.ContainsFunc(s.Pods, tied) }) {
		out = append(out, "~ marks pods that are interchangeable: Kruise may pick other ones")
	}
	if waits > 0 {
		out = append(out, counted.With(waits, "step waits", "steps wait")+" for approval")
	}
	if p.Target.UID == "" {
		out = append(out, "planned without a cluster: pods and their names are examples")
	}
	return out
}

// verdictText is what a plan does to pods: where some are recreated and others are not, how many.
func verdictText(p *plan.Plan) string {
	text := modeText(p.Change.Mode, p.Change.Restarts)
	recreated, kept := p.Counts()
	if p.Change.FromHash == p.Change.ToHash && len(p.Change.Restarts) == 0 {
		return unchangedText(p, text)
	}
	switch {
	case p.Change.Mode != rules.ModeInPlace && p.Change.Mode != rules.ModeMetadataOnly || recreated == 0:
		return text
	case kept == 0:
		return fmt.Sprintf("recreate: %d of %s, although the change is possible in place", recreated, counted.Of(recreated, "pod"))
	}
	return fmt.Sprintf("%s, in %d of %s; %d %s recreated", text, kept, counted.Of(recreated+kept, "pod"), recreated, counted.Word(recreated, "is", "are"))
}

// unchangedText is what a plan does to pods that changes no template; text is for one that touches none.
func unchangedText(p *plan.Plan, text string) string {
	count := map[rules.UpdateMode]int{}
	for i := range p.Steps {
		for _, pod := range p.Steps[i].Pods {
			count[pod.Mode]++
		}
	}
	var parts []string
	for _, c := range []struct {
		mode rules.UpdateMode
		word string
	}{{rules.ModeInPlace, "restarted in place"}, {rules.ModeMetadataOnly, "changed in place"}, {rules.ModeRecreate, "recreated"}, {rules.ModeDelete, "deleted"}} {
		if n := count[c.mode]; n > 0 {
			parts = append(parts, counted.PodsAre(n)+" "+c.word)
		}
	}
	if len(parts) == 0 {
		return text
	}
	return strings.Join(parts, ", ") + "; the template does not change"
}

func downText(l plan.Limits) string {
	if l.MaxUnavailable <= 0 {
		return "no pod becomes unavailable"
	}
	if l.Replicas <= 0 {
		return "there are no pods"
	}
	share := min(l.MaxUnavailable*100/l.Replicas, 100)
	return fmt.Sprintf("up to %d of %s (%d%%) are unavailable at a time", min(l.MaxUnavailable, l.Replicas), counted.Of(l.Replicas, "pod"), share)
}

// patchCommand is a patch of a plan as one would send it by hand, but for what is
// secret in it.
func patchCommand(of *plan.Plan, p plan.Patch) string {
	own := of.Target
	if p.Target != nil {
		own = *p.Target
	}
	body := draw.Value(of.Masked(p))
	words := []string{"kubectl", "patch", typedName(own)}
	if own.Namespace != "" {
		words = append(words, "-n", own.Namespace)
	}
	if p.Subresource != "" {
		words = append(words, "--subresource", p.Subresource)
	}
	quoted := "'" + strings.ReplaceAll(body, "'", `'\''`) + "'"
	command := strings.Join(append(words, "--type", cmp.Or(p.Type, "merge"), "-p", quoted), " ")
	if body != draw.Value(p.Body) {
		command += " # " + redact.Masked + ": the plan's file has what is secret"
	}
	return command
}

// typedName is TYPE.VERSION.GROUP/NAME, which kubectl never takes for another
// kind of the same name.
func typedName(t plan.Target) string {
	group, version, ok := strings.Cut(t.APIVersion, "/")
	kind := strings.ToLower(t.Kind)
	if ok {
		kind += "." + version + "." + group
	}
	return kind + "/" + t.Name
}
