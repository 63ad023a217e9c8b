package sidecars

import "github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"

var (
	open  = screen.Binding{Keys: []string{"enter"}, Does: "open", Help: "the rollout of the set in the row of all workloads, else that of the workload"}
	left  = screen.Binding{Keys: []string{"left", "h"}, Does: "set", Help: "the set before"}
	right = screen.Binding{Keys: []string{"right", "tab"}, Help: "the next set"}
)

// door is a key to a text of the set.
type door struct {
	screen.Binding
	text string
}

var doors = []door{
	{screen.Binding{Keys: []string{"y"}, Does: "yaml", Help: "the set as YAML", Minor: true}, "yaml"},
	{screen.Binding{Keys: []string{"d"}, Does: "describe", Help: "the set in words", Minor: true}, "describe"},
}

// Keys are those of this screen.
func (Screen) Keys() []screen.Binding {
	list := []screen.Binding{open, left, right}
	for _, d := range doors {
		list = append(list, d.Binding)
	}
	return list
}
