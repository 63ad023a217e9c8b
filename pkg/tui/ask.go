package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// sentence is the question of an act in one sentence, and answers what comes of it: of one
// workload, or of each of several.
func (d dialog) sentence() string {
	a := d.act
	what := names(a.On)
	if len(a.On) > 1 {
		what = counted.Of(len(a.On), "workload")
	}
	var c plan.Consequence
	if len(a.On) == 1 {
		c = d.effect.Changes[a.On[0]]
	}
	switch a.Verb {
	case world.Promote:
		if c.Step != "" {
			return fmt.Sprintf("Promote %s past step %s?", what, c.Step)
		}
		return "Promote " + what + "?"
	case world.PauseResume:
		switch c.Transition {
		case plan.TransitionRetry:
			return "Retry the rollout of " + what + "?"
		case plan.TransitionResume:
			return "Resume " + what + "?"
		case plan.TransitionPause:
			return "Pause " + what + "?"
		}
		return "Pause or resume " + what + "?"
	case world.Undo:
		return "Roll " + what + " back" + orEmpty(" to revision ", a.Value) + "?"
	case world.Abort:
		return "Abort the rollout of " + what + "?"
	case world.Restart:
		return restarts(a)
	case world.Scale:
		return "Scale " + what + orEmpty(" from ", c.Was) + " to " + podsOf(a.Value) + "?"
	case world.Partition:
		return "Set the partition of " + what + orEmpty(" from ", c.Was) + " to " + a.Value + "?"
	}
	return string(a.Verb) + " " + what + "?"
}

func orEmpty(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// restarts is the question of a restart, which names containers and pods.
func restarts(a world.Act) string {
	containers := "all containers"
	if n := len(a.Containers); n == 1 {
		containers = "container " + a.Containers[0]
	} else if n > 1 {
		containers = "containers " + strings.Join(a.Containers, ", ")
	}
	switch n := len(a.Pods); {
	case n == 1:
		return "Restart " + containers + " in pod " + a.Pods[0] + "?"
	case n > 1:
		return fmt.Sprintf("Restart %s in %s?", containers, counted.Of(n, "pod"))
	}
	return "Restart " + containers + " in all pods of " + names(a.On) + "?"
}

// answers is what comes of the act for one workload, whose pods are as its row says, if
// there is one.
func (d dialog) answers(c plan.Consequence, row *world.Workload) string {
	switch d.act.Verb {
	case world.Promote:
		return promotes(c)
	case world.PauseResume:
		return resumes(c)
	case world.Undo:
		switch {
		case c.Pods == 0 && c.Steps == 0:
			return "No pod was updated: the rollout ends, and nothing else changes."
		case c.Pods == 0:
			return "It takes " + counted.Of(c.Steps, "step") + "."
		}
		return counted.With(c.Pods, "pod changes", "pods change") + ", in " + counted.Of(c.Steps, "step") + "."
	case world.Abort:
		if row == nil {
			return "Pods stay as they are."
		}
		n := row.Pods
		return fmt.Sprintf("%d of %s on the new revision, %d on the old one.", n.Updated, counted.With(max(n.Desired, n.Total), "pod stays", "pods stay"), max(n.Total-n.Updated, 0))
	case world.Restart:
		text := "The containers restart in place"
		if c.Pods > 0 {
			text = "Containers of " + counted.Of(c.Pods, "pod") + " restart in place"
		}
		if c.AtOnce > 0 && c.AtOnce < c.Pods { // there are more
			text += ", " + counted.Of(c.AtOnce, "pod") + " at a time"
		}
		return text + "."
	case world.Partition:
		return podsOf(d.act.Value) + " stay on the old revision."
	}
	return ""
}

func promotes(c plan.Consequence) string {
	if c.Pods == 0 {
		return "No more pods are updated by it."
	}
	if c.Next < c.Updated {
		first := c.Next - (c.Updated - c.Pods)
		return fmt.Sprintf("%s updated next: %d of %d. Then it continues to %d of %d without a pause.", counted.With(first, "more pod is", "more pods are"), c.Next, c.Total, c.Updated, c.Total)
	}
	return fmt.Sprintf("%s updated: %d of %d.", counted.With(c.Pods, "more pod is", "more pods are"), c.Updated, c.Total)
}

func resumes(c plan.Consequence) string {
	at := ""
	if c.Steps > 0 {
		at = fmt.Sprintf(" at step %d of %d", c.At, c.Steps)
	}
	switch c.Transition {
	case plan.TransitionRetry:
		return "It continues" + at + ", where it failed."
	case plan.TransitionResume:
		return "It continues" + at + "."
	case plan.TransitionPause:
		return "It stays" + at + " until it is resumed: no more pods are updated."
	}
	return ""
}

// podsOf is a value and its noun: 1 pod, 40% of the pods.
func podsOf(value string) string {
	switch {
	case strings.HasSuffix(value, "%"):
		return value + " of the pods"
	case value == "1":
		return "1 pod"
	}
	return value + " pods"
}

// scope is what a restart may be about.
type scope struct {
	title            string
	pods, containers []string
}

// scopesOf are the scopes of a restart, from the narrowest to the whole workload; one or
// none where there is no choice.
func scopesOf(a world.Act) []scope {
	if a.Verb != world.Restart || len(a.On) != 1 || len(a.Pods) == 0 {
		return nil
	}
	pods := "pod " + a.Pods[0]
	if len(a.Pods) > 1 {
		pods = fmt.Sprintf("%d marked pods", len(a.Pods))
	}
	var list []scope
	if len(a.Containers) > 0 {
		list = append(list, scope{strings.Join(a.Containers, ", ") + " in " + pods, a.Pods, a.Containers})
	}
	return append(list, scope{pods, a.Pods, nil}, scope{"all pods of " + names(a.On), nil, nil})
}

// spaces are the namespaces of an act; what is of the whole cluster has none.
func spaces(a world.Act) string {
	var list []string
	for _, r := range a.On {
		if !slices.Contains(list, r.Namespace) {
			list = append(list, r.Namespace)
		}
	}
	return strings.Join(list, ", ")
}

// names are those of workloads, as a command line spells them.
func names(refs []cluster.Ref) string {
	list := make([]string, len(refs))
	for i, r := range refs {
		list[i] = r.String()
	}
	return strings.Join(list, ", ")
}
