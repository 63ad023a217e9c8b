// Package ending has the errors of commands whose rollout does not end well; each
// has an exit code of its own.
package ending

// Failed says that a rollout, real or simulated, comes to no good end.
type Failed struct{ Err error }

func (e *Failed) Error() string { return e.Err.Error() }

func (e *Failed) Unwrap() error { return e.Err }
