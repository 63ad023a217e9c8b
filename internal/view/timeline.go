package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

func (st Style) opWord(op simulate.Op) (word string, shown bool) {
	word, shown = op.Word()
	return word, shown || st.Full
}

// together is how far apart the same things may happen to several pods to be shown
// in one line.
const together = time.Second

// Moment is one line of the timeline of a run: a step that begins, or pods to which the same
// happens.
type Moment struct {
	At time.Duration
	// Step is the number of the step that begins, 0 where pods change.
	Step int
	// Word is what happens, and to which pods; State how all pods are afterwards.
	Word, Detail string
	Pods         []string
	State        string

	last time.Duration
}

// Moments tells a run in lines of which there are not many more than most: with more, what
// happens within a longer time is shown in one line.
func Moments(t simulate.Timeline, most int) (list []Moment, within time.Duration) {
	within = together
	list = moments(t, false, within)
	for len(list) > most && within < t.Summary.Duration {
		within *= 2
		list = moments(t, false, within)
	}
	return list, within
}

// moments are steps and records in the order of time. Where more than the usual time is
// shown in one line, the same things are gathered past others that happen in between.
func moments(t simulate.Timeline, full bool, within time.Duration) []Moment {
	st := Style{Full: full}
	var out []Moment
	begin := func(s simulate.StepMark) {
		text := fmt.Sprintf("step %d %s", s.Index+1, s.Name)
		if s.Title != "" && s.Title != s.Name {
			text += ": " + s.Title
		}
		out = append(out, Moment{At: s.Begin, Step: s.Index + 1, Word: text})
	}
	type mention struct {
		line int
		pod  string
	}
	mentioned := map[mention]bool{}
	steps := t.Steps
	for _, r := range t.Records {
		for len(steps) > 0 && steps[0].Begin <= r.At {
			begin(steps[0])
			steps = steps[1:]
		}
		word, shown := st.opWord(r.Op)
		if !shown {
			continue
		}
		next := Moment{At: r.At, last: r.At, Word: word, Detail: detailOf(r), Pods: []string{r.Pod}}
		if i := joined(out, next, within); i >= 0 {
			out[i].last = r.At
			if m := (mention{i, r.Pod}); !mentioned[m] {
				mentioned[m] = true
				out[i].Pods = append(out[i].Pods, r.Pod)
			}
			continue
		}
		mentioned[mention{len(out), r.Pod}] = true
		out = append(out, next)
	}
	for _, s := range steps {
		begin(s)
	}
	states := states{samples: t.Samples}
	for i := range out {
		if out[i].Step == 0 {
			out[i].State = states.at(out[i].last)
		}
	}
	return out
}

// joined is the index of the line that shows the next thing too, -1 for none.
func joined(list []Moment, next Moment, within time.Duration) int {
	for i := len(list) - 1; i >= 0; i-- {
		m := &list[i]
		if m.Step > 0 || next.At-m.At >= within {
			break
		}
		if m.Word == next.Word && m.Detail == next.Detail {
			return i
		}
		if within == together {
			break
		}
	}
	return -1
}

// detailOf describes what beside the pod is worth telling.
func detailOf(r simulate.Record) string {
	switch r.Op {
	case simulate.OpWaiting:
		return strings.TrimSpace(r.Container + " " + r.To)
	case simulate.OpLifecycle:
		return r.To
	case simulate.OpStarted, simulate.OpStopped:
		return r.Container
	}
	return ""
}

// Timeline writes a run line by line: which step begins, what happens to which
// pods, and how the pods stand then.
func Timeline(w io.Writer, t simulate.Timeline, st Style) error {
	b := &builder{st: st}
	for _, m := range moments(t, st.Full, together) {
		if m.Step > 0 {
			b.line("%8s  %s", svg.Span(m.At), st.paint(bold, m.Word))
			continue
		}
		b.line("%s", st.paint(wordColors[m.Word], st.momentLine(m)))
	}
	return b.write(w)
}

var wordColors = map[string]string{"ready": green, "cannot run": red}

// momentLine has three columns: time and what, pods, state. The middle one
// takes what the terminal leaves.
func (st Style) momentLine(m Moment) string {
	head := fmt.Sprintf("%8s  %-10s  ", svg.Span(m.At), m.Word)
	middle := 44
	if st.Width > 0 {
		middle = min(max(st.Width-len(head)-2-len(m.State), 12), 60)
	}
	detail := ""
	if m.Detail != "" {
		detail = " (" + m.Detail + ")"
	}
	pods := podList(m.Pods, max(middle-len(detail), 12), st.Full) + detail
	return st.cut(head + pad(pods, middle) + "  " + m.State)
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(width-utf8.RuneCountInString(s), 0))
}

// podList names as many pods as there is room for, and counts the others; in full
// it names all.
func podList(names []string, room int, full bool) string {
	length, fits := -len(", "), 0
	for n, name := range names {
		length += len(", ") + len(name)
		if !full && length > room {
			break
		}
		if more := len(names) - n - 1; full || more == 0 || length+len(andMore(more)) <= room {
			fits = n + 1
		}
	}
	switch more := len(names) - fits; {
	case more == 0:
		return strings.Join(names, ", ")
	case fits == 0:
		return counted.Of(len(names), "pod")
	default:
		return strings.Join(names[:fits], ", ") + andMore(more)
	}
}

func andMore(n int) string { return fmt.Sprintf(" and %d more", n) }

// states finds the states of the pods, at times that only rise.
type states struct {
	samples []simulate.Sample
	next    int
}

