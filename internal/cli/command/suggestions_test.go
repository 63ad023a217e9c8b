package command_test

import (
	"errors"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
)

// program is a tree with a group of verbs, whose flags are parsed as the real one's are.
func program(words []string) *cobra.Command {
	run := func(*cobra.Command, []string) error { return nil }
	root := &cobra.Command{Use: "prog", Args: command.NoSuchCommand, RunE: run, SilenceErrors: true, SilenceUsage: true}
	root.PersistentFlags().StringP("namespace", "n", "", "")
	group := &cobra.Command{Use: "rollout", Args: command.NoSuchCommand, RunE: run}
	status := &cobra.Command{Use: "status", RunE: run}
	status.Flags().Bool("watch", false, "")
	status.Flags().String("image", "", "")
	status.Flags().String("images", "", "")
	group.AddCommand(status, &cobra.Command{Use: "run", RunE: run})
	root.AddCommand(group)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return command.FlagError(c, err, words) })
	root.SetArgs(words)
	return root
}

func TestFlagError(t *testing.T) {
	for name, c := range map[string]struct {
		words     []string
		say, hint string
	}{
		"a letter is missing":            {[]string{"rollout", "status", "--wach"}, "unknown flag: --wach", "did you mean --watch?"},
		"the start of several":           {[]string{"rollout", "status", "--imag", "x"}, "unknown flag: --imag", "did you mean --image?"},
		"one dash":                       {[]string{"rollout", "status", "-watch"}, "unknown shorthand flag: 'w' in -watch", "did you mean --watch?"},
		"of all commands":                {[]string{"rollout", "status", "--namespce=x"}, "unknown flag: --namespce", "did you mean --namespace?"},
		"nothing similar":                {[]string{"rollout", "status", "--frobnicate"}, "unknown flag: --frobnicate", "see 'prog rollout status --help'"},
		"a short letter":                 {[]string{"rollout", "status", "-q"}, "unknown shorthand flag: 'q' in -q", "see 'prog rollout status --help'"},
		"a verb, then its flag":          {[]string{"rollout", "stauts", "--watch"}, `unknown command "stauts"`, "did you mean status?"},
		"a verb behind a known flag":     {[]string{"rollout", "-n", "stat", "stauts", "--watch"}, `unknown command "stauts"`, "did you mean status?"},
		"a flag, then the verb":          {[]string{"rollout", "--watch=false", "stauts"}, `unknown command "stauts"`, "did you mean status?"},
		"a verb unlike any":              {[]string{"rollout", "frobnicate", "--watch"}, `unknown command "frobnicate"`, "see 'prog rollout --help'"},
		"the value of an unknown flag":   {[]string{"rollout", "--images", "app=x"}, "unknown flag: --images", "see 'prog rollout --help'"},
		"a command of the program":       {[]string{"rolout", "status", "--watch"}, `unknown command "rolout" for "prog"`, "did you mean rollout?"},
		"a verb without its group":       {[]string{"status", "cloneset/web"}, `unknown command "status" for "prog"`, "did you mean 'prog rollout status'?"},
		"a verb without a flag":          {[]string{"rollout", "stauts"}, `unknown command "stauts"`, "did you mean status?"},
		"a flag that lacks its argument": {[]string{"rollout", "status", "--image"}, "flag needs an argument: --image", "see 'prog rollout status --help'"},
	} {
		t.Run(name, func(t *testing.T) {
			err := program(c.words).Execute()
			e, ok := errors.AsType[*command.UsageError](err)
			if !ok || e.Error() != c.say || e.Hint != c.hint {
				t.Errorf("%v; want %q with the hint %q; have %+v", err, c.say, c.hint, e)
			}
		})
	}
}
