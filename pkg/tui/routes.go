package tui

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/diff"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/fanouts"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/logs"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/pod"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/rollout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/sidecars"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/workloads"
)

// destination is a screen that can be opened.
type destination struct {
	name string
	// help is for the command line, for those that need no more than a name; key
	// opens it from anywhere.
	help, key string
	// alone takes the place of all that is open.
	alone bool
	make  func(screen.Open) screen.Screen
}

// routes are all screens; the first is where one begins.
var routes = []destination{
	{screen.Workloads, "all workloads", "1", true, func(screen.Open) screen.Screen { return workloads.New() }},
	{screen.Sidecars, "SidecarSets against workloads: who has which, and why not", "2", true, func(o screen.Open) screen.Screen { return sidecars.New(o) }},
	{screen.FanOuts, "subsets, namespaces and nodes against what they should have", "3", true, func(o screen.Open) screen.Screen { return fanouts.New(o) }},
	{screen.Rollout, "a workload: steps, pods, what it waits for", "", false, func(o screen.Open) screen.Screen { return rollout.New(o) }},
	{screen.Plan, "a workload's plan, and a simulation of it to play", "", false, func(o screen.Open) screen.Screen { return plan.New(o) }},
	{screen.Pod, "", "", false, func(o screen.Open) screen.Screen { return pod.New(o) }},
	{screen.Diff, "what the revisions of a workload differ in", "", false, func(o screen.Open) screen.Screen { return diff.New(o) }},
	{screen.Logs, "", "", false, func(o screen.Open) screen.Screen { return logs.New(o) }},
	{screen.Text, "", "", false, func(o screen.Open) screen.Screen { return text.New(o) }},
}

func route(name string) (destination, bool) {
	for _, r := range routes {
		if r.name == name {
			return r, true
		}
	}
	return destination{}, false
}
