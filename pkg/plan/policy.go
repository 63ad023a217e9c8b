package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Policy is how a change is to be rolled out. Its zero value asks for the
// defaults: see [DefaultSteps], and the constants below for the rest.
type Policy struct {
	// Steps are cumulative and rise; without any, [DefaultSteps] are taken.
	Steps []PolicyStep `json:"steps,omitempty"`
	// Verify is asked after each step, before the step's own.
	Verify []Verify   `json:"verify,omitempty"`
	Pull   PullPolicy `json:"pull,omitempty"`
	// Parallel is how many nodes pull at a time; 0 leaves it to the puller.
	Parallel int `json:"parallel,omitempty"`
	// Timeout limits each step; 0 works out a limit from the step's size.
	Timeout Duration `json:"timeout,omitzero"`
	// OnFailure is empty for [FailPause]: going back is a rollout too, which
	// a user should ask for.
	OnFailure OnFailure `json:"onFailure,omitempty"`
	// Driver is empty for the default of the workload.
	Driver Driver `json:"driver,omitempty"`
	Drain  Drain  `json:"drain,omitempty"`
	// Grace is how long a pod is out of service before its containers change, for
	// the driver client; 0 takes the workload's own inPlaceUpdateStrategy.
	Grace Duration `json:"grace,omitzero"`
	// HookAnswer is after how long a program answers the workload's lifecycle hooks,
	// as the plan assumes; 0 is [DefaultHookAnswer], [HookNever] is never.
	HookAnswer HookAnswer `json:"hookAnswer,omitzero"`
	// Warnings are what was assumed when the policy was read; a plan has them, too.
	Warnings []string `json:"-"`
}

// PolicyStep is one step of a policy.
type PolicyStep struct {
	// To is how many pods are updated when the step is done.
	To Amount `json:"to"`
	// Pause follows the step; nil continues at once.
	Pause *Pause `json:"pause,omitempty"`
	// Verify is asked after this step.
	Verify []Verify `json:"verify,omitempty"`
}

// PullPolicy defines whether new images are pulled before any pod changes.
type PullPolicy string

// The policies of pulling.
const (
	// PullAuto pulls when containers restart in place: the gap of a restart is a
	// twentieth of a second with the image there, and as long as the pull without.
	PullAuto PullPolicy = ""
	// PullFirst pulls before anything else happens.
	PullFirst PullPolicy = "first"
	// PullNever leaves it to the nodes.
	PullNever PullPolicy = "never"
)

// Drain defines how the driver client takes a pod out of service (docs/drivers.md).
type Drain string

// The ways to take a pod out of service.
const (
	// DrainAuto is label where rendering has put that label into the template,
	// else none.
	DrainAuto Drain = ""
	// DrainLabel removes the label kubectl-kruise.dev/in-service.
	DrainLabel Drain = "label"
	// DrainGate sets the readiness gate InPlaceUpdateReady.
	DrainGate Drain = "gate"
	// DrainNone leaves it in service.
	DrainNone Drain = "none"
)

// ParseSteps reads steps as the flag --steps has them: 1,10%,50%,100%.
func ParseSteps(text string) ([]PolicyStep, error) {
	var out []PolicyStep
	for part := range strings.SplitSeq(text, ",") {
		to, err := ParseAmount(part)
		if err != nil {
			return nil, err
		}
		out = append(out, PolicyStep{To: to})
	}
	if err := CheckSteps(out); err != nil {
		return nil, err
	}
	return out, nil
}

const stepsHint = "separate the steps with commas, each larger than the one before: 1,10%,50%,100%"

// CheckSteps refuses steps that do not rise, as far as that can be checked without
// knowing how many pods there are.
func CheckSteps(steps []PolicyStep) error {
	var last [2]float64
	for _, s := range steps {
		kind := 0
		if s.To.Percent {
			kind = 1
		}
		if s.To.Value <= last[kind] {
			return textError("step %q is not larger than the one before", stepsHint, s.To.String())
		}
		last[kind] = s.To.Value
	}
	return nil
}

// PauseAfter adds pauses as the flag --pause-after has them: 10% waits for approval at
// that stop of the steps, 10%=5m for five minutes, all at every stop but the last. A number
// that is no stop is the index of one, from 1 on. Several are separated by commas. Steps
// must be set before.
func (p *Policy) PauseAfter(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		which, long, timed := strings.Cut(strings.TrimSpace(part), "=")
		pause := &Pause{}
		if timed {
			d, err := time.ParseDuration(long)
			if err != nil || d <= 0 {
				return textError("%q is not a length of time", "write it as 30s, 5m or 1h30m", long)
			}
			pause.For = Duration(d)
		}
		if !p.pauseAt(which, pause) {
			return textError("the steps do not stop at %q: they stop at "+p.stops(), pauseHint, which)
		}
	}
	return nil
}

