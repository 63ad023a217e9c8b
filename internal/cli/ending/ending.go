// Package ending has the errors that say how a command ended rather than what went
// wrong: a rollout that stands, two states that differ. Each has an exit code of its
// own.
package ending

// FailedError says that a rollout, real or simulated, comes to no good end.
type FailedError struct{ Err error }

func (e *FailedError) Error() string { return e.Err.Error() }

func (e *FailedError) Unwrap() error { return e.Err }
