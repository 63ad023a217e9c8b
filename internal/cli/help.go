package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
)

// group is a heading of the help with the commands below it, in this order.
type group struct {
	title string
	// known indicates that kubectl has such commands: their names are enough.
	known bool
	names []string
}

// groups are kubectl's, and what it has no heading for. A command of no group is not
// listed anywhere: a test prevents that.
var groups = []group{
	{"Basic commands, for Kruise's kinds and Kubernetes' own", true, []string{
		"create", "get", "describe", "expose", "set", "scale", "scaledown", "autoscale", "delete", "logs", "exec", "debug", "patch", "replace", "wait",
		"protect", "unprotect", "distribute",
	}},
	{"Deploy commands", false, []string{"rollout", "apply", "plan", "simulate", "demo", "ui", "restart", "pull", "migrate"}},
	{"Render and GitOps commands", false, []string{"render", "diff", "lint", "convert", "inventory", "schema", "argocd", "fn"}},
	{"Troubleshooting commands", false, []string{"why", "doctor", "explain", "spread"}},
	{"Settings and other commands", true, []string{
		"rbac", "version", "completion", "options", "config", "kustomize", "plugin", "api-resources", "api-versions", "help",
	}},
}

// columns is as wide as a screen is at least.
const columns = 80

// groupHelp shows the commands of the program in groups, on one screen. The help of each
// command is that of cobra, with the names of boolean flags alone.
func groupHelp(root *cobra.Command) {
	own := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c != root {
			own(c, args)
			return
		}
		_, _ = io.WriteString(c.OutOrStdout(), overview(root)) // a reader that has gone is no matter
	})
	usage := root.UsageFunc()
	root.SetUsageFunc(func(c *cobra.Command) error {
		defer command.PlainBools(c.LocalFlags(), c.InheritedFlags())()
		return usage(c)
	})
}

func overview(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(root.Long + "\n")
	for _, g := range groups {
		b.WriteString("\n" + g.title + ":\n")
		if list := g.commands(root); g.known {
			b.WriteString(wrapped(list))
		} else {
			for _, c := range list {
				fmt.Fprintf(&b, "  %-11s %s\n", c.Name(), c.Short)
			}
		}
	}
	fmt.Fprintf(&b, "\nUse \"%[1]s COMMAND --help\" for more about a command,\nand \"%[1]s options\" for the global flags.\n", root.CommandPath())
	return b.String()
}

// commands are those of the group that there are.
func (g group) commands(root *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, name := range g.names {
		i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name && !c.Hidden })
		if i >= 0 {
			out = append(out, root.Commands()[i])
		}
	}
	return out
}

// wrapped are names in lines of a screen.
func wrapped(list []*cobra.Command) string {
	var b strings.Builder
	line := " "
	for i, c := range list {
		word := " " + c.Name()
		if i < len(list)-1 {
			word += ","
		}
		if len(line)+len(word) >= columns {
			b.WriteString(line + "\n")
			line = " "
		}
		line += word
	}
	b.WriteString(line + "\n")
	return b.String()
}
