package plan

import (
	"strconv"
	"strings"
	"time"
)

const stepsHint = "separate the steps with commas, each larger than the one before: 1,10%,50%,100%"

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

// CheckSteps refuses steps that do not rise, as far as that can be told without
// knowing how many pods there are.
func CheckSteps(steps []PolicyStep) error {
	var last [2]float64
	for _, s := range steps {
		kind := 0
		if s.To.Percent {
			kind = 1
		}
		if s.To.Value <= last[kind] {
			return fault("step %q is not larger than the one before", stepsHint, s.To.String())
		}
		last[kind] = s.To.Value
	}
	return nil
}

const pauseHint = "name a step by its place or its amount, and how long: --pause-after 1, --pause-after 10%=5m"

// PauseAfter adds pauses as the flag --pause-after has them: 1 waits after the
// first step until somebody promotes, 10%=5m for five minutes after the step that
// is written 10%, all after every step but the last. Several are separated by
// commas. Steps must be set before.
func (p *Policy) PauseAfter(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		which, long, timed := strings.Cut(strings.TrimSpace(part), "=")
		pause := &Pause{}
		if timed {
			d, err := time.ParseDuration(long)
			if err != nil || d <= 0 {
				return fault("%q is not a length of time", "write it as 30s, 5m or 1h30m", long)
			}
			pause.For = d
		}
		if !p.pauseAt(which, pause) {
			return fault("there is no step %q to pause after", pauseHint, which)
		}
	}
	return nil
}

// pauseAt finds the step: all, a place from 1 on, or the amount as written. Where
// both could be meant the place counts.
func (p *Policy) pauseAt(which string, pause *Pause) bool {
	if which == "all" {
		for i := range max(len(p.Steps)-1, 0) {
			p.Steps[i].Pause = pause
		}
		return len(p.Steps) > 0
	}
	if n, err := strconv.Atoi(which); err == nil && n >= 1 && n <= len(p.Steps) {
		p.Steps[n-1].Pause = pause
		return true
	}
	for i := range p.Steps {
		if p.Steps[i].To.String() == which {
			p.Steps[i].Pause = pause
			return true
		}
	}
	return false
}

// Words of a policy, as flags and files spell them. Each error has a hint with
// all of them.

// ParseOnFailure reads pause, rollback or abort; empty is the default.
func ParseOnFailure(text string) (OnFailure, error) {
	return word(text, "onFailure", "", FailPause, FailRollback, FailAbort)
}

// ParseDriver reads kruise, native or client; empty and auto are the default.
func ParseDriver(text string) (Driver, error) {
	return word(text, "driver", "auto", DriverKruise, DriverNative, DriverClient)
}

// ParseDrain reads label, gate or none; empty and auto are the default.
func ParseDrain(text string) (Drain, error) {
	return word(text, "drain", "auto", DrainLabel, DrainGate, DrainNone)
}

// ParsePull reads first or never; empty and auto are the default.
func ParsePull(text string) (PullPolicy, error) {
	return word(text, "pull", "auto", PullFirst, PullNever)
}

func word[T ~string](text, what, byDefault string, words ...T) (T, error) {
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
	return "", fault("%q is no "+what, "write one of: "+all, text)
}
