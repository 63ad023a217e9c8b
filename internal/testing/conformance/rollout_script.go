package conformance

import (
	"errors"
	"strings"
	"time"
)

// RolloutScript is how a rollout case was recorded: what there was first, what
// was done, and who else took part.
type RolloutScript struct {
	Title string `json:"title"`
	// Stagger is whether the pods were brought up one after another.
	Stagger bool `json:"stagger"`
	// Quiet is for how many seconds nothing may change in a settled step.
	Quiet      float64       `json:"quiet"`
	Hooks      []RolloutHook `json:"hooks"`
	NodeLabels []string      `json:"nodeLabels"`
	Initial    []map[string]any
	Steps      []RolloutAct
}

// RolloutHook is the outside actor of lifecycle hooks: so many seconds after a
// pod has entered State, it changes the pod.
type RolloutHook struct {
	State            string             `json:"state"`
	After            float64            `json:"after"`
	RemoveFinalizers []string           `json:"removeFinalizers"`
	AddFinalizers    []string           `json:"addFinalizers"`
	Labels           map[string]*string `json:"labels"`
}

// RolloutAct is one step as it was written: pods by index, or by name in a trace.
type RolloutAct struct {
	Title  string         `json:"title"`
	Patch  map[string]any `json:"patch"`
	On     *RolloutOn     `json:"on"`
	Action string         `json:"action"`
	RolloutGroup
	Each  []RolloutGroup `json:"each"`
	Nodes []string       `json:"nodes"`
	// Settle is true, or a number of seconds.
	Settle any `json:"settle"`
}

// RolloutOn names the object of a patch, when it is not the one under test.
type RolloutOn struct{ Kind, Name string }

// RolloutGroup are pods that are treated alike.
type RolloutGroup struct {
	// Pods are indices or names.
	Pods        []any              `json:"pods"`
	Labels      map[string]*string `json:"labels"`
	Annotations map[string]*string `json:"annotations"`
}

// Groups returns what is done to which pods.
func (a RolloutAct) Groups() []RolloutGroup {
	if len(a.Each) > 0 {
		return a.Each
	}
	return []RolloutGroup{a.RolloutGroup}
}

// Wait returns how long the step goes on; settle is true when it may end earlier,
// as soon as nothing changes any more.
func (a RolloutAct) Wait() (d time.Duration, settle bool) {
	switch v := a.Settle.(type) {
	case float64:
		return time.Duration(v * float64(time.Second)), false
	case int:
		return time.Duration(v) * time.Second, false
	}
	return 0, true
}

// quietByDefault is for how long nothing may change in most cases.
const quietByDefault = 3.5

// Still is how long nothing may change in a settled step.
func (s RolloutScript) Still() time.Duration {
	quiet := s.Quiet
	if quiet == 0 {
		quiet = quietByDefault
	}
	return time.Duration(quiet * float64(time.Second))
}

// ReadRolloutScript reads how a case was recorded.
func ReadRolloutScript(c Case) (RolloutScript, error) {
	var s RolloutScript
	if err := c.decode("case.yaml", &s); err != nil {
		return s, err
	}
	data, err := c.Read("initial.yaml")
	if err != nil {
		return s, err
	}
	if s.Initial, err = Docs(data); err != nil {
		return s, err
	}
	if len(s.Initial) == 0 {
		return s, errors.New("initial.yaml holds no object")
	}
	return s, c.decodeList("steps.yaml", &s.Steps)
}

// Act returns the step with the names of the pods that it was done to.
func (t RolloutTrace) Act() (RolloutAct, error) {
	var a RolloutAct
	return a, remarshal(t.Step, &a)
}

// Namespace is where the case was recorded.
func (c Case) Namespace() string {
	number, _, _ := strings.Cut(c.Name, "-")
	return "roll-" + number
}
