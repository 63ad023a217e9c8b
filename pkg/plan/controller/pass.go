package controller

import (
	"reflect"
	"time"
)

// act adds a write.
func (p *Pass) act(a Action) { p.Actions = append(p.Actions, a) }

// lookAgain has the controller come back after a time, unless it does so sooner
// anyway; 0 asks for nothing.
func (p *Pass) lookAgain(after time.Duration) {
	if after > 0 && (p.Again == 0 || after < p.Again) {
		p.Again = after
	}
}

// changed returns the new status for [Pass.Status], nil when it says nothing new.
func changed[T any](old, now *T) any {
	if reflect.DeepEqual(old, now) {
		return nil
	}
	return now
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }

// or returns what is set, else the default.
func or[T any](v *T, byDefault T) T {
	if v == nil {
		return byDefault
	}
	return *v
}
