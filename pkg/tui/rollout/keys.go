package rollout

import "github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"

var (
	open  = screen.Binding{Keys: []string{"enter"}, Does: "pod", Help: "the pod of the cursor: containers, conditions, logs"}
	group = screen.Binding{Keys: []string{"o"}, Does: "group", Help: "group pods by revision, node, zone or subset"}
	turn  = screen.Binding{Keys: []string{"tab"}, Does: "more", Help: "where not all fits: pods, steps, events"}
	mark  = screen.Binding{Keys: []string{"space"}, Does: "mark", Help: "mark pods: restart is about them alone"}
	logs  = screen.Binding{Keys: []string{"l"}, Does: "logs", Help: "the log of the pod of the cursor", Minor: true}
	shell = screen.Binding{Keys: []string{"x"}, Does: "shell", Help: "a shell in the pod of the cursor", Changes: true, Minor: true}
	left  = screen.Binding{Keys: []string{"left", "h"}, Help: "the pod before"}
	right = screen.Binding{Keys: []string{"right"}, Help: "the next pod"}
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
	list := []screen.Binding{open, group, turn, mark}
	for _, d := range doors {
		d.Minor = true
		list = append(list, d.Binding)
	}
	return append(list, logs, shell, left, right)
}
