package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// everywhere are the keys that every screen has.
var everywhere = struct{ back, filter, command, copy, name, help, quit screen.Binding }{
	back:    screen.Binding{Keys: []string{"esc", "left", "backspace"}, Does: "back", Help: "clear the filter or the search, or go back one screen"},
	filter:  screen.Binding{Keys: []string{"/"}, Does: "filter", Help: "type a text: lists filter by it (letters of a name in order, words, label=value), pages search for it"},
	command: screen.Binding{Keys: []string{":"}, Does: "command", Help: "type a command; tab completes it"},
	copy:    screen.Binding{Keys: []string{"c"}, Does: "copy", Help: "copy the state of what is selected, or the text of a page, to the clipboard of the terminal (OSC 52); again: show it as text"},
	name:    screen.Binding{Keys: []string{"C"}, Does: "copy name", Help: "copy the name of what is selected"},
	help:    screen.Binding{Keys: []string{"?"}, Does: "help", Help: "this page"},
	quit:    screen.Binding{Keys: []string{"q", "ctrl+c"}, Does: "quit", Help: "leave; rollouts that run elsewhere continue"},
}

// moves are the keys of all lists, for the page of help.
var moves = []screen.Binding{
	{Keys: []string{"↑", "↓", "k", "j"}, Help: "one line up or down"},
	{Keys: []string{"pgup", "pgdown"}, Help: "a page up or down"},
	{Keys: []string{"ctrl+u", "ctrl+d"}, Help: "half a page up or down"},
	{Keys: []string{"g", "G"}, Help: "to the first or the last line"},
}

// verb is a key that changes the cluster.
type verb struct {
	screen.Binding
	verb world.Verb
	// needs is what has to be typed first, empty for nothing.
	needs string
}

var verbs = []verb{
	act(screen.Promote, "promote", world.Promote, "approve the pause of a rollout: continue with its next step", ""),
	act(screen.PauseResume, "pause", world.PauseResume, "pause what runs, resume what is paused, retry what has failed", ""),
	act(screen.Undo, "undo", world.Undo, "roll back to the previous revision", ""),
	act(screen.Abort, "abort", world.Abort, "end the rollout; pods stay as they are", ""),
	act("R", "restart", world.Restart, "restart containers in place: in the pod at the cursor, in marked pods, or in all", ""),
	act("s", "scale", world.Scale, "change how many pods there are", "how many pods"),
	act(screen.Partition, "partition", world.Partition, "change how many pods stay on the old revision", "pods that stay on the old revision, such as 3 or 40%"),
}

func act(key, does string, v world.Verb, help, needs string) verb {
	return verb{screen.Binding{Keys: []string{key}, Does: does, Help: help, Changes: true}, v, needs}
}

// edits are the keys with alt that move and delete in a text that is typed.
var edits = []string{"alt+left", "alt+right", "alt+b", "alt+f", "alt+d", "alt+backspace", "alt+delete"}

// pressed is a key press. For a terminal, alt and a key are esc and that key in quick succession; no key here has alt but
// in a text, so they are taken for what a hasty user has typed.
func (m Model) pressed(k tea.KeyPressMsg) (Model, tea.Cmd) {
	if k.Mod&tea.ModAlt == 0 {
		return m.key(k)
	}
	d, asks := m.over.(dialog)
	if _, typed := m.over.(pastable); typed && (!asks || d.name != "") && slices.Contains(edits, k.String()) {
		return m.key(k)
	}
	m, first := m.key(tea.KeyPressMsg{Code: tea.KeyEscape})
	k.Mod &^= tea.ModAlt
	if k.Text == "" && k.Mod&^tea.ModShift == 0 && unicode.IsPrint(k.Code) {
		k.Text = string(k.Code)
		if k.Mod != 0 {
			k.Text = strings.ToUpper(k.Text)
		}
	}
	m, second := m.key(k)
	return m, tea.Batch(first, second)
}

// key is what a key does: in what lies over the screen, everywhere, or in the screen.
func (m Model) key(k tea.KeyPressMsg) (Model, tea.Cmd) {
	m.click = nil
	if m.over != nil { // which hides the notice: it is seen afterwards
		return m.over.key(m, k)
	}
	m.notice = screen.Notice{}
	name, shown := k.String(), m.copies
	m.copies = ""
	switch {
	case everywhere.back.Is(name) && !claims(m.top(), name):
		return m.back()
	case everywhere.quit.Is(name):
		m.next = ""
		return m.quit()
	case everywhere.help.Is(name):
		m.over = newHelp()
		return m, nil
	case everywhere.command.Is(name):
		m.over = commandPrompt{input: newInput("")}
		return m, nil
	case everywhere.filter.Is(name):
		return m.filter(), nil
	case everywhere.copy.Is(name) && shown != "":
		m.over = plainText{shown}
		return m, nil
	case everywhere.copy.Is(name) && !claims(m.top(), name):
		return m.copied(copies(m))
	case everywhere.name.Is(name) && !claims(m.top(), name):
		text := namesCopied(m)
		return m.copied(text, text)
	case name == allSpaces && !claims(m.top(), name):
		if mover, ok := m.options.Source.(world.Mover); ok {
			return m.travel(mover, "")
		}
	}
	for _, v := range verbs {
		if v.Is(name) && !claims(m.top(), name) {
			return m.act(v)
		}
	}
	for _, r := range routes {
		if r.key == name {
			return m.open(screen.Open{Screen: r.name})
		}
	}
	return m.pass(k)
}

// claims reports whether a screen uses a key for something of its own.
func claims(s screen.Screen, key string) bool {
	for _, b := range s.Keys() {
		if b.Is(key) {
			return true
		}
	}
	return false
}

