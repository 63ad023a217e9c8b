package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/input"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

const inventoryLong = `Export the cluster facts that rendering needs: the version of the server,
namespaces and nodes with their labels and taints, the sizes of subsets, stored
SidecarSet revisions, records of controllers, and objects that copies would conflict with.

The output is a List for render --with that can be committed and reviewed: sorted,
without times, resource versions or addresses, and unchanged as long as the cluster
is unchanged. Only fields that rendering reads are in it. Secrets are not read, and
stored revisions with values of environment variables are left out, unless
--include-env is given.

With -f or -k it has the facts that rendering these files needs, as render --live would
read them. Without, it has all facts that rendering can need in the namespace of -n
(or of the context), or with -A in all namespaces.

Objects that you may not read are named in a warning and left out.`

const inventoryExample = `  # what these files need
  kubectl kruise inventory -f manifests/ -R --out facts.yaml
  kubectl kruise render -f manifests/ -R --with facts.yaml

  # everything but nodes
  kubectl kruise inventory -A --skip-kinds Node > facts.yaml

  # only the facts about the server
  kubectl kruise inventory --kinds ClusterFacts`

type inventoryOptions struct {
	factory *factory.Factory

	input.ManifestFlags

	all      bool
	selector string

	kinds, skipped []string
	env            bool

	output     string
	outputFile string
	strict     bool
}

// NewInventory returns the verb.
func NewInventory(f *factory.Factory) *cobra.Command {
	o := &inventoryOptions{factory: f}
	c := &cobra.Command{
		Use:     "inventory [-f FILE | -k DIR]",
		Short:   "Export the cluster facts that rendering needs",
		Long:    inventoryLong,
		Example: inventoryExample,
		Args:    command.NoArgs("name files with -f, a kustomization with -k"),
		RunE:    func(c *cobra.Command, _ []string) error { return o.run(c.Context()) },
	}
	fl := c.Flags()
	o.Add(c, "file or directory with what will be rendered; - is standard input", "directory with the kustomization that will be rendered")
	fl.BoolVarP(&o.all, "all-namespaces", "A", false, "read all namespaces")
	fl.StringVarP(&o.selector, "selector", "l", "", "label selector of workloads, pods and the objects that act on them")
	fl.StringSliceVar(&o.kinds, "kinds", nil, "kinds to write (default: all)")
	fl.StringSliceVar(&o.skipped, "skip-kinds", nil, "kinds to leave out; they are not read")
	fl.BoolVar(&o.env, "include-env", false, "also write stored revisions that hold values of environment variables")
	fl.StringVarP(&o.output, "output", "o", "yaml", "output format: yaml or json")
	fl.StringVar(&o.outputFile, "out", "", "file to write")
	fl.BoolVar(&o.strict, "strict", false, "fail and write nothing if objects cannot be read")
	completeInventory(c)
	return c
}

// completeInventory registers what the shell may offer.
func completeInventory(c *cobra.Command) {
	for flag, values := range map[string][]string{"output": {"yaml", "json"}, "kinds": clusterread.FactKinds(), "skip-kinds": clusterread.FactKinds()} {
		// The error says that the flag does not exist, which it does.
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	_ = c.MarkFlagFilename("out", "yaml", "yml", "json")
}

// run is the whole story: read, leave out, write.
func (o *inventoryOptions) run(ctx context.Context) error {
	if err := o.validate(); err != nil {
		return err
	}
	scope, err := o.scope(ctx)
	if err != nil {
		return err
	}
	work := o.factory.Working("reading the cluster")
	defer work.Stop()
	cluster, err := clusterread.Connect(o.factory)
	if err != nil {
		return err
	}
	res, err := clusterread.ReadFacts(work.Reported(ctx), cluster, scope)
	if err != nil {
		return err
	}
	facts, without := o.shareable(res)
	for _, s := range without {
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "warning: the inventory is without %s\n", s)
	}
	if o.strict && len(without) > 0 {
		return &resource.Error{Err: errors.New("the inventory is not complete, and --strict was given"), Hint: "the warnings say what is missing; --skip-kinds leaves a kind out"}
	}
	return o.write(facts)
}

