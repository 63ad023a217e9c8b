package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// commandTree is a program with a flag that goes, and says what its call says.
func commandTree(t *testing.T, args ...string) (root *cobra.Command, said string) {
	t.Helper()
	var out strings.Builder
	root = &cobra.Command{Use: "prog", PersistentPreRun: func(c *cobra.Command, _ []string) { WarnDeprecated(c.ErrOrStderr(), c) }}
	run := &cobra.Command{Use: "run", Run: func(*cobra.Command, []string) {}}
	run.Flags().StringSlice("old-name", nil, "the older flag")
	run.Flags().StringSlice("name", nil, "the flag")
	DeprecateFlag(run, "old-name", Deprecation{"--name", "v2.0.0"})
	root.AddCommand(run)
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&out)
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return root, out.String()
}

func TestDeprecate_WarnsOfUse(t *testing.T) {
	for line, want := range map[string]string{
		"run":                                    "",
		"run --name a":                           "",
		"run --old-name a":                       "warning: --old-name goes in v2.0.0; use --name\n",
		"run --old-name a --old-name b":          "warning: --old-name goes in v2.0.0; use --name\n",
		"run --old-name a --name b --old-name=c": "warning: --old-name goes in v2.0.0; use --name\n",
	} {
		if _, said := commandTree(t, strings.Fields(line)...); said != want {
			t.Errorf("%s: %q", line, said)
		}
	}
}

func TestWarn_HelpIsSilent(t *testing.T) {
	for _, line := range []string{"--help", "run --help"} {
		if _, said := commandTree(t, strings.Fields(line)...); strings.Contains(said, "old-name") {
			t.Errorf("%s: %s", line, said)
		}
	}
}

func TestDeprecated_ListsFlags(t *testing.T) {
	root, _ := commandTree(t, "run")
	want := map[string]Deprecation{"prog run --old-name": {"--name", "v2.0.0"}}
	if diff := cmp.Diff(want, Deprecations(root)); diff != "" {
		t.Error(diff)
	}
}

func TestDeprecate_PanicsWithoutTheFlag(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a flag that is not there is deprecated")
		}
	}()
	DeprecateFlag(&cobra.Command{}, "none", Deprecation{})
}
