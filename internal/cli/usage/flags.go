package usage

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// OneOf refuses a value of a flag that is none of the legal ones.
func OneOf(flag, value string, legal ...string) error {
	if slices.Contains(legal, value) {
		return nil
	}
	return Errorf("one of: "+strings.Join(legal, ", "), "--%s: unknown value %q", flag, value)
}

// OneStdin refuses a second - among the files of all flags and arguments.
func OneStdin(files ...string) error {
	first := slices.Index(files, "-")
	if first < 0 || !slices.Contains(files[first+1:], "-") {
		return nil
	}
	return Errorf("name a file for the others", "standard input can be read once only")
}

// Offer lets the shell complete the values of a flag.
func Offer(c *cobra.Command, flag string, values ...string) {
	// The error says that the flag does not exist, which it does.
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}