const pauseHint = "name a stop of --steps, and how long: --pause-after 10%, --pause-after 10%=5m"

// stops lists where the steps stop.
func (p *Policy) stops() string {
	var out []string
	for _, s := range p.Steps {
		out = append(out, s.To.String())
	}
	return strings.Join(out, ", ")
}

// pauseAt finds the step: all, the amount at which it stops or, where none stops there, its index
// from 1 on.
func (p *Policy) pauseAt(which string, pause *Pause) bool {
	if which == "all" {
		for i := range max(len(p.Steps)-1, 0) {
			p.Steps[i].Pause = pause
		}
		return len(p.Steps) > 0
	}
	if stop, err := ParseAmount(which); err == nil {
		for i := range p.Steps {
			if p.Steps[i].To == stop {
				p.Steps[i].Pause = pause
				return true
			}
		}
	}
	if n, err := strconv.Atoi(which); err == nil && n >= 1 && n <= len(p.Steps) {
		p.Steps[n-1].Pause = pause
		p.Warnings = append(p.Warnings, fmt.Sprintf("--pause-after %d: no step stops at %s, so it is taken for step %d, which stops at %s", n, counted.Of(n, "pod"), n, p.Steps[n-1].To))
		return true
	}
	return false
}

// Words of a policy, as flags and files spell them. Each error has a hint with
// all of them.

// ParseOnFailure reads pause, rollback or abort; empty is the default.
func ParseOnFailure(text string) (OnFailure, error) {
	return parseWord(text, "onFailure", "", FailPause, FailRollback, FailAbort)
}

// ParseDriver reads kruise, native or client; empty and auto are the default.
func ParseDriver(text string) (Driver, error) {
	return parseWord(text, "driver", "auto", DriverKruise, DriverNative, DriverClient)
}

// ParseDrain reads label, gate or none; empty and auto are the default.
func ParseDrain(text string) (Drain, error) {
	return parseWord(text, "drain", "auto", DrainLabel, DrainGate, DrainNone)
}

// ParsePull reads first or never; empty and auto are the default.
func ParsePull(text string) (PullPolicy, error) {
	return parseWord(text, "pull", "auto", PullFirst, PullNever)
}

func parseWord[T ~string](text, what, byDefault string, words ...T) (T, error) {
	if text == "" || text == byDefault {
		return "", nil
	}
	all := byDefault
	for _, w := range words {
		if string(w) == text {
			return w, nil
		}
		if all != "" {
			all += ", "
		}
		all += string(w)
	}
	return "", textError("%q is no "+what, "write one of: "+all, text)
}

// Amount is a number of pods, or a percentage of them.
type Amount struct {
	Value   float64
	Percent bool
}

// All is every pod.
var All = Amount{100, true}

// Pods is a number of pods.
func Pods(n int) Amount { return Amount{float64(n), false} }

// String spells an amount as it is read: 3 or 10%.
func (a Amount) String() string {
	text := strconv.FormatFloat(a.Value, 'f', -1, 64)
	if a.Percent {
		return text + "%"
	}
	return text
}

// Of returns how many of total pods the amount is. A percentage is rounded up, so
// that it is at least one pod, but less than 100% never comes to all of several:
// a step that is meant to leave pods behind does.
func (a Amount) Of(total int) int {
	if !a.Percent {
		return max(0, min(int(a.Value), total))
	}
	n := int(math.Ceil(a.Value * float64(total) / 100))
	if a.Value < 100 && total > 1 {
		n = min(n, total-1)
	}
	return max(0, min(n, total))
}

// ParseAmount reads 3 or 10%; fractions of a percent are allowed.
func ParseAmount(text string) (Amount, error) {
	text = strings.TrimSpace(text)
	number, percent := strings.CutSuffix(text, "%")
	if percent {
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || math.IsNaN(v) || v <= 0 || v > 100 {
			return Amount{}, textError("%q is not a percentage from above 0% to 100%", amountHint, text)
		}
		return Amount{v, true}, nil
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > math.MaxInt32 {
		return Amount{}, textError("%q is not a number of pods", amountHint, text)
	}
	return Amount{float64(n), false}, nil
}

const amountHint = "write a number of pods, such as 3, or a percentage, such as 10%"

// textError is an error with a hint and without a place; %q in msg is the text.
func textError(msg, hint, text string) *tree.Error {
	return &tree.Error{Msg: strings.Replace(msg, "%q", strconv.Quote(text), 1), Hint: hint}
}
