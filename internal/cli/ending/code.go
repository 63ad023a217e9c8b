package ending

// CodeError is the end of a program that this one ran, or of a command that it took
// over: the exit code is its own.
type CodeError struct {
	Code int
	// Err is what there is to say; its text is empty where everything has been said.
	Err error
}

func (e *CodeError) Error() string { return e.Err.Error() }

func (e *CodeError) Unwrap() error { return e.Err }