func (s *states) at(t time.Duration) string {
	for s.next < len(s.samples) && s.samples[s.next].At <= t {
		s.next++
	}
	if s.next == 0 {
		return ""
	}
	last := s.samples[s.next-1]
	text := fmt.Sprintf("%d old, %d new", last.Old, last.New)
	if n := last.Unavailable(); n > 0 {
		text += fmt.Sprintf(", %d unavailable", n)
	}
	return text
}

// TimelineTable writes every record as a row, for grep and awk.
func TimelineTable(w io.Writer, t simulate.Timeline, st Style) error {
	rows := [][]string{{"TIME", "STEP", "WHAT", "POD", "NODE", "REVISION", "DETAIL"}}
	for _, r := range t.Records {
		word, shown := st.opWord(r.Op)
		if !shown {
			continue
		}
		rows = append(rows, []string{
			svg.Span(r.At), cmp.Or(stepAt(t.Steps, r.At), "-"), strings.ReplaceAll(word, " ", "-"), r.Pod,
			cmp.Or(r.Node, "-"), cmp.Or(r.Revision, "-"), cmp.Or(strings.ReplaceAll(detailOf(r), " ", ":"), "-"),
		})
	}
	return st.table(w, rows)
}

// stepAt names the step in which a moment lies.
func stepAt(steps []simulate.StepMark, at time.Duration) string {
	name := ""
	for _, s := range steps {
		if s.Begin <= at {
			name = s.Name
		}
	}
	return name
}

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
		Type string  `json:"type"`
		At   float64 `json:"at"`
		simulate.Record
	}
	stateLine struct {
		Type string  `json:"type"`
		At   float64 `json:"at"`
		simulate.Sample
	}
	summaryLine struct {
		Type string `json:"type"`
		RunSummary
	}
)

// RunSummary is what a simulated run comes to, in JSON.
type RunSummary struct {
	Outcome   simulate.Outcome `json:"outcome"`
	Reason    string           `json:"reason,omitempty"`
	Seconds   float64          `json:"seconds"`
	MostDown  int              `json:"mostDown"`
	MostPods  int              `json:"mostPods"`
	Restarts  int              `json:"restarts"`
	Recreated int              `json:"recreated"`
	Deleted   int              `json:"deleted"`
	Created   int              `json:"created"`
	Pulls     int              `json:"pulls"`
	Writes    int              `json:"writes"`
}

// NewRunSummary returns the summary for JSON.
func NewRunSummary(s simulate.Summary) RunSummary {
	return RunSummary{
		Outcome: s.Outcome, Reason: s.Reason, Seconds: s.Duration.Seconds(), MostDown: s.MostDown, MostPods: s.MostPods,
		Restarts: s.Restarts, Recreated: s.Recreated, Deleted: s.Deleted, Created: s.Created, Pulls: s.Pulls, Writes: s.Writes,
	}
}

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
		lines = append(lines, timed{r.At, podLine{"pod", r.At.Seconds(), r}})
	}
	for _, s := range t.Samples {
		lines = append(lines, timed{s.At, stateLine{"state", s.At.Seconds(), s}})
	}
	slices.SortStableFunc(lines, func(a, b timed) int { return int(min(max(a.at-b.at, -1), 1)) })
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, l := range lines {
		if err := e.Encode(l.line); err != nil {
			return err
		}
	}
	return e.Encode(summaryLine{"summary", NewRunSummary(t.Summary)})
}

var pictureWords = map[rules.UpdateMode]string{
	rules.ModeInPlace: "updated in place", rules.ModeMetadataOnly: "get new metadata", rules.ModeRecreate: "recreated",
	rules.ModeUnchanged: "unchanged", rules.ModeNotAllowed: "not allowed to change",
}

// imagesText names the image that changes, if it is the only one.
func imagesText(list []rules.FieldChange) string {
	text := ""
	for _, f := range list {
		if f.Effect != rules.EffectImage {
			continue
		}
		if text != "" {
			return ", several images"
		}
		text = fmt.Sprintf(", %s to %s", draw.Image(fmt.Sprint(f.Old)), draw.Image(fmt.Sprint(f.New)))
	}
	return text
}

var outcomeWords = map[simulate.Outcome]string{
	simulate.Completed: "completes in ", simulate.Waiting: "waits for approval after ",
	simulate.Failed: "fails after ", simulate.Blocked: "is blocked after ",
}

var outcomeColors = map[simulate.Outcome]string{simulate.Completed: green, simulate.Waiting: yellow, simulate.Failed: red, simulate.Blocked: red}

// Outcome writes how a run ends, in numbers.
func Outcome(w io.Writer, s simulate.Summary, st Style) error {
	b := &builder{st: st}
	b.line("%s", st.paint(outcomeColors[s.Outcome], OutcomeText(s)))
	if s.Reason != "" {
		b.line("  reason        %s", plan.InWords(s.Reason))
	}
	b.line("  unavailable   at most %s", counted.Of(s.MostDown, "pod"))
	b.line("  pods          at most %s", counted.Of(s.MostPods, "pod"))
	b.line("  restarts      %s in place, %s recreated%s", counted.Of(s.Restarts, "container"), counted.Of(s.Recreated, "pod"), s.AndDeleted())
	b.line("  image pulls   %d", s.Pulls)
	b.line("  API writes    %d", s.Writes)
	return b.write(w)
}

// OutcomeText says in a few words how a run ends and after how long.
func OutcomeText(s simulate.Summary) string {
	return outcomeWords[s.Outcome] + svg.Span(s.Duration)
}
