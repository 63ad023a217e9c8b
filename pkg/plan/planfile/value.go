package planfile

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// duration is a length of time as text: 10m0s.
type duration time.Duration

// MarshalJSON writes the text.
func (d duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads the text; numbers are refused, as they do not say of what.
func (d *duration) UnmarshalJSON(text []byte) error {
	var s string
	if json.Unmarshal(text, &s) != nil {
		return fmt.Errorf("%s is not a length of time: write it as 30s, 5m or 1h30m", text)
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a length of time: write it as 30s, 5m or 1h30m", s)
	}
	*d = duration(v)
	return nil
}

// amount is a number of pods or a percentage: 3 or 10%.
type amount plan.Amount

// MarshalJSON writes a number as one.
func (a amount) MarshalJSON() ([]byte, error) {
	if a.Percent {
		return json.Marshal(plan.Amount(a).String())
	}
	return []byte(plan.Amount(a).String()), nil
}

// UnmarshalJSON reads a number, or the text of either.
func (a *amount) UnmarshalJSON(text []byte) error {
	s := string(text)
	if unquoted, err := strconv.Unquote(s); err == nil {
		s = unquoted
	}
	v, err := plan.ParseAmount(s)
	if err != nil {
		return fmt.Errorf("%w: write a number of pods, such as 3, or a percentage, such as 10%%", err)
	}
	*a = amount(v)
	return nil
}

// hookAnswer is a length of time as text, or never.
type hookAnswer time.Duration

// MarshalJSON writes the text.
func (d hookAnswer) MarshalJSON() ([]byte, error) {
	return json.Marshal(plan.HookAnswerText(time.Duration(d)))
}

// UnmarshalJSON reads the text.
func (d *hookAnswer) UnmarshalJSON(text []byte) error {
	var s string
	if json.Unmarshal(text, &s) != nil {
		return fmt.Errorf("%s is not a length of time: write it as 30s or 5m, or never", text)
	}
	v, err := plan.ParseHookAnswer(s)
	if err != nil {
		return fmt.Errorf("%q is not a length of time: write it as 30s or 5m, or never", s)
	}
	*d = hookAnswer(v)
	return nil
}
