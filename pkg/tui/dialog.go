package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// dialog asks before the cluster is changed: it says where, what, and what comes of
// it. It is confirmed by y and left by esc; in production a name has to be typed.
type dialog struct {
	input
	act world.Act
	// scopes are what a restart may be about, from what the cursor points at to the whole
	// workload; scope is the one that is chosen.
	scopes []scope
	scope  int
	// name has to be typed; empty asks for y.
	name string
	// pause has the turn that tells its effect from that of any other dialog.
	pause
	// since is when the effect was asked for, by the time in the cluster.
	since  time.Time
	effect world.Effect
	err    error
	ready  bool
	// top is the first line that is seen.
	top int
}

func newDialog(m Model, a world.Act) dialog {
	d := dialog{input: newInput(""), act: a, pause: pause{turn: m.asks}, since: m.env.World.Now, scopes: scopesOf(a)}
	if m.env.World.Where.Production {
		d.name = m.env.World.Where.Context
		if len(a.On) == 1 {
			d.name = a.On[0].Name
		}
	}
	return d
}

// moment is for how long a question ignores keys after it has been painted, and after each
// key that it ignores.
const moment = 300 * time.Millisecond

// slow is after how long a question says for how long its effect is awaited.
const slow = 3 * time.Second

// pause is the moment before a question takes answers.
type pause struct {
	turn int
	// calm is true once the question has been seen for a moment without a key: what is
	// typed before answers nothing. waits counts the moments that were waited for.
	calm  bool
	waits int
	// ignored is the last key that did nothing.
	ignored ignoredKey
}

// pauseEnd is the end of a moment without keys.
type pauseEnd struct{ turn, wait int }

func (p pause) begin() pause {
	p.calm = false
	p.waits++
	return p
}

func (p pause) end() pauseEnd { return pauseEnd{p.turn, p.waits} }

// after takes answers, unless another key was pressed meanwhile.
func (p pause) after(e pauseEnd) pause {
	p.calm = p.calm || p.end() == e
	return p
}

// prompt is an overlay that takes answers once no key was pressed for a moment.
type prompt interface{ heard(e pauseEnd) overlay }

func (d dialog) heard(e pauseEnd) overlay {
	d.pause = d.after(e)
	return d
}

// rest shows the question, and begins a moment at the end of which it takes answers.
func (d dialog) rest(m Model) (Model, tea.Cmd) {
	d.pause = d.begin()
	m.over = d
	return m, m.options.After(moment, d.end())
}

func (d dialog) key(m Model, k tea.KeyPressMsg) (Model, tea.Cmd) {
	name := k.String()
	if top, ok := d.question(m).scrolled(m, name); ok {
		d.top = top
		m.over = d
		return m, nil
	}
	switch {
	case name == "esc" || name == "ctrl+c":
		return m.closed(), nil
	case name == "/" && d.name == "": // a search, and no answer
		return m.closed().filter(), nil
	case d.err != nil && (name == "enter" || name == "q"):
		return m.closed(), nil
	case !d.ready || d.err != nil || !d.calm:
		return d.ignore(m, name)
	case name == "tab" && len(d.scopes) > 1:
		return d.askScope(m)
	case d.name != "":
		return d.typeName(m, k)
	case isYes(name) && d.open(m):
		return m.closed().carry(d.confirmed())
	}
	return d.ignore(m, name)
}

// isYes reports whether a key is the one that confirms; esc is the one that does not.
func isYes(name string) bool { return name == "y" || name == "Y" }

// ignore shows which key was no answer, and begins a moment in which none counts.
func (d dialog) ignore(m Model, name string) (Model, tea.Cmd) {
	d.ignored = ignoredKey{name, d.calm || !isYes(name)}
	if !d.ready || d.err != nil {
		m.over = d
		return m, nil
	}
	return d.rest(m)
}

// ignoredKey is a key that did nothing in a question; other is true where it is no answer at all, false for an answer
// that came before the question could be read.
type ignoredKey struct {
	key   string
	other bool
}

// line says what the key did, "" for none.
func (u ignoredKey) line(answers string) draw.Line {
	switch {
	case u.key == "":
		return draw.Line{}
	case u.other:
		return draw.Text(draw.Warn, " "+u.key+" does nothing here: "+answers)
	}
	return draw.Text(draw.Warn, " "+u.key+" came too early: read the question, then press it again")
}

// typeName takes a key of the name that has to be typed.
func (d dialog) typeName(m Model, k tea.KeyPressMsg) (Model, tea.Cmd) {
	if k.String() == "enter" {
		if d.open(m) && d.Value() == d.name {
			return m.closed().carry(d.confirmed())
		}
		return m, nil
	}
	d.input = d.press(k)
	m.over = d
	return m, nil
}

