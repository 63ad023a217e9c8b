package logs

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/page"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

var (
	other    = screen.Binding{Keys: []string{"tab"}, Does: "container", Help: "the next container of the pod"}
	previous = screen.Binding{Keys: []string{"p"}, Does: "previous", Help: "the log before the last restart, or the current one again"}
	follow   = screen.Binding{Keys: []string{"f"}, Does: "follow", Help: "follow the log to its end, or stay here"}
	reopen   = screen.Binding{Keys: []string{"r"}, Does: "reopen", Help: "open the log again"}
	shell    = screen.Binding{Keys: []string{"x"}, Does: "shell", Help: "a shell in the container", Changes: true, Minor: true}
)

// Keys are those of this screen.
func (Screen) Keys() []screen.Binding {
	return append([]screen.Binding{other, previous, follow, reopen, shell}, page.Keys()...)
}

// Orders are its commands.
func (s Screen) Orders() []screen.OrderHelp {
	return []screen.OrderHelp{{Name: "container", Help: "the log of another container", Args: s.containers}}
}

func (s Screen) key(env screen.Env, key string) (Screen, screen.After) {
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
		s.page = s.page.ToEnd(!s.page.AtEnd())
		return s, nil
	case shell.Is(key) && s.container != "":
		return s, screen.Send(screen.Shell{Namespace: s.pod.Namespace, Pod: s.pod.Name, Container: s.container})
	}
	if p, ok := s.page.Key(key); ok {
		s.page = p
	}
	return s, nil
}

// command is container NAME.
func (s Screen) command(env screen.Env, o screen.Order) (Screen, screen.After) {
	if o.Name != "container" || len(o.Args) != 1 {
		return s, nil
	}
	if !slices.Contains(s.containers, o.Args[0]) {
		return s, screen.Send(screen.Say{Text: "the pod has no container " + o.Args[0], Bad: true})
	}
	return s.choose(env, o.Args[0])
}

// choose opens the log of another container.
func (s Screen) choose(env screen.Env, container string) (Screen, screen.After) {
	if container == s.container {
		return s, nil
	}
	s.container, s.previous = container, false
	return s.open(env)
}
