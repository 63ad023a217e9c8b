// Package complete is what the shell offers for arguments and flags, asked of the
// cluster: names, containers, revisions, nodes. Each offer costs two requests at most,
// beside what kubectl keeps of the server's types.
package complete

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/kubectl/pkg/util/completion"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
)

// Flags offers values for flags that say by their names what they take, where the command
// that args complete, and those above it, offer nothing of their own.
func Flags(root *cobra.Command, f *factory.Factory, args []string) {
	completion.SetFactoryForCompletion(kubectl.Factory(f))
	offers := offers(f)
	add := func(c *cobra.Command, flags *pflag.FlagSet) {
		flags.VisitAll(func(flag *pflag.Flag) {
			if offer := offers[flag.Name]; offer != nil && flag.Value.Type() != "bool" {
				// An error says that there is an offer, which stays.
				_ = c.RegisterFlagCompletionFunc(flag.Name, offer)
			}
		})
	}
	c, _, err := root.Find(args[:max(len(args)-1, 0)])
	if err != nil {
		c = root
	}
	add(root, root.PersistentFlags())
	for ; c != nil; c = c.Parent() {
		add(c, c.NonInheritedFlags())
	}
}

// offers are what flags of these names take, whatever command they stand on.
func offers(f *factory.Factory) map[string]cobra.CompletionFunc {
	containers, revisions, pods := containers(f), revisions(f), resources(f, "pods")
	namespaces, nodeLabels := resources(f, "namespaces"), nodeLabels(f)
	fixed := func(values ...string) cobra.CompletionFunc { return cobra.FixedCompletions(values, nothing) }
	return map[string]cobra.CompletionFunc{
		"color": fixed("auto", "always", "never"), "output": formats, "image": images(f),
		"steps": fixed("1,100%", "1,50%,100%", "1,10%,50%,100%"), "to": fixed("10%", "50%", "100%"),
		"cascade": fixed("background", "orphan", "foreground"), "validate": fixed("strict", "warn", "ignore"),
		"image-pull-policy": fixed("Always", "IfNotPresent", "Never"), "protocol": fixed("TCP", "UDP", "SCTP"),
		"session-affinity": fixed("None", "ClientIP"), "override-type": fixed("json", "merge", "strategic"),
		"namespace": namespaces, "state-namespace": namespaces, "include": namespaces, "exclude": namespaces,
		"context": completion.ContextCompletionFunc, "cluster": completion.ClusterCompletionFunc, "user": completion.UserCompletionFunc,
		"container": containers, "containers": containers, "sidecar": containers, "target": containers,
		"pod": pods, "pods": pods,
		"to-revision": revisions, "revision": revisions,
		"node-names": resources(f, "nodes"), "nodes": nodeLabels, "node-selector": nodeLabels,
		"src-name": resources(f, "deployments"), "dst-name": resources(f, "clonesets.apps.kruise.io"),
		"from":            jobs(f),
		"configmap":       resources(f, "configmaps"),
		"secret":          resources(f, "secrets"),
		"service-account": resources(f, "serviceaccounts"),
		"dry-run":         fixed("none", "client", "server"),
	}
}

// resources offers names of a type, behind those of a list that stand there.
func resources(f *factory.Factory, kind string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		return prefixed(before, completion.CompGetResource(kubectl.Factory(f), kind, typed[len(before):])), cobra.ShellCompDirectiveNoFileComp
	}
}

func prefixed(before string, names []string) []string {
	for i := range names {
		names[i] = before + names[i]
	}
	return names
}

// formats offers what kubectl's commands print; they have a flag --template beside it. Of
// other commands, --output is a file.
func formats(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	if c.Flags().Lookup("template") == nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	all := []string{"json", "yaml", "kyaml", "name", "go-template", "go-template-file", "template", "templatefile", "jsonpath", "jsonpath-as-json", "jsonpath-file"}
	return all, nothing
}
