// Package ending has the errors of commands whose rollout does not end well; each
// has an exit code of its own.
package ending

// FailedError says that a rollout, real or simulated, comes to no good end.
type FailedError struct{ Err error }

func (e *FailedError) Error() string { return e.Err.Error() }

func (e *FailedError) Unwrap() error { return e.Err }
