package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// whole is the command tree as kubectl calls it.
func whole() *cobra.Command {
	defer forget()
	return newRoot(factory.New(factory.Streams{}), "kubectl-kruise")
}

// TestHelp_FitsOneScreen: --help is one screen of 24 lines, the prompt below it included, and 80 columns.
func TestHelp_FitsOneScreen(t *testing.T) {
	code, out, _ := call(t.Context(), t, "", "--help")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if code != 0 || len(lines) > 23 {
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

// TestHelp_OfEachVerbIsReadable: the help of a verb explains at most 16 flags, and no line of it is wider than
// 100 columns; --help-all explains every flag, and --help names each.
func TestHelp_OfEachVerbIsReadable(t *testing.T) {
	each(whole(), func(c *cobra.Command) {
		path := strings.Fields(c.CommandPath())[2:]
		_, short, _ := call(t.Context(), t, "", append(path, "--help")...)
		_, long, _ := call(t.Context(), t, "", append(path, "--help-all")...)
		for line := range strings.Lines(short + long) {
			if line = strings.TrimSuffix(line, "\n"); len([]rune(line)) > helpWidth && !longWord.MatchString(line) {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), len(line), line)
			}
		}
		own, _, _ := strings.Cut(short, "\nGlobal Flags:")
		if n := len(flagLine.FindAllString(own, -1)); n > 16 {
			t.Errorf("%s: its help explains %d flags", c.CommandPath(), n)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			if !regexp.MustCompile("--" + f.Name + `\b`).MatchString(short) {
				t.Errorf("%s: --help does not name --%s", c.CommandPath(), f.Name)
			}
			if !regexp.MustCompile(`(?m)^ .*--` + f.Name + `[ \[].*\w`).MatchString(long) {
				t.Errorf("%s: --help-all does not explain --%s", c.CommandPath(), f.Name)
			}
		})
	})
}

// longWord is what cannot be broken.
var longWord = regexp.MustCompile(`\S{40}|'.{60,}'`)

var flagLine = regexp.MustCompile(`(?m)^  (-\w, |    )--`)

// TestFlagGroups_AreOfFlags: each name of the table is that of a flag, once.
func TestFlagGroups_AreOfFlags(t *testing.T) {
	there := map[string]bool{}
	each(whole(), func(c *cobra.Command) { c.LocalFlags().VisitAll(func(f *pflag.Flag) { there[f.Name] = true }) })
	seen := map[string]bool{}
	for _, g := range flagGroups {
		for _, name := range g.names {
			if !there[name] || seen[name] {
				t.Errorf("%s: --%s is no flag, or is named twice", g.title, name)
			}
			seen[name] = true
		}
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
	_, out, _ := call(t.Context(), t, "", "rollout", "run", "--help-all")
	for _, want := range []string{"\n      --detach +run the rollout", "\n  -h, --help +help for run", "\n      --parallel int  "} {
		if !regexp.MustCompile(want).MatchString(out) {
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

// TestHelp_ListsEveryCommandOnce: every command is listed in the help, or known to be one of kubectl's, once.
func TestHelp_ListsEveryCommandOnce(t *testing.T) {
	listed, there := slices.Clone(passed), []string(nil)
	for _, t := range tasks {
		listed = append(append(listed, t.main...), t.also...)
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
			t.Errorf("%s is in no list of the help", name)
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
