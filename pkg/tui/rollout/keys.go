package rollout

import "github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"

var (
	open    = screen.Binding{Keys: []string{"enter"}, Does: "pod", Help: "the pod of the cursor: containers, conditions, logs"}
	sortBy  = screen.Binding{Keys: []string{"o"}, Does: "sort", Help: "sort pods by the next column"}
	reverse = screen.Binding{Keys: []string{"O"}, Help: "reverse the order"}
	group   = screen.Binding{Keys: []string{"b"}, Does: "group", Help: "group the grid by revision, node, zone or subset", Minor: true}
	more    = screen.Binding{Keys: []string{"tab"}, Does: "more", Help: "one part on the whole screen: pods, steps, past rollouts, events"}
	mark    = screen.Binding{Keys: []string{"space"}, Does: "mark", Help: "mark pods: restart is about them alone"}
	logs    = screen.Binding{Keys: []string{"l"}, Does: "logs", Help: "the log of the pod of the cursor", Minor: true}
	shell   = screen.Binding{Keys: []string{"x"}, Does: "shell", Help: "a shell in the pod of the cursor", Changes: true, Minor: true}
	left    = screen.Binding{Keys: []string{"left", "h"}, Help: "the previous pod of the grid"}
	right   = screen.Binding{Keys: []string{"right"}, Help: "the next pod of the grid"}
)

// door is a key to another screen of the workload.
type door struct {
	screen.Binding
	screen, text string
}

var doors = []door{
	{screen.Binding{Keys: []string{"D"}, Does: "diff", Help: "what the revisions differ in"}, screen.Diff, ""},
	{screen.Binding{Keys: []string{"p"}, Does: "plan", Help: "the plan, and a simulation of it"}, screen.Plan, ""},
	{screen.Binding{Keys: []string{"y"}, Does: "yaml", Help: "the object as YAML"}, screen.Text, "yaml"},
	{screen.Binding{Keys: []string{"d"}, Does: "describe", Help: "the object in words"}, screen.Text, "describe"},
}

// Keys are those of this screen.
func (Screen) Keys() []screen.Binding {
	list := []screen.Binding{open, sortBy, more, mark}
	for _, d := range doors {
		d.Minor = true
		list = append(list, d.Binding)
	}
	return append(list, logs, shell, group, reverse, left, right)
}

// Orders are the commands of this screen.
func (Screen) Orders() []screen.OrderHelp {
	names := make([]string, len(orders))
	for i, o := range orders {
		names[i] = o.name
	}
	groups := make([]string, groupings)
	for i := range groups {
		groups[i] = grouping(i).String()
	}
	parts := make([]string, panels)
	for i := range parts {
		parts[i] = panel(i).String()
	}
	return []screen.OrderHelp{
		{Name: "sort", Help: "sort pods by a column", Args: names},
		{Name: "group", Help: "group the grid", Args: groups},
		{Name: "show", Help: "one part on the whole screen, or all", Args: parts},
	}
}

// ordered carries a command out.
func (s Screen) ordered(env screen.Env, c screen.Order) Screen {
	if len(c.Args) != 1 {
		return s
	}
	switch c.Name {
	case "sort":
		for i, o := range orders {
			if o.name == c.Args[0] {
				s.view.order = order{by: i}
			}
		}
	case "show":
		for p := range panels {
			if p.String() == c.Args[0] {
				s.panel = p
			}
		}
	case "group":
		for g := range groupings {
			if g.String() == c.Args[0] && (g != bySubset || s.detail != nil && len(s.detail.Subsets) > 0) {
				s.view.by = g
			}
		}
	}
	return s.refresh(env)
}
