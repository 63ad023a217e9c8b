package view

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

func (st Style) opWord(op simulate.Op) (word string, told bool) {
	word, told = op.Word()
	return word, told || st.Full
}

// together is how far apart the same things may happen to several pods to be told
// in one line.
const together = time.Second

// happening is one line of a timeline: a step that begins, or pods to which the
// same happens.
type happening struct {
	at, last time.Duration
	step     *simulate.StepMark
	word     string
	detail   string
	pods     []string
}

// gathered are steps and records in the order of time. Where more than the usual time is
// told in one line, the same things are gathered past others that happen in between.
func gathered(t simulate.Timeline, full bool, within time.Duration) []happening {
	st := Style{Full: full}
	var out []happening
	type mention struct {
		line int
		pod  string
	}
	mentioned := map[mention]bool{}
	steps := t.Steps
	for _, r := range t.Records {
		for len(steps) > 0 && steps[0].Begin <= r.At {
			out = append(out, happening{at: steps[0].Begin, last: steps[0].Begin, step: &steps[0]})
			steps = steps[1:]
		}
		word, told := st.opWord(r.Op)
		if !told {
			continue
		}
		h := happening{at: r.At, last: r.At, word: word, detail: detailOf(r), pods: []string{r.Pod}}
		if i := joined(out, h, within); i >= 0 {
			out[i].last = r.At
			if m := (mention{i, r.Pod}); !mentioned[m] {
				mentioned[m] = true
				out[i].pods = append(out[i].pods, r.Pod)
			}
			continue
		}
		mentioned[mention{len(out), r.Pod}] = true
		out = append(out, h)
	}
	for i := range steps {
		out = append(out, happening{at: steps[i].Begin, last: steps[i].Begin, step: &steps[i]})
	}
	return out
}

// joined is the index of the line that tells of the next thing too, -1 for none.
func joined(list []happening, next happening, within time.Duration) int {
	for i := len(list) - 1; i >= 0; i-- {
		h := &list[i]
		if h.step != nil || next.at-h.at >= within {
			break
		}
		if h.word == next.word && h.detail == next.detail {
			return i
		}
		if within == together {
			break
		}
	}
	return -1
}

// detailOf says what beside the pod is worth telling.
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
	states := states{samples: t.Samples}
	for _, h := range gathered(t, st.Full, together) {
		if h.step != nil {
			b.line("%8s  %s", svg.Span(h.at), st.paint(bold, st.cut(stepText(*h.step))))
			continue
		}
		b.line("%s", st.paint(opColor(h.word), st.happeningLine(h, states.at(h.last))))
	}
	return b.write(w)
}

func stepText(s simulate.StepMark) string {
	text := fmt.Sprintf("step %d %s", s.Index+1, s.Name)
	if s.Title != "" && s.Title != s.Name {
		text += ": " + s.Title
	}
	return text
}

func opColor(word string) string {
	switch word {
	case "ready":
		return green
	case "cannot run":
		return red
	}
	return ""
}

// happeningLine has three columns: time and what, pods, state. The middle one
// takes what the terminal leaves.
func (st Style) happeningLine(h happening, state string) string {
	head := fmt.Sprintf("%8s  %-10s  ", svg.Span(h.at), h.word)
	middle := 44
	if st.Width > 0 {
		middle = min(max(st.Width-len(head)-2-len(state), 12), 60)
	}
	detail := ""
	if h.detail != "" {
		detail = " (" + h.detail + ")"
	}
	pods := podList(h.pods, max(middle-len(detail), 12), st.Full) + detail
	return st.cut(head + pad(pods, middle) + "  " + state)
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
		return plural(len(names), "pod")
	default:
		return strings.Join(names[:fits], ", ") + andMore(more)
	}
}

func andMore(n int) string { return fmt.Sprintf(" and %d more", n) }

// states finds how the pods stood, at times that only rise.
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
	return stateText(s.samples[s.next-1])
}

// stateText is how the pods stand, in numbers.
func stateText(s simulate.Sample) string {
	text := fmt.Sprintf("%d old, %d new", s.Old, s.New)
	if n := s.Unavailable(); n > 0 {
		text += fmt.Sprintf(", %d unavailable", n)
	}
	return text
}

// TimelineTable writes every record as a row, for grep and awk.
func TimelineTable(w io.Writer, t simulate.Timeline, st Style) error {
	rows := [][]string{{"TIME", "STEP", "WHAT", "POD", "NODE", "REVISION", "DETAIL"}}
	for _, r := range t.Records {
		word, told := st.opWord(r.Op)
		if !told {
			continue
		}
		rows = append(rows, []string{
			svg.Span(r.At), cmp.Or(stepAt(t.Steps, r.At), "-"), strings.ReplaceAll(word, " ", "-"), r.Pod,
			cmp.Or(r.Node, "-"), cmp.Or(r.Revision, "-"), cmp.Or(strings.ReplaceAll(detailOf(r), " ", ":"), "-"),
		})
	}
	return table(w, rows)
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
