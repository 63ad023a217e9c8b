package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
)

// task is a heading of the help with the commands that do it, in this order: those that a newcomer needs
// with what they do, the others by their names.
type task struct {
	title      string
	main, also []string
}

// tasks are what people want to do. A command of none is one of kubectl's own.
var tasks = []task{
	{
		"Render and review",
		[]string{"render", "lint", "diff", "plan"},
		[]string{"simulate", "explain", "convert", "inventory", "schema", "argocd", "fn", "create"},
	},
	{
		"Roll out",
		[]string{"apply", "rollout", "restart", "migrate"},
		[]string{"set", "scale", "scaledown", "autoscale", "pull", "protect", "unprotect", "distribute"},
	},
	{
		"Look and repair",
		[]string{"why", "get", "ui", "doctor"},
		[]string{"describe", "logs", "exec", "debug", "demo", "rbac", "version", "completion"},
	},
}

// passed are the commands that do what kubectl's of the same name do, and that the overview leaves out.
var passed = []string{"delete", "expose", "patch", "replace", "wait", "help", "config", "kustomize", "plugin", "api-resources", "api-versions", "options"}

const (
	// columns is as wide as a screen is at least, and helpWidth as a line of any help is at most.
	columns, helpWidth = 80, 100
	// shortHelp is how many flags a command has at least before --help names some of them only.
	shortHelp = 15
)

// groupHelp shows the commands of the program by task, on one screen, and the flags of each command with
// those that matter first. Boolean flags are listed by their names alone.
func groupHelp(root *cobra.Command) {
	own := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c != root {
			own(c, args)
			return
		}
		_, _ = io.WriteString(c.OutOrStdout(), overview(root)) // a reader that has gone is no matter
	})
	addTemplateFuncs()
	root.PersistentFlags().Bool(helpAll, false, "help with all flags of the command")
	root.PersistentFlags().Lookup(helpAll).Hidden = true
	root.SetHelpTemplate(strings.Replace(root.HelpTemplate(), "{{. | trim", "{{. | prose $ | trim", 1))
	root.SetUsageTemplate(strings.NewReplacer(
		"{{.UseLine}}", "{{.UseLine | use .}}", "{{.NameAndAliases}}", "{{.NameAndAliases | use .}}", "{{.Example}}", "{{.Example | commands .}}",
		"{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}", "{{localFlags . | trimTrailingWhitespaces}}",
		"{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}", "{{globalFlags . | trimTrailingWhitespaces}}",
	).Replace(root.UsageTemplate()))
}

// addTemplateFuncs adds what the templates of the help call: cobra has one list for all commands of a process.
var addTemplateFuncs = sync.OnceFunc(func() {
	cobra.AddTemplateFuncs(map[string]any{
		"localFlags": localFlags, "globalFlags": func(c *cobra.Command) string { return listed(c, c.InheritedFlags()) },
		"use":      func(c *cobra.Command, s string) string { return strings.TrimPrefix(folded("  "+s, "", width(c)), "  ") },
		"prose":    func(c *cobra.Command, s string) string { return folded(joined(s, width(c)), "", width(c)) },
		"commands": func(c *cobra.Command, s string) string { return folded(s, " \\", width(c)) },
	})
})

// width is how wide the help of a command may be where it is shown.
func width(c *cobra.Command) int {
	if n := text.Columns(c.Root().OutOrStdout()); n > 0 {
		return min(n, helpWidth)
	}
	return helpWidth
}

// helpAll is the flag for the help with all flags.
const helpAll = "help-all"

// askHelp has --help-all of a command line be --help, which it stands for with more to say.
func askHelp(root *cobra.Command, args []string) []string {
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}
	i := slices.Index(args[:end], "--"+helpAll)
	if i < 0 {
		return args
	}
	_ = root.PersistentFlags().Set(helpAll, "true") // it is a boolean
	args = slices.Clone(args)
	args[i] = "--help"
	return args
}

func overview(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(root.Long + "\n")
	for _, t := range tasks {
		b.WriteString("\n" + t.title + ":\n")
		for _, name := range t.main {
			if c := commandNamed(root, name); c != nil {
				fmt.Fprintf(&b, "  %-10s %s\n", name, c.Short)
			}
		}
		b.WriteString(wrapped("  also: ", "    ", t.also))
	}
	fmt.Fprintf(&b, "More: \"%[1]s COMMAND --help\"; global flags: \"%[1]s options\"\n", root.CommandPath())
	return b.String()
}

