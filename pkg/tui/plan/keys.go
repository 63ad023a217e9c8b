package plan

import (
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

var (
	play   = screen.Binding{Keys: []string{"space"}, Does: "play", Help: "play the simulation, or hold it"}
	back   = screen.Binding{Keys: []string{"left", "h"}, Does: "scrub", Help: "back in time"}
	ahead  = screen.Binding{Keys: []string{"right", "L"}, Help: "ahead in time"}
	before = screen.Binding{Keys: []string{"["}, Help: "to where the step began, or the one before"}
	after  = screen.Binding{Keys: []string{"]"}, Does: "step", Help: "to the start of the next step"}
	faster = screen.Binding{Keys: []string{"+", "="}, Does: "speed", Help: "twice as fast"}
	slower = screen.Binding{Keys: []string{"-"}, Help: "half as fast"}
	first  = screen.Binding{Keys: []string{"home", "g"}, Help: "to the beginning"}
	last   = screen.Binding{Keys: []string{"end", "G"}, Help: "to the end"}
	up     = screen.Binding{Keys: []string{"up", "k"}, Help: "the step before: what it sends, its pods"}
	down   = screen.Binding{Keys: []string{"down", "j"}, Help: "the next step"}
	turn   = screen.Binding{Keys: []string{"tab"}, Does: "more", Help: "where not all fits: steps, what a step does, what happens"}
	again  = screen.Binding{Keys: []string{"r"}, Does: "again", Help: "simulate again from the present state of the cluster", Minor: true}
)

// Keys are those of this screen.
func (Screen) Keys() []screen.Binding {
	return []screen.Binding{play, back, after, faster, turn, again, ahead, before, slower, first, last, up, down}
}

// Orders are its commands.
func (Screen) Orders() []screen.OrderHelp {
	return []screen.OrderHelp{{Name: "speed", Help: "how many seconds of the simulation a second shows", Args: speedNames}}
}

// speedNames are the speeds, each twice the one before.
var speedNames = func() []string {
	var list []string
	for n := 1; n <= fastest; n *= 2 {
		list = append(list, strconv.Itoa(n))
	}
	return list
}()
