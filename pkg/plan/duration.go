package plan

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Duration is a length of time that plans and policies write as text: 10m0s.
type Duration time.Duration

func seconds(n int32) Duration { return Duration(n) * Duration(time.Second) }

// String is the text.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalJSON writes the text.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads the text; numbers are refused, since they have no unit.
func (d *Duration) UnmarshalJSON(text []byte) error {
	var s string
	if json.Unmarshal(text, &s) != nil {
		return fmt.Errorf("%s is not a length of time: write it as 30s, 5m or 1h30m", text)
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a length of time: write it as 30s, 5m or 1h30m", s)
	}
	*d = Duration(v)
	return nil
}

// HookAnswer is how long a lifecycle hook takes to be answered, as a plan assumes.
type HookAnswer time.Duration

const (
	// DefaultHookAnswer is what is assumed about hooks by default.
	DefaultHookAnswer = HookAnswer(5 * time.Second)
	// HookNever is the assumption that no program answers.
	HookNever HookAnswer = -1
	// minHookLimit is for how long a pod may wait for the answer at least, before the
	// rollout halts.
	minHookLimit = 10 * time.Minute
	// neverText is how a flag spells [HookNever].
	neverText = "never"
)

// ParseHookAnswer reads a length of time, or never; empty is the default.
func ParseHookAnswer(text string) (HookAnswer, error) {
	switch text {
	case "":
		return 0, nil
	case neverText:
		return HookNever, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, textError("%q is not a length of time", "write it as 30s or 5m, or never", text)
	}
	return HookAnswer(d), nil
}

// String is what [ParseHookAnswer] reads.
func (d HookAnswer) String() string {
	switch {
	case d < 0:
		return neverText
	case d == 0:
		return ""
	}
	return time.Duration(d).String()
}

// MarshalJSON writes the text.
func (d HookAnswer) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads the text.
func (d *HookAnswer) UnmarshalJSON(text []byte) error {
	var s string
	if json.Unmarshal(text, &s) != nil {
		return fmt.Errorf("%s is not a length of time: write it as 30s or 5m, or never", text)
	}
	v, err := ParseHookAnswer(s)
	if err != nil {
		return fmt.Errorf("%q is not a length of time: write it as 30s or 5m, or never", s)
	}
	*d = v
	return nil
}

// MarshalJSON writes a number of pods as one, and a percentage as text.
func (a Amount) MarshalJSON() ([]byte, error) {
	if a.Percent {
		return json.Marshal(a.String())
	}
	return []byte(a.String()), nil
}

// UnmarshalJSON reads a number, or the text of either.
func (a *Amount) UnmarshalJSON(text []byte) error {
	s := string(text)
	if unquoted, err := strconv.Unquote(s); err == nil {
		s = unquoted
	}
	v, err := ParseAmount(s)
	if err != nil {
		return fmt.Errorf("%w: write a number of pods, such as 3, or a percentage, such as 10%%", err)
	}
	*a = v
	return nil
}
