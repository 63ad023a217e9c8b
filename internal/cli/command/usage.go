// Package command has what all verbs share about how they are called and how they end:
// errors of usage with their hints, checks of flag values, the errors that make exit codes
// of their own, and deprecated flags and verbs.
package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// UsageError reports that the call itself is wrong, whatever the input holds.
type UsageError struct {
	Err  error
	Hint string
}

func (e *UsageError) Error() string { return e.Err.Error() }

func (e *UsageError) Unwrap() error { return e.Err }

// Usagef returns an Error with a hint, which may be empty.
func Usagef(hint, format string, args ...any) error {
	return &UsageError{Err: fmt.Errorf(format, args...), Hint: hint}
}

// NoArgs is for commands that take none; hint says where the values go.
func NoArgs(hint string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return Usagef(hint, "unexpected arguments: %v", args)
		}
		return nil
	}
}

// OneOf refuses a value of a flag that is none of the legal ones.
func OneOf(flag, value string, legal ...string) error {
	if slices.Contains(legal, value) {
		return nil
	}
	return Usagef("one of: "+strings.Join(legal, ", "), "--%s: unknown value %q", flag, value)
}

// OneStdin refuses a second - among the files of all flags and arguments.
func OneStdin(files ...string) error {
	first := slices.Index(files, "-")
	if first < 0 || !slices.Contains(files[first+1:], "-") {
		return nil
	}
	return Usagef("name a file for the others", "standard input can be read once only")
}

// Offer lets the shell complete the values of a flag.
func Offer(c *cobra.Command, flag string, values ...string) {
	// The error says that the flag does not exist, which it does.
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}
