package ending

import "errors"

// ErrDiffers says that a comparison has found differences, which it has shown. It
// makes the exit code 1 and no message.
var ErrDiffers = errors.New("there are differences")

// TroubleError is an error of a command whose exit code 1 means differences: it
// makes the exit code 2.
type TroubleError struct{ Err error }

func (e *TroubleError) Error() string { return e.Err.Error() }

func (e *TroubleError) Unwrap() error { return e.Err }
