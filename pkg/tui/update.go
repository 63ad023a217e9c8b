package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// Update is the model after a message.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m, cmd := m.take(msg)
	var ask, tick tea.Cmd
	if m.feed.began && m.top().Want() != m.feed.want {
		m.feed, ask = m.feed.wants(m.ctx, m.options.Source, m.top().Want())
	}
	if waits := !m.env.World.Loaded || len(m.works.running) > 0; waits && !m.ticking {
		m.ticking = true
		tick = tea.Tick(2*pace, func(time.Time) tea.Msg { return beat{} })
	}
	return m, tea.Batch(cmd, ask, tick)
}

func (m Model) take(msg tea.Msg) (Model, tea.Cmd) {
	switch msg := msg.(type) {
	case start:
		var cmd tea.Cmd
		m.feed, cmd = m.feed.wants(m.ctx, m.options.Source, m.top().Want())
		return m, cmd
	case worldMsg:
		return m.arrive(msg)
	case nextWorld:
		if msg.turn != m.feed.turn {
			return m, nil
		}
		return m, m.feed.await(m.ctx, m.options.Source, m.env.World.Version)
	case beat:
		m.ticking = false
		m.env.Beat++
		return m, nil
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m.sized().pass(screen.Changed{})
	case tea.ColorProfileMsg, tea.BackgroundColorMsg:
		return m.terminal(msg), nil
	case tea.KeyPressMsg:
		return m.pressed(msg)
	case tea.MouseMsg:
		return m.mouse(msg)
	case tea.PasteMsg:
		return m.paste(msg)
	}
	return m.request(msg)
}

// request does what screens and overlays ask for; anything else goes to all screens.
func (m Model) request(msg tea.Msg) (Model, tea.Cmd) {
	switch msg := msg.(type) {
	case screen.Open:
		return m.open(msg)
	case screen.Notice:
		m.notice = msg
		return m, nil
	case screen.Shell:
		return m.shell(msg)
	case effect:
		next, calm := m.takeEffect(msg)
		next, read := next.readEvidence(msg.turn)
		return next, tea.Batch(calm, read)
	case evidence:
		if m.evidence.turn == msg.turn { // of the question that is still the last
			m.evidence = msg
		}
		return m, nil
	case done:
		m.works = m.works.end(msg.number)
		m.notice = screen.Notice{Text: msg.text}
		if msg.err != nil {
			m.notice = screen.Notice{Text: msg.err.Error(), Bad: true}
		}
		return m, nil
	case pauseEnd:
		if over, ok := m.over.(prompt); ok {
			m.over = over.heard(msg)
		}
		return m, nil
	case namespaceMsg:
		return m.move(msg)
	}
	// What a screen has asked for is its own, also when another has been opened on top of it since.
	stack, after := slices.Clone(m.stack), make([]screen.After, len(m.stack))
	for i, s := range stack {
		stack[i], after[i] = s.Update(m.env, msg)
	}
	m.stack = stack
	return m.follow(after...)
}

// pass gives a message to the screen that is seen.
func (m Model) pass(msg tea.Msg) (Model, tea.Cmd) {
	top, after := m.top().Update(m.env, msg)
	return m.with(top).follow(after)
}

// follow does what a screen asks for after an update.
func (m Model) follow(after ...screen.After) (Model, tea.Cmd) {
	var cmds []tea.Cmd
	for _, a := range after {
		var cmd tea.Cmd
		switch a := a.(type) {
		case screen.Now:
			m, cmd = m.request(a.Msg)
		case screen.Later:
			cmd = tea.Cmd(a)
		}
		cmds = append(cmds, cmd)
	}
	return m, tea.Batch(cmds...)
}

// with puts another state of the top screen in its place.
func (m Model) with(top screen.Screen) Model {
	m.stack = append(m.stack[:len(m.stack)-1:len(m.stack)-1], top)
	return m
}

func (m Model) open(o screen.Open) (Model, tea.Cmd) {
	r, ok := route(o.Screen)
	if !ok {
		m.notice = screen.Notice{Text: "there is no screen " + o.Screen, Bad: true}
		return m, nil
	}
	if r.alone {
		m = m.leave(1)
	}
	if o.Screen != screen.Workloads {
		m.stack = append(slices.Clip(m.stack), r.make(o))
	}
	return m.pass(screen.Changed{})
}

// back takes the filter away or, without one, the screen.
func (m Model) back() (Model, tea.Cmd) {
	if f, ok := m.top().(screen.Filterable); ok && f.Filtered() != "" {
		return m.pass(screen.Filter{})
	}
	if len(m.stack) == 1 {
		m.notice = screen.Notice{Text: "this is the first screen; q leaves"}
		return m, nil
	}
	return m.leave(len(m.stack) - 1).pass(screen.Changed{})
}

// leave keeps so many screens, and ends what the others have going on.
func (m Model) leave(n int) Model {
	for _, s := range m.stack[n:] {
		if c, ok := s.(screen.Closing); ok {
			c.Close()
		}
	}
	m.stack, m.click = m.stack[:n:n], nil
	return m
}

// terminal takes over what the terminal reports about itself.
func (m Model) terminal(msg tea.Msg) Model {
	o := m.env.Theme.Options()
	switch msg := msg.(type) {
	case tea.ColorProfileMsg:
		switch p := msg.Profile; {
		case p <= colorprofile.ASCII:
			o.Colors = draw.None
		case p == colorprofile.ANSI:
			o.Colors = draw.Sixteen
		default:
			o.Colors = draw.Many
		}
	case tea.BackgroundColorMsg:
		o.Light = !m.options.Ground && !msg.IsDark() || m.options.Ground && o.Light
	}
	if !m.options.Fixed && o != m.env.Theme.Options() {
		m.env.Theme = draw.NewTheme(o)
	}
	return m
}

// shownNotice is the last notice, and since when it is shown by the time in the cluster.
type shownNotice struct {
	notice screen.Notice
	since  time.Time
}

// briefly and longer are for how long a notice is shown: a user may have left the
// terminal open overnight, and the keys must be there in the morning.
const (
	briefly = 20 * time.Second
	longer  = 5 * time.Minute
)

// fade takes a notice away that everybody has seen.
func (m Model) fade() Model {
	now := m.env.World.Now
	if m.notice != m.lastNotice.notice {
		m.lastNotice = shownNotice{m.notice, now}
	}
	limit := briefly
	if m.notice.Bad {
		limit = longer
	}
	if now.Sub(m.lastNotice.since) > limit {
		m.notice = screen.Notice{}
	}
	return m
}