// filter has text typed on every screen; one with nothing to search takes it, too, so that
// none of it acts.
func (m Model) filter() Model {
	f, ok := m.top().(screen.Filterable)
	if !ok {
		m.over = filterPrompt{input: newInput(""), nothing: true}
		return m
	}
	m.over = filterPrompt{input: newInput(f.Filtered())}
	return m
}

// quit leaves, and asks first when that ends a rollout.
func (m Model) quit() (Model, tea.Cmd) {
	if len(m.env.World.Running) > 0 {
		m.asks++
		return leaveDialog{pause{turn: m.asks}}.rest(m)
	}
	return m, tea.Quit
}

// lines is how far a wheel turns.
const lines = 3

// mouse gives clicks and turns of the wheel to the screen; a second click at one place
// is a double one.
func (m Model) mouse(msg tea.MouseMsg) (Model, tea.Cmd) {
	if m.over != nil {
		return m, nil
	}
	at := msg.Mouse()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		m.click = nil
		by := lines
		if at.Button == tea.MouseWheelUp {
			by = -lines
		}
		return m.pass(screen.Wheel{By: by})
	case tea.MouseClickMsg:
		c, before, now := screen.Click{X: at.X, Y: at.Y - m.around()/2}, m.click, m.env.World.Now
		m.click = &click{c, now}
		if before != nil && before.Click == c && now.Sub(before.at) <= quick {
			c.Double, m.click = true, nil
		}
		return m.pass(c)
	}
	return m, nil
}

// click is one that a second may follow, and when it was by the time in the cluster.
type click struct {
	screen.Click
	at time.Time
}

// quick is how soon a second click has to follow. The time in the cluster goes on by up
// to a second at once.
const quick = 2 * time.Second

// mostCopied is how many bytes are copied at once: terminals take no more.
const mostCopied = 70_000

// copied puts a text into the clipboard of the terminal.
func (m Model) copied(text, what string) (Model, tea.Cmd) {
	switch {
	case text == "":
		m.notice = screen.Notice{Text: "nothing to copy here"}
		return m, nil
	case len(text) > mostCopied:
		m.notice = screen.Notice{Text: fmt.Sprintf("too long to copy: %d kB, a terminal takes %d", len(text)/1000, mostCopied/1000), Bad: true}
		return m, nil
	}
	again := "; c again shows it as text"
	m.copies = text
	m.notice = screen.Notice{Text: "copied " + draw.Cut(what, max(m.width-draw.Width(again)-9, 10), m.env.Theme.Symbols.Ellipsis) + again}
	return m, tea.SetClipboard(text)
}

// copies is the text of a page or, one line each, what people want to know of the pods or workloads that are selected.
func copies(m Model) (text, what string) {
	if c, ok := m.top().(screen.Copyable); ok {
		text = c.Copied()
		return text, counted.Of(strings.Count(text, "\n")+1, "line")
	}
	var list []string
	sel := m.top().Selection(m.env)
	for _, ref := range sel.Workloads {
		list = append(list, report(m, ref, sel.Pods))
	}
	text = strings.Join(list, "\n\n")
	what, _, _ = strings.Cut(text, "\n")
	return text, what
}

// report is a workload for a message: what and where it is, its state and step, the reason, what is wrong with pods of
// it, and the next command.
func report(m Model, ref cluster.Ref, pods []string) string {
	flags := flags(m.env.World.Where, ref.Namespace)
	head, next := ref.String()+flags, "kubectl kruise why "+ref.String()+flags
	var lines []string
	if row := m.env.World.Find(ref); row != nil {
		head += ": " + row.Health.String()
		if row.Steps > 0 {
			head += fmt.Sprintf(", step %d of %d (%s)", row.Step+1, row.Steps, row.StepName)
		}
		head += fmt.Sprintf(", %d of %s updated", row.Pods.Updated, counted.Of(max(row.Pods.Desired, row.Pods.Total), "pod"))
		if row.Health != world.Healthy && row.Why != "" {
			lines = append(lines, row.Why)
		}
	}
	if d := m.env.World.Of(ref); d != nil {
		for _, name := range pods {
			if p := d.Pod(name); p != nil && screen.Reason(p) != "" {
				lines = append(lines, "pod/"+p.Name+": "+screen.Reason(p))
			}
		}
		if list := d.Diagnosis.Causes; len(list) > 0 && list[0].Hint != "" {
			lines = append(lines, m.env.Hint(list[0].Hint))
		}
	}
	lines = append(append([]string{head}, lines...), next)
	for i, line := range lines {
		lines[i] = draw.Clean(line)
	}
	return strings.Join(lines, "\n")
}

// namesCopied are the names of the pods or workloads that are selected.
func namesCopied(m Model) string {
	sel := m.top().Selection(m.env)
	names := sel.Pods
	if len(names) == 0 {
		for _, r := range sel.Workloads {
			names = append(names, r.String())
		}
	}
	return draw.Clean(strings.Join(names, " "))
}

// plainText is a text that the terminal itself can select and copy: nothing stands beside it, and the mouse is the terminal's.
type plainText struct{ text string }

func (plainText) key(m Model, _ tea.KeyPressMsg) (Model, tea.Cmd) { return m.closed(), nil }

func (p plainText) body(m Model, _ []draw.Line) []draw.Line {
	var lines []draw.Line
	for part := range strings.SplitSeq(p.text, "\n") {
		lines = append(lines, draw.Text(draw.Plain, part).Break(max(m.env.Width, 1))...)
	}
	return lines
}

func (plainText) foot(Model) (draw.Line, bool) {
	return draw.Text(draw.Faint, " select and copy with the mouse; any key closes"), true
}