func commandNamed(root *cobra.Command, name string) *cobra.Command {
	i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
	if i < 0 {
		return nil
	}
	return root.Commands()[i]
}

// wrapped are names in lines of a screen.
func wrapped(first, indent string, names []string) string {
	var b strings.Builder
	line := first + names[0]
	for _, name := range names[1:] {
		if len(line)+len(name)+3 > columns {
			b.WriteString(line + ",\n")
			line = indent + name
			continue
		}
		line += ", " + name
	}
	b.WriteString(line + "\n")
	return b.String()
}

// localFlags are the flags of a command in its help: all in their groups, or those that matter and the
// names of the others.
func localFlags(c *cobra.Command) string {
	count := 0
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			count++
		}
	})
	if count < shortHelp {
		return listed(c, c.LocalFlags())
	}
	all := c.Flag(helpAll) != nil && c.Flag(helpAll).Changed
	main, groups := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError), flagGroupsOf(c)
	main.SortFlags = false
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && flagGroup(f.Name) == "" {
			main.AddFlag(f)
		}
	})
	var b strings.Builder
	b.WriteString(listed(c, main))
	if !all {
		b.WriteString("\nMore flags, which --" + helpAll + " explains:\n")
	}
	for _, g := range groups {
		if all {
			b.WriteString("\n" + g.title + ":\n" + listed(c, g.flags))
			continue
		}
		var names []string
		g.flags.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		b.WriteString(wrapped("  "+g.title+": ", "    ", names))
	}
	return b.String()
}

// shownGroup is a group of flags that a command has.
type shownGroup struct {
	title string
	flags *pflag.FlagSet
}

// flagGroupsOf are the groups of which a command has flags, in their order.
func flagGroupsOf(c *cobra.Command) []shownGroup {
	var out []shownGroup
	for _, g := range flagGroups {
		flags := pflag.NewFlagSet(g.title, pflag.ContinueOnError)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && flagGroup(f.Name) == g.title {
				flags.AddFlag(f)
			}
		})
		if flags.HasFlags() {
			out = append(out, shownGroup{g.title, flags})
		}
	}
	return out
}

// listed are flags with what they do.
func listed(c *cobra.Command, flags *pflag.FlagSet) string {
	defer command.PlainBools(flags)()
	return flags.FlagUsagesWrapped(width(c))
}

// joined is a text whose paragraphs are lines of their own, if it has lines that are too long. What is indented, and
// what comes before it, stays as it is.
func joined(text string, width int) string {
	lines := strings.Split(text, "\n")
	if !slices.ContainsFunc(lines, func(l string) bool { return len(l) > width }) {
		return text
	}
	out := lines[:1:1]
	for _, line := range lines[1:] {
		before := &out[len(out)-1]
		if line == "" || line[0] == ' ' || *before == "" || (*before)[0] == ' ' {
			out = append(out, line)
			continue
		}
		*before += " " + line
	}
	return strings.Join(out, "\n")
}

// folded is a text with lines that are too long for a help broken at a space outside of quotes. The lines of a
// command end with the mark, by which a shell reads them as one.
func folded(text, mark string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(body)]
		end, next := mark, indent+"    "
		switch {
		case strings.HasPrefix(body, "#"):
			end, next = "", indent+"# "
		case mark == "":
			next = indent
		}
		for len(line) > width {
			at := lastSpace(line, len(next), width-2-len(end), end != "")
			if at < 0 {
				break
			}
			b.WriteString(line[:at] + end + "\n")
			line = next + line[at+1:]
		}
		b.WriteString(line)
	}
	return b.String()
}

// lastSpace is the place of the last space of a line outside of quotes, after from and not behind to; -1
// for none. A flag of a command is kept together with its value where that is possible.
func lastSpace(line string, from, to int, command bool) int {
	at, flag, quote := -1, -1, rune(0)
	for i, r := range line[:to] {
		switch {
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"') && i > 0 && strings.ContainsRune(" =", rune(line[i-1])):
			quote = r
		case quote == 0 && r == ' ' && i > from:
			if at = i; line[i+1] == '-' {
				flag = i
			}
		}
	}
	if command && flag > 0 {
		return flag
	}
	return at
}
