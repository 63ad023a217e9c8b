package workloads

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

var (
	open   = screen.Binding{Keys: []string{"enter", "right"}, Does: "open", Help: "the rollout of the workload: steps, pods, what it waits for"}
	mark   = screen.Binding{Keys: []string{"space"}, Does: "mark", Help: "mark several, then act on all of them"}
	faults = screen.Binding{Keys: []string{"f"}, Does: "problems", Help: "only workloads that need attention: paused, degraded, stuck"}
	sortBy = screen.Binding{Keys: []string{"o"}, Does: "sort", Help: "sort by the next column"}
	yaml   = screen.Binding{Keys: []string{"y"}, Does: "yaml", Help: "the object as YAML", Minor: true}
	words  = screen.Binding{Keys: []string{"d"}, Does: "describe", Help: "describe the object", Minor: true}
	diff   = screen.Binding{Keys: []string{"D"}, Does: "diff", Help: "what its revisions differ in", Minor: true}
	turn   = screen.Binding{Keys: []string{"O"}, Does: "reverse", Help: "reverse the order"}
)

// Keys are those of this screen.
func (Screen) Keys() []screen.Binding {
	return []screen.Binding{open, faults, sortBy, turn, mark, words, yaml, diff}
}

// Orders are its commands.
func (Screen) Orders() []screen.OrderHelp {
	names := make([]string, len(orders))
	for i, o := range orders {
		names[i] = o.name
	}
	return []screen.OrderHelp{
		{Name: "sort", Help: "sort by a column", Args: names},
		{Name: "faults", Help: "only workloads that need attention, or all again"},
	}
}

func (s Screen) command(env screen.Env, c screen.Order) Screen {
	switch {
	case c.Name == "faults":
		s.faults = !s.faults
	case c.Name == "sort" && len(c.Args) == 1:
		for i, o := range orders {
			if o.name == c.Args[0] {
				s.order = order{by: i}
			}
		}
	}
	return s.refresh(env)
}