// askScope asks about the next scope of a restart.
func (d dialog) askScope(m Model) (Model, tea.Cmd) {
	at := (d.scope + 1) % len(d.scopes)
	a := d.act
	a.Pods, a.Containers = d.scopes[at].pods, d.scopes[at].containers
	next, cmd := m.ask(a)
	if asks, ok := next.over.(dialog); ok {
		asks.scopes, asks.scope = d.scopes, at
		next.over = asks
	}
	return next, cmd
}

// open reports whether one may say yes: the effect is known and seen, and there is one.
func (d dialog) open(m Model) bool { return d.ready && d.err == nil && d.calm && askable(m.env) }

// confirmed is the act with what was confirmed.
func (d dialog) confirmed() world.Act {
	d.act.Precondition = d.effect.Precondition
	return d.act
}

func (d dialog) paste(text string) overlay {
	if d.calm {
		d.input = d.insert(text)
	}
	return d
}

func (d dialog) foot(Model) (draw.Line, bool) {
	l, answers := draw.Text(draw.Faint, " esc cancel"), "y confirms, esc cancels"
	switch {
	case d.err != nil:
		l, answers = draw.Text(draw.Faint, " esc back"), "esc goes back"
	case !d.ready, d.name != "":
		answers = "esc cancels"
	case len(d.scopes) > 1:
		l = draw.Text(draw.Faint, " tab change what is restarted  ").Join(l)
	}
	if d.ignored.key != "" {
		return d.ignored.line(answers), true
	}
	return l, true
}

func (d dialog) body(m Model, under []draw.Line) []draw.Line { return d.question(m).draw(m, under) }

// question is what a dialog shows: the question, what comes of it, and then where and what
// exactly.
func (d dialog) question(m Model) question {
	width := draw.BoxWidth(m.env.Width)
	lines := draw.Wrap(draw.Strong, d.sentence(), width)
	lines = append(append(lines, d.effects(m)...), m.evidence.lines(d.turn, width)...)
	lines = append(lines, draw.Line{})
	lines = append(append(lines, d.facts(m)...), draw.Line{})
	answer := d.answer()
	if d.name != "" && d.ready && d.err == nil && answer.Width() > width { // what is typed is seen in any case
		lines = append(lines, draw.Wrap(draw.Strong, "type "+d.name+" and enter:", width)...)
		typed := d.line()
		answer = typed.From(max(typed.Width()-width, 0))
	}
	return question{d.title(), lines, answer, d.top}
}

// title is the verb; of pausing and resuming, the one that it comes to.
func (d dialog) title() string {
	if d.act.Verb == world.PauseResume && len(d.act.On) == 1 {
		if t := d.effect.Changes[d.act.On[0]].Transition; t != "" {
			return string(t)
		}
	}
	return string(d.act.Verb)
}

// effects is what comes of the act, or why it cannot be done.
func (d dialog) effects(m Model) []draw.Line {
	width := draw.BoxWidth(m.env.Width)
	switch {
	case d.err != nil:
		return draw.Wrap(draw.Bad, d.err.Error(), width)
	case !d.ready:
		text := "working out what that would do ..."
		if m.env.World.Now.Sub(d.since) >= slow {
			text += " for " + screen.Age(m.env.World.Now, d.since)
		}
		return []draw.Line{draw.Text(draw.Faint, text)}
	}
	var lines []draw.Line
	for _, ref := range d.act.On {
		c, known := d.effect.Changes[ref]
		if !known {
			continue
		}
		text := d.answers(c, m.env.World.Find(ref))
		if len(d.act.On) > 1 && text != "" {
			text = ref.String() + ": " + text
		}
		lines = append(lines, draw.Wrap(draw.Plain, text, width)...)
	}
	for _, text := range d.effect.Lines {
		lines = append(lines, draw.Wrap(draw.Plain, text, width)...)
	}
	return lines
}

