package fanouts

import "github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"

var turn = screen.Binding{Keys: []string{"tab", "enter"}, Does: "places", Help: "go through its subsets, namespaces or nodes, or through the list again"}

// door is a key to a text of the object.
type door struct {
	screen.Binding
	text string
}

var doors = []door{
	{screen.Binding{Keys: []string{"y"}, Does: "yaml", Help: "the object as YAML"}, "yaml"},
	{screen.Binding{Keys: []string{"d"}, Does: "describe", Help: "the object in words"}, "describe"},
}

// Keys are those of this screen.
func (Screen) Keys() []screen.Binding {
	list := []screen.Binding{turn}
	for _, d := range doors {
		list = append(list, d.Binding)
	}
	return list
}
