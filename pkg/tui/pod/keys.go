package pod

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

var (
	logs     = screen.Binding{Keys: []string{"enter", "l"}, Does: "logs", Help: "the log of the container of the cursor"}
	previous = screen.Binding{Keys: []string{"p"}, Does: "previous", Help: "its log before the last restart"}
	mark     = screen.Binding{Keys: []string{"space"}, Does: "mark", Help: "mark containers: restart is about them; without marks about that of the cursor"}
	shell    = screen.Binding{Keys: []string{"x"}, Does: "shell", Help: "a shell in the container of the cursor", Changes: true}
	describe = screen.Binding{Keys: []string{"d"}, Does: "describe", Help: "the pod in words", Minor: true}
	manifest = screen.Binding{Keys: []string{"y"}, Does: "yaml", Help: "the pod as YAML", Minor: true}
)

// Keys are those of this screen.
func (Screen) Keys() []screen.Binding {
	return []screen.Binding{logs, previous, mark, shell, describe, manifest}
}

func (s Screen) key(env screen.Env, key string) (screen.Screen, screen.After) {
	page := max(env.Height-1, 1)
	by, moves := map[string]int{"pgup": -page, "ctrl+b": -page, "pgdown": page, "ctrl+f": page, "ctrl+u": -max(page/2, 1), "ctrl+d": max(page/2, 1), "home": -len(s.lines), "g": -len(s.lines), "end": len(s.lines), "G": len(s.lines)}[key]
	switch {
	case s.pod == nil:
		return s, nil
	case moves:
		return s.scroll(env, by), nil
	case key == "up" || key == "k":
		return s.move(env, -1), nil
	case key == "down" || key == "j":
		return s.move(env, 1), nil
	case mark.Is(key):
		return s.mark(env), nil
	}
	return s, s.elsewhere(key)
}

// elsewhere opens another screen of the pod.
func (s Screen) elsewhere(key string) screen.After {
	o := screen.Open{Ref: s.ref, Pod: s.name, Container: s.container()}
	switch {
	case logs.Is(key):
		o.Screen = screen.Logs
	case previous.Is(key):
		o.Screen, o.Text = screen.Logs, "previous"
	case describe.Is(key):
		o.Screen, o.Text = screen.Text, "describe"
	case manifest.Is(key):
		o.Screen, o.Text = screen.Text, "yaml"
	case shell.Is(key):
		return screen.Send(screen.Shell{Namespace: s.pod.Namespace, Pod: s.pod.Name, Container: o.Container})
	default:
		return nil
	}
	return screen.Send(o)
}

// click takes the cursor to a container; a second click opens its log.
func (s Screen) click(env screen.Env, c screen.Click) (screen.Screen, screen.After) {
	at := s.top + c.Y - s.first
	if s.pod == nil || at < 0 || at >= len(s.containers) {
		return s, nil
	}
	s.at = at
	s = s.compose(env)
	if c.Double {
		return s, s.elsewhere(logs.Keys[0])
	}
	return s, nil
}
