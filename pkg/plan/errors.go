package plan

import "errors"

// Errors that whoever carries out an [Action] wraps.
var (
	// ErrConflict is a precondition that did not hold: look again.
	ErrConflict = errors.New("the object has changed")
	// ErrRefused is a request that admission or a budget turned down for now.
	ErrRefused = errors.New("refused")
	// ErrNotFound is an object that is not there.
	ErrNotFound = errors.New("not found")
)
