package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// whole is the command tree as kubectl calls it.
func whole() *cobra.Command {
	defer forget()
	return newRoot(factory.New(factory.Streams{Getenv: func(string) string { return "" }}), "kubectl-kruise")
}

// TestHelp_FitsOneScreen: --help is one screen of 40 lines and 80 columns.
func TestHelp_FitsOneScreen(t *testing.T) {
	code, out, _ := call(t.Context(), t, "", "--help")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if code != 0 || len(lines) > 40 {
		t.Errorf("exit %d, %d lines:\n%s", code, len(lines), out)
	}
	for _, line := range lines {
		if len(line) > columns {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if _, bare, _ := call(t.Context(), t, ""); bare != out {
		t.Errorf("without arguments:\n%s", bare)
	}
}

// TestHelp_ListsBooleanFlagsByName: a boolean flag is listed as --watch, as kubectl does, and one
// that has a value with its type.
func TestHelp_ListsBooleanFlagsByName(t *testing.T) {
	for _, args := range [][]string{{"options"}, {"rollout", "run", "--help"}, {"get", "--help"}} {
		if code, out, _ := call(t.Context(), t, "", args...); code != 0 || strings.Contains(out, "[=true") {
			t.Errorf("%v: exit %d, output:\n%s", args, code, out)
		}
	}
	_, out, _ := call(t.Context(), t, "", "rollout", "run", "--help")
	for _, want := range []string{"      --detach                         run the rollout", "  -h, --help                           help for run", "      --parallel int  "} {
		if !strings.Contains(out, want) {
			t.Errorf("the help lacks %q:\n%s", want, out)
		}
	}
	c := &cobra.Command{Use: "x"}
	c.Flags().Bool("all", false, "all of them")
	restore := command.PlainBools(c.Flags(), c.Flags())
	restore()
	if c.Flags().Lookup("all").NoOptDefVal != "true" || c.ParseFlags([]string{"--all"}) != nil || c.Flags().Lookup("all").Value.String() != "true" {
		t.Error("a flag is no boolean after its help was printed")
	}
}

// TestHelp_ListsEveryCommandOnce: every command is listed in the help, once.
func TestHelp_ListsEveryCommandOnce(t *testing.T) {
	var listed, there []string
	for _, g := range groups {
		listed = append(listed, g.names...)
	}
	for _, c := range whole().Commands() {
		if !c.Hidden {
			there = append(there, c.Name())
		}
	}
	slices.Sort(listed)
	if twice := slices.Compact(slices.Clone(listed)); len(twice) != len(listed) {
		t.Errorf("a command is listed twice: %q", listed)
	}
	for _, name := range there {
		if !slices.Contains(listed, name) {
			t.Errorf("%s is in no group of the help", name)
		}
	}
}

// each calls do with every command that has no commands below it.
func each(c *cobra.Command, do func(*cobra.Command)) {
	for _, sub := range c.Commands() {
		if sub.Hidden || sub.Name() == "help" || c.Name() == "completion" {
			continue // cobra's own, which say themselves how they are used
		}
		each(sub, do)
	}
	if len(c.Commands()) == 0 {
		do(c)
	}
}

// TestHelp_ExamplesParse: every command has an example, and each example is a command line
// that this program takes.
func TestHelp_ExamplesParse(t *testing.T) {
	count := 0
	each(whole(), func(c *cobra.Command) {
		lines := commandLines(c.Example)
		if len(lines) == 0 {
			t.Errorf("%s has no example", c.CommandPath())
		}
		own := false
		for _, args := range lines {
			count++
			found, err := parse(args)
			if err != nil {
				t.Errorf("%s: %q: %v", c.CommandPath(), args, err)
				continue
			}
			own = own || found.CommandPath() == c.CommandPath()
		}
		if !own {
			t.Errorf("no example of %s calls it", c.CommandPath())
		}
	})
	if count < 50 {
		t.Errorf("only %d examples were found", count)
	}
}

// parse finds the command of a line, reads its flags and has it look at its arguments.
func parse(args []string) (*cobra.Command, error) {
	root := whole()
	c, rest, err := root.Find(args)
	if err != nil {
		return nil, err
	}
	if err := c.ParseFlags(rest); err != nil {
		return nil, err
	}
	return c, c.ValidateArgs(c.Flags().Args())
}

// commandLines are the calls of this program in a text, without its name.
func commandLines(text string) [][]string {
	var out [][]string
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		for words := range commands(words(line)) {
			if len(words) > 2 && words[0] == "kubectl" && (words[1] == "kruise" || words[1] == "-kruise") {
				out = append(out, words[2:])
			}
		}
	}
	return out
}

// commands are the parts of a line between what a shell reads as an operator.
func commands(line []string) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		from := 0
		for i, w := range append(line, "|") {
			if w == "|" || w == "&&" || w == ";" || w == ">" || w == "2>" || w == "<" {
				if i > from && !yield(line[from:i]) {
					return
				}
				from = i + 1
			}
		}
	}
}

// words splits a line as a shell does, as far as examples need it.
func words(line string) []string {
	var out []string
	var word strings.Builder
	var quote rune
	begun := false
	for _, r := range strings.TrimSpace(line) {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && r == '#' && !begun:
			return out
		case quote == 0 && (r == ' ' || r == '\t'):
			if begun {
				out = append(out, word.String())
			}
			begun = false
			word.Reset()
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	if begun {
		out = append(out, word.String())
	}
	return out
}

func TestCommandLines_SplitsExamples(t *testing.T) {
	got := commandLines("  # a comment\n  kubectl kruise get -o 'a b' \\\n    x | kubectl kruise render -f - > out # why\n  kubectl get pods\n")
	if diff := cmp.Diff([][]string{{"get", "-o", "a b", "x"}, {"render", "-f", "-"}}, got); diff != "" {
		t.Error(diff)
	}
}
