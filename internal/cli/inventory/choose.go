package inventory

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func (o *options) validate() error {
	switch {
	case len(o.files) > 0 && o.kustomize != "":
		return command.Usagef("a kustomization names its own files", "-f and -k exclude each other")
	case o.recursive && len(o.files) == 0:
		return command.Usagef("name a directory with -f", "-R without -f")
	case o.all && len(o.files)+len(o.kustomize) > 0:
		return command.Usagef("files name their own namespaces", "-A excludes -f and -k")
	case o.all && o.factory.Namespace() != "":
		return command.Usagef("leave one of them out", "-A and -n exclude each other")
	case o.output != "yaml" && o.output != "json":
		return command.Usagef("one of: yaml, json", "--output: unknown value %q", o.output)
	}
	if err := o.root.Complete(o.kustomize); err != nil {
		return err
	}
	if err := clusterread.ParseSelector(o.selector); err != nil {
		return command.Usagef("such as app=web,tier!=test", "--selector: %v", err)
	}
	for flag, kinds := range map[string][]string{"kinds": o.kinds, "skip-kinds": o.skipped} {
		for _, kind := range kinds {
			if !slices.ContainsFunc(clusterread.FactKinds(), same(kind)) {
				return command.Usagef("one or more of: "+strings.Join(clusterread.FactKinds(), ", "), "--%s: %q is not a kind of facts", flag, kind)
			}
		}
	}
	return nil
}

func same(kind string) func(string) bool {
	return func(other string) bool { return strings.EqualFold(kind, other) }
}

func (o *options) wanted(kind string) bool {
	return (len(o.kinds) == 0 || slices.ContainsFunc(o.kinds, same(kind))) && !slices.ContainsFunc(o.skipped, same(kind))
}

// shareable is what may be committed, and what the inventory is without: what
// could not be read, and revisions in which somebody may have written a password.
func (o *options) shareable(res *clusterread.Facts) (facts []*resource.Resource, without []string) {
	without = res.Skipped
	for _, r := range res.Context {
		if !o.env && r.Is("apps", "ControllerRevision") && environment(r.Node()) {
			without = append(without, "SidecarSet revision "+r.Name()+": it holds values of environment variables, which only --include-env writes down")
			continue
		}
		facts = append(facts, r)
	}
	return facts, without
}

// environment reports whether a container anywhere in n has a variable with a
// value of its own.
func environment(n *tree.Node) bool {
	for _, variable := range tree.Items(tree.Get(n, "env")) {
		if tree.StrAt(variable, "value") != "" {
			return true
		}
	}
	found := false
	tree.Each(n, func(_, value *tree.Node) { found = found || environment(value) })
	return found || slices.ContainsFunc(tree.Items(n), environment)
}
