package complete

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/completion"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/named"
)

const (
	nothing = cobra.ShellCompDirectiveNoFileComp
	typing  = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
)

// Names offers TYPE/NAME of workloads, and NAME behind a TYPE.
func Names(f *factory.Factory) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 && !strings.Contains(args[0], "/") {
			return names(f, args[0], typed), nothing
		}
		kind, name, ok := strings.Cut(typed, "/")
		if ok {
			return prefixed(kind+"/", names(f, kind, name)), nothing
		}
		var out []string
		for _, t := range named.Types() {
			if strings.HasPrefix(t, typed) {
				out = append(out, t+"/")
			}
		}
		return out, typing
	}
}

// Value offers TYPE/NAME of workloads for a flag.
func Value(f *factory.Factory) cobra.CompletionFunc {
	offer := Names(f)
	return func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return offer(c, nil, typed)
	}
}

// After offers Names for all arguments but the first.
func After(f *factory.Factory) cobra.CompletionFunc {
	offer := Names(f)
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, nothing
		}
		return offer(c, args[1:], typed)
	}
}

// Of offers TYPE/NAME and NAME of one type, which stands in a group.
func Of(f *factory.Factory, word, group string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		plural := word + "s." + group
		if len(args) > 0 && !strings.Contains(args[0], "/") {
			return completion.CompGetResource(kubectl.Factory(f), plural, typed), nothing
		}
		kind, name, ok := strings.Cut(typed, "/")
		if !ok {
			return []string{word + "/"}, typing
		}
		return prefixed(kind+"/", completion.CompGetResource(kubectl.Factory(f), plural, name)), nothing
	}
}

// names are those of all kinds that a type can mean.
func names(f *factory.Factory, kind, typed string) []string {
	n, err := named.Parse(kind + "/x")
	if err != nil {
		return completion.CompGetResource(kubectl.Factory(f), kind, typed)
	}
	var out []string
	for _, k := range n.Kinds {
		out = append(out, completion.CompGetResource(kubectl.Factory(f), named.Plural(k)+"."+k.Group, typed)...)
	}
	return out
}

// jobs offers what jobs are made from.
func jobs(f *factory.Factory) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		switch kind, name, ok := strings.Cut(typed, "/"); {
		case !ok:
			return []string{"acj/", "cronjob/"}, typing
		case kind == "cronjob":
			return prefixed("cronjob/", completion.CompGetResource(kubectl.Factory(f), "cronjobs", name)), nothing
		default:
			return prefixed(kind+"/", completion.CompGetResource(kubectl.Factory(f), "advancedcronjobs.apps.kruise.io", name)), nothing
		}
	}
}