// scope describes what to read.
func (o *inventoryOptions) scope(ctx context.Context) (clusterread.FactScope, error) {
	scope := clusterread.FactScope{Selector: o.selector, Kinds: o.kinds, WithoutKinds: o.skipped, Namespace: o.factory.Namespace()}
	if o.Given() {
		var undecided []*resource.Error
		stream, err := load.Load(ctx, o.Load(load.Options{Stdin: o.factory.Streams.In, Namespace: scope.Namespace, Undecided: &undecided}))
		input.WarnUndecided(o.factory.Streams.Err, undecided)
		scope.Stream = stream
		return scope, err
	}
	if o.all {
		scope.Namespace = ""
		return scope, nil
	}
	namespace, err := o.factory.NamespaceOrDefault()
	scope.Namespace = namespace
	return scope, err
}

func (o *inventoryOptions) write(facts []*resource.Resource) error {
	text, err := encodeFacts(facts, o.output)
	if err != nil {
		return err
	}
	if o.outputFile != "" {
		return emit.File(o.outputFile, text)
	}
	_, err = o.factory.Streams.Out.Write(text)
	return err
}

func (o *inventoryOptions) validate() error {
	switch {
	case o.Recursive && len(o.Files) == 0:
		return command.Usagef("name a directory with -f", "-R without -f")
	case o.all && o.Given():
		return command.Usagef("files name their own namespaces", "-A excludes -f and -k")
	case o.all && o.factory.Namespace() != "":
		return command.Usagef("leave one of them out", "-A and -n exclude each other")
	case o.output != "yaml" && o.output != "json":
		return command.Usagef("one of: yaml, json", "--output: unknown value %q", o.output)
	}
	if err := o.Complete(); err != nil {
		return err
	}
	if err := clusterread.ParseSelector(o.selector); err != nil {
		return command.Usagef("such as app=web,tier!=test", "--selector: %v", err)
	}
	for flag, kinds := range map[string][]string{"kinds": o.kinds, "skip-kinds": o.skipped} {
		for _, kind := range kinds {
			if !slices.ContainsFunc(clusterread.FactKinds(), func(k string) bool { return strings.EqualFold(kind, k) }) {
				return command.Usagef("one or more of: "+strings.Join(clusterread.FactKinds(), ", "), "--%s: %q is not a kind of facts", flag, kind)
			}
		}
	}
	return nil
}

// shareable is what may be committed, and what the inventory is without: what
// could not be read, and revisions which may hold a password.
func (o *inventoryOptions) shareable(res *clusterread.Facts) (facts []*resource.Resource, without []string) {
	without = res.Skipped
	for _, r := range res.Context {
		if !o.env && r.Is("apps", "ControllerRevision") && isEnvironment(r.Node()) {
			without = append(without, "SidecarSet revision "+r.Name()+": it holds values of environment variables, which only --include-env writes down")
			continue
		}
		facts = append(facts, r)
	}
	return facts, without
}

// isEnvironment reports whether a container anywhere in n has a variable with a
// value of its own.
func isEnvironment(n *tree.Node) bool {
	for _, variable := range tree.Items(tree.Get(n, "env")) {
		if tree.StrAt(variable, "value") != "" {
			return true
		}
	}
	found := false
	tree.Each(n, func(_, value *tree.Node) { found = found || isEnvironment(value) })
	return found || slices.ContainsFunc(tree.Items(n), isEnvironment)
}

// inventoryHeader describes what the file is. It has no date: the same
// cluster gives the same bytes.
const inventoryHeader = "# Facts of a cluster, for kubectl kruise render --with. Written by kubectl kruise\n# inventory; generate it again instead of editing it.\n"

// encodeFacts returns the List.
func encodeFacts(facts []*resource.Resource, format string) ([]byte, error) {
	items := make([]*tree.Node, len(facts))
	for i, r := range facts {
		items[i] = identityFirst(r.Node())
	}
	list := tree.Map("apiVersion", "v1", "kind", "List", "items", tree.Seq(items...))
	if format == "json" {
		text, err := json.MarshalIndent(tree.Value(list), "", "  ")
		return append(text, '\n'), err
	}
	text, err := emit.Tree(list, stage.Limits{})
	return append([]byte(inventoryHeader), text...), err
}

// identityFirst puts a fact's keys in the order that people expect.
func identityFirst(n *tree.Node) *tree.Node {
	out := tree.Map()
	for _, key := range []string{"apiVersion", "kind", "metadata"} {
		if v := tree.Get(n, key); v != nil {
			tree.Set(out, key, v)
		}
	}
	tree.Each(n, func(key, value *tree.Node) {
		if tree.Get(out, key.Value) == nil {
			tree.Set(out, key.Value, value)
		}
	})
	return out
}