// facts are the place, and by name all that changes.
func (d dialog) facts(m Model) []draw.Line {
	var lines []draw.Line
	width := draw.BoxWidth(m.env.Width)
	add := func(label, text string) {
		if text == "" {
			return
		}
		head := draw.Text(draw.Faint, fmt.Sprintf("%-12s", label))
		lines = append(lines, draw.Hang(head, draw.Plain, text, width-head.Width())...)
	}
	where := m.env.World.Where
	lines = append(lines, draw.Text(draw.Faint, "context     ").Add(draw.Strong, where.Context))
	if where.Production {
		lines[0] = lines[0].Add(draw.Plain, " ").Add(draw.Danger, " production ")
	}
	add("namespace", spaces(d.act))
	if len(d.act.On) > 1 || d.act.Verb == world.Restart {
		add("workload", names(d.act.On))
	}
	if len(d.scopes) > 1 {
		lines = append(lines, d.choices(m)...)
	} else {
		add("pods", listed(d.act.Pods))
		add("containers", strings.Join(d.act.Containers, ", "))
	}
	if d.ready && d.err == nil && len(d.act.On) == 1 {
		c := d.effect.Changes[d.act.On[0]]
		revision, image := "revision", "image"
		if d.act.Verb == world.Abort || d.act.Verb == world.PauseResume { // what the rollout changes, and not the act
			revision, image = "rollout", "of image"
		}
		if detail := m.env.World.Of(d.act.On[0]); c.To == "" && c.ToHash != "" && detail != nil {
			c.To = plan.RevisionOfHash(detail.Snapshot.Revisions, c.ToHash)
		}
		add(revision, revisions(c))
		for _, i := range c.Images {
			add(image, i.From+" -> "+i.To)
		}
	}
	return lines
}

// choices are what a restart may be about, with the chosen one marked.
func (d dialog) choices(m Model) []draw.Line {
	y, head := m.env.Theme.Symbols, "restart     "
	var lines []draw.Line
	for i, s := range d.scopes {
		mark, style := y.Next+" ", draw.Faint
		if i == d.scope {
			mark, style = y.Now+" ", draw.Strong
		}
		lines = append(lines, draw.Text(draw.Faint, head).Add(draw.Key, mark).Add(style, s.title))
		head = draw.Spaces(len(head))
	}
	if len(d.act.Pods) > 1 {
		lines = append(lines, draw.Indented(len(head)+2, draw.Faint, listed(d.act.Pods), draw.BoxWidth(m.env.Width)-len(head)-2)...)
	}
	return lines
}

// mostPods is how many pods a question names.
const mostPods = 12

func listed(pods []string) string {
	if more := len(pods) - mostPods; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(pods[:mostPods], ", "), more)
	}
	return strings.Join(pods, ", ")
}

// revisions are the one that is left and the one that takes its place.
func revisions(c plan.Consequence) string {
	switch {
	case c.From == "" && c.To == "", c.From == c.To:
		return ""
	case c.To == "":
		return c.From + " -> a new one"
	case c.From == "":
		return c.To
	}
	return c.From + " -> " + c.To
}

// answer is how one answers; keys are seen once they count.
func (d dialog) answer() draw.Line {
	switch {
	case d.err != nil:
		return draw.Text(draw.Key, "esc").Add(draw.Plain, " back")
	case !d.ready, d.name != "" && !d.calm:
		return draw.Text(draw.Key, "esc").Add(draw.Plain, " cancel")
	case d.name != "":
		return draw.Text(draw.Plain, "type ").Add(draw.Strong, d.name).Add(draw.Plain, " and enter: ").Join(d.line())
	}
	return yesOrNo(d.calm)
}

// yesOrNo names the keys of an answer once they count.
func yesOrNo(calm bool) draw.Line {
	if !calm {
		return draw.Text(draw.Faint, "  yes       no")
	}
	return draw.Text(draw.Key, "y").Add(draw.Plain, " yes   ").Add(draw.Key, "esc").Add(draw.Plain, " no")
}

// evidence is what the question of a promotion shows of the pods: nil while it is being read.
// The question does not wait for it.
type evidence struct {
	turn int
	pods *diagnose.Comparison
	err  error
}

// readEvidence begins to read the evidence for the question of a turn, where it is about promoting
// one workload and the source can compare its pods.
func (m Model) readEvidence(turn int) (Model, tea.Cmd) {
	d, ok := m.over.(dialog)
	witness, can := m.options.Source.(world.EvidenceSource)
	if !ok || !can || d.turn != turn || d.act.Verb != world.Promote || len(d.act.On) != 1 || d.err != nil {
		return m, nil
	}
	m.evidence = evidence{turn: turn}
	ctx, ref := m.ctx, d.act.On[0]
	return m, func() tea.Msg {
		c, err := witness.Evidence(ctx, ref)
		return evidence{turn, &c, err}
	}
}

// lines are those of a question about how new pods do beside old ones.
func (p evidence) lines(turn, width int) []draw.Line {
	if turn == 0 || p.turn != turn {
		return nil
	}
	var lines []draw.Line
	switch {
	case p.pods == nil:
		lines = []draw.Line{draw.Text(draw.Faint, "reading how the new pods do ...")}
	case p.err != nil:
		lines = draw.Wrap(draw.Faint, "how the new pods do cannot be read: "+p.err.Error(), width)
	default:
		lines = screen.Evidence(*p.pods, width)
	}
	return append([]draw.Line{{}}, lines...)
}
