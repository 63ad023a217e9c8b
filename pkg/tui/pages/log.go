package pages

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Log is the screen of the log of one container.
type Log struct {
	Page

	screen.Of
	// name is the pod as [world.PodName] has it, pod what it names.
	name string
	pod  cluster.Ref
	// containers are those that one can choose from, once the pod is known.
	containers []string
	container  string
	previous   bool

	tail *tail
	// ended is why no more lines come; empty while they may.
	ended string
	bad   bool
}

// NewLog is the log of the container that is opened; without one it is the first that has
// a trouble, else the first.
func NewLog(o screen.Open) Log {
	return Log{
		Of: screen.Of{Ref: o.Ref}, name: o.Pod, pod: world.PodRef(o.Ref, o.Pod), container: o.Container,
		previous: o.Text == previousVariant, Page: Following(),
	}
}

// previousVariant is the variant that shows the container before its last restart.
const previousVariant = "previous"

// Title is the pod.
func (s Log) Title() string { return "logs " + s.pod.Name }

// Selection is the container.
func (s Log) Selection(screen.Env) screen.Selection {
	sel := screen.Selection{Workloads: []cluster.Ref{s.Ref}, Pods: []string{s.pod.Name}}
	if s.container != "" {
		sel.Containers = []string{s.container}
	}
	return sel
}

// Close ends what is followed.
func (s Log) Close() { s.tail.end() }

// Update is the screen after a message.
func (s Log) Update(env screen.Env, msg tea.Msg) (screen.Screen, screen.After) {
	s, cmd := s.update(env, msg)
	s.Page = s.Size(env.Width, s.room(env))
	return s, cmd
}

// room is what is left for the log below the first line, and above the one that says
// why no more comes.
func (s Log) room(env screen.Env) int {
	if s.ended != "" {
		return env.Height - 2
	}
	return env.Height - 1
}

func (s Log) update(env screen.Env, msg tea.Msg) (Log, screen.After) {
	if p, ok := s.after(msg); ok {
		s.Page = p
		return s, nil
	}
	switch msg := msg.(type) {
	case screen.Changed:
		return s.refresh(env)
	case logMsg:
		if msg.tail != s.tail {
			return s, nil
		}
		if msg.err != nil {
			s.ended, s.bad = msg.err.Error(), true
			return s, nil
		}
		s.tail.log = msg.log
		return s, s.tail.next(s.tail)
	case chunk:
		return s.take(msg)
	case readMore:
		return s, s.tail.next(msg.tail)
	case screen.Order:
		return s.command(env, msg)
	case tea.KeyPressMsg:
		return s.key(env, msg.String())
	}
	return s, nil
}

// refresh takes the containers from the world, and opens the log once it knows which.
func (s Log) refresh(env screen.Env) (Log, screen.After) {
	if d := env.World.Of(s.Ref); d != nil {
		if p := d.Pod(s.name); p != nil {
			s.containers = nil
			for _, c := range slices.Concat(p.Containers, p.InitContainers) {
				s.containers = append(s.containers, c.Name)
			}
			s.containers = append(s.containers, p.Ephemeral...)
			if c, bad := diagnose.Troubled(p); bad && s.container == "" {
				s.container = c.Name
			}
			if len(p.Containers) > 0 && s.container == "" {
				s.container = p.Containers[0].Name
			}
		}
	}
	if s.tail == nil && s.container != "" && env.World.Loaded {
		return s.open(env)
	}
	return s, nil
}

var (
	other    = screen.Binding{Keys: []string{"tab"}, Does: "container", Help: "the next container of the pod"}
	previous = screen.Binding{Keys: []string{"p"}, Does: "previous", Help: "the log before the last restart, or the current one again"}
	follow   = screen.Binding{Keys: []string{"f"}, Does: "follow", Help: "follow the log to its end, or stay here"}
	reopen   = screen.Binding{Keys: []string{"r"}, Does: "reopen", Help: "open the log again"}
	shell    = screen.Binding{Keys: []string{"x"}, Does: "shell", Help: "a shell in the container", Changes: true, Minor: true}
)

// Keys are those of this screen.
func (Log) Keys() []screen.Binding {
	return append([]screen.Binding{other, previous, follow, reopen, shell}, pageKeys()...)
}

// Orders are its commands.
func (s Log) Orders() []screen.OrderHelp {
	return []screen.OrderHelp{{Name: "container", Help: "the log of another container", Args: s.containers}}
}

func (s Log) key(env screen.Env, key string) (Log, screen.After) {
	switch {
	case other.Is(key) && len(s.containers) > 0:
		at := slices.Index(s.containers, s.container)
		return s.choose(env, s.containers[(at+1)%len(s.containers)])
	case previous.Is(key) && s.container != "":
		s.previous = !s.previous
		return s.open(env)
	case reopen.Is(key) && s.container != "":
		return s.open(env)
	case follow.Is(key):
		s.Page = s.ToEnd(!s.AtEnd())
		return s, nil
	case shell.Is(key) && s.container != "":
		return s, screen.Send(screen.Shell{Namespace: s.pod.Namespace, Pod: s.pod.Name, Container: s.container})
	}
	return s, nil
}

// command is container NAME.
func (s Log) command(env screen.Env, o screen.Order) (Log, screen.After) {
	if o.Name != "container" || len(o.Args) != 1 {
		return s, nil
	}
	if !slices.Contains(s.containers, o.Args[0]) {
		return s, screen.Send(screen.Notice{Text: "the pod has no container " + o.Args[0], Bad: true})
	}
	return s.choose(env, o.Args[0])
}

// choose opens the log of another container.
func (s Log) choose(env screen.Env, container string) (Log, screen.After) {
	if container == s.container {
		return s, nil
	}
	s.container, s.previous = container, false
	return s.open(env)
}

// Draw is whose log it is and where one is in it, what is seen, and why no more comes.
func (s Log) Draw(env screen.Env) []draw.Line {
	lines := []draw.Line{draw.Both(s.head(), s.Place(), env.Width, env.Theme.Symbols.Ellipsis)}
	switch {
	case s.tail == nil && env.World.Of(s.Ref) != nil:
		return append(lines, draw.Line{}, draw.Text(draw.Faint, "  "+s.Title()+": the pod does not exist; esc goes back"))
	case s.tail == nil && env.World.Unseen != "":
		return append(lines, env.Waiting(s.Title())...)
	case s.Len() == 0 && s.ended == "":
		return append(lines, draw.Line{}, draw.Text(draw.Busy, "  no line yet ..."))
	}
	lines = append(lines, s.Page.Draw(env.Theme)...)
	switch {
	case s.bad:
		lines = append(lines, draw.Text(draw.Bad, " "+env.Theme.Symbols.Blocked+" "+s.ended).Add(draw.Faint, "  r tries again"))
	case s.ended != "":
		lines = append(lines, draw.Text(draw.Faint, " "+env.Theme.Symbols.Dot+" "+s.ended+"  r opens it again"))
	}
	return lines
}

func (s Log) head() draw.Line {
	l := draw.Text(draw.Header, " container ").Add(draw.Strong, s.container)
	if s.previous {
		l = l.Add(draw.Warn, "  before its last restart")
	}
	switch {
	case s.ended != "" || s.tail == nil:
	case s.AtEnd():
		l = l.Add(draw.Good, "  following")
	default:
		l = l.Add(draw.Faint, "  paused here; f follows")
	}
	return l
}
