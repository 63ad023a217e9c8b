package kube

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// restartAnnotation is on pods whose containers were restarted without Kruise: who
// comes later reads there what was asked for.
const restartAnnotation = "kubectl-kruise.dev/restart"

// asked is what the annotation holds.
type asked struct {
	Step   mark   `json:"step"`
	Method string `json:"method"`
	// Before is how often each container had restarted.
	Before map[string]int `json:"before"`
	// Sent is false while it is not certain that all of it was done.
	Sent bool `json:"sent"`
}

func newAsked(m mark, p pod, method string, containers []string) asked {
	a := asked{Step: m, Method: method, Before: map[string]int{}}
	for _, name := range containers {
		c, _ := p.Container(name)
		a.Before[name] = c.Restarts
	}
	return a
}

// askedOf reads what was asked for last.
func askedOf(p *cluster.Pod) (asked, bool) {
	text, ok := p.Annotations[restartAnnotation]
	if !ok {
		return asked{}, false
	}
	var a asked
	err := json.Unmarshal([]byte(text), &a)
	return a, err == nil
}

func (a asked) text() string {
	text, err := json.Marshal(a)
	if err != nil {
		return ""
	}
	return string(text)
}

// result is good when every container has restarted and is ready.
func (a asked) result(p *cluster.Pod) plan.Result {
	var open []string
	for _, name := range slices.Sorted(maps.Keys(a.Before)) {
		c, ok := p.Container(name)
		switch {
		case !ok:
		case c.Restarts <= a.Before[name]:
			open = append(open, fmt.Sprintf("container %s has not restarted yet%s", name, a.hint()))
		case !c.Ready:
			open = append(open, fmt.Sprintf("container %s is not ready yet", name))
		}
	}
	if len(open) > 0 {
		return plan.Result{Text: strings.Join(open, ", ")}
	}
	return plan.Result{Done: true, Good: true, Text: "restarted"}
}

// hint says why a container may never restart.
func (a asked) hint() string {
	if a.Method == plan.RestartSignal {
		return " (its first process may not handle TERM)"
	}
	return ""
}
