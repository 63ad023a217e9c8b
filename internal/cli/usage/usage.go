// Package usage says how a command was called the wrong way, and what all commands
// ask of their flags. Its error makes the exit code 2 and carries a hint.
package usage

import (
	"fmt"

	"github.com/spf13/cobra"
)

// Error says that the call itself is wrong, whatever the input holds.
type Error struct {
	Err  error
	Hint string
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error with a hint, which may be empty.
func Errorf(hint, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Hint: hint}
}

// NoArgs is for commands that take none; hint says where the values go.
func NoArgs(hint string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return Errorf(hint, "unexpected argument %q", args[0])
		}
		return nil
	}
}
