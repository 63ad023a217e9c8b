package command

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// NoSuchCommand is for commands that have commands below them and take no argument: an
// argument is a command that does not exist. The hint has those with a similar name.
func NoSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := seeHelp(c)
	if below := commandBelow(c, args[0]); below != nil {
		hint = "did you mean '" + below.CommandPath() + "'?"
	} else if near := NearCommands(c, args[0]); len(near) > 0 {
		hint = didYouMean(near)
	}
	return UnknownCommand(c, args[0], hint)
}

// UnknownCommand is the error of a word below c, in kubectl's words.
func UnknownCommand(c *cobra.Command, word, hint string) error {
	if c.HasParent() {
		return Usagef(hint, "unknown command %q", word)
	}
	return Usagef(hint, "unknown command %q for %q", word, c.CommandPath())
}

// commandBelow is the command of this name among those of the groups below c, such as
// rollout promote; nil where there is none, or several.
func commandBelow(c *cobra.Command, name string) *cobra.Command {
	var found *cobra.Command
	for _, group := range c.Commands() {
		for _, below := range group.Commands() {
			if below.Name() != name || !below.IsAvailableCommand() || !group.IsAvailableCommand() {
				continue
			}
			if found != nil {
				return nil
			}
			found = below
		}
	}
	return found
}

// NearCommands are the commands below c whose names are similar to a word.
func NearCommands(c *cobra.Command, word string) []string {
	// cobra compares by this distance, which commands do not inherit.
	c.SuggestionsMinimumDistance = maxDistance
	return c.SuggestionsFor(word)
}

// FlagError makes an error of usage from pflag's error about the flags of c; words are all
// that follow the name of the program. The hint has flags with a similar name. Where the
// flag is unknown because the command in front of it is, it reports the command.
func FlagError(c *cobra.Command, err error, words []string) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return Usagef(seeHelp(c), "%w", err)
	}
	if wrong := noSuchCommandIn(c, words); wrong != nil {
		return wrong
	}
	name := unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		name = short // -image is a flag with one dash
	}
	if near := nearFlags(c, name); len(near) > 0 {
		return Usagef(didYouMean(near), "%w", err)
	}
	return Usagef(seeHelp(c), "%w", err)
}

func seeHelp(c *cobra.Command) string { return "see '" + c.CommandPath() + " --help'" }

func didYouMean(names []string) string { return "did you mean " + strings.Join(names, " or ") + "?" }

// noSuchCommandIn is the error of the first word that a command with commands below it
// refuses, nil where there is none. A word behind an unknown flag may be its value: it
// counts only where a command has a similar name.
func noSuchCommandIn(c *cobra.Command, words []string) error {
	if !c.HasAvailableSubCommands() {
		return nil
	}
	at, behindUnknown := c.Root(), false
	for i := 0; i < len(words) && words[i] != "--"; i++ {
		word := words[i]
		if strings.HasPrefix(word, "-") {
			flag := flagOf(at, word)
			if behindUnknown = flag == nil; flag != nil && flag.NoOptDefVal == "" && !strings.Contains(word, "=") {
				i++
			}
			continue
		}
		if below := commandOf(at, word); below != nil {
			at, behindUnknown = below, false
			continue
		}
		if at != c || behindUnknown && len(NearCommands(c, word)) == 0 {
			return nil
		}
		return c.ValidateArgs([]string{word})
	}
	return nil
}

func commandOf(c *cobra.Command, word string) *cobra.Command {
	for _, below := range c.Commands() {
		if below.Name() == word || below.HasAlias(word) {
			return below
		}
	}
	return nil
}

// flagOf is the flag that a word sets, nil for one that the command does not have.
func flagOf(c *cobra.Command, word string) *pflag.Flag {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	for _, flags := range []*pflag.FlagSet{c.Flags(), c.InheritedFlags()} {
		if flag := flags.Lookup(name); flag != nil && strings.HasPrefix(word, "--") {
			return flag
		}
		if len(name) == 1 && !strings.HasPrefix(word, "--") && flags.ShorthandLookup(name) != nil {
			return flags.ShorthandLookup(name)
		}
	}
	return nil
}

// maxDistance is how many letters similar names differ by, at most.
const maxDistance = 2

// nearFlags are the flags of a command, with their dashes, whose names are the most similar
// to a word: at most three.
func nearFlags(c *cobra.Command, word string) []string {
	const most, shortest = 3, 3
	found := map[int][]string{}
	add := func(flag *pflag.Flag) {
		d := tree.EditDistance(word, flag.Name)
		if len(word) >= shortest && strings.HasPrefix(flag.Name, word) {
			d = min(d, maxDistance)
		}
		if d <= maxDistance && 2*d < len(word) && flag.Deprecated == "" {
			found[d] = append(found[d], "--"+flag.Name)
		}
	}
	c.Flags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	for d := range maxDistance + 1 {
		if names := found[d]; len(names) > 0 {
			slices.Sort(names)
			names = slices.Compact(names)
			return names[:min(most, len(names))]
		}
	}
	return nil
}
