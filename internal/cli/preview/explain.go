package preview

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	kubectlexplain "k8s.io/kubectl/pkg/cmd/explain"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const explainLong = `Show the documentation of a type and its fields, as kubectl explain does. Kruise's kinds
are documented without a cluster that has them, too, as Kruise's main branch has them.
With the ID of a finding of render, or of a rule of lint, it says what that means and what
to do. Whether a change can be made in place is in "kubectl kruise plan" and "kubectl
kruise set --explain".`

const explainExample = `  # the fields of a CloneSet, and one of them
  kubectl kruise explain cloneset
  kubectl kruise explain cloneset.spec.updateStrategy

  # what a finding means
  kubectl kruise explain cloneset/lifecycle`

// NewExplain returns the verb.
func NewExplain(f *factory.Factory) *cobra.Command {
	types := kubectl.Wrap(kubectlexplain.NewCmdExplain("kubectl kruise", kubectl.Factory(f), kubectl.Streams(f)))
	c := &cobra.Command{
		Use: "explain (TYPE[.FIELD] | ID)", Short: "Document a type and its fields, or a finding", Long: explainLong, Example: explainExample,
		Args:              typeOrQuestion,
		ValidArgsFunction: kubectl.Names(f),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Usagef("for instance cloneset, or cloneset.spec.updateStrategy", "You must specify the type of resource to explain")
			}
			if strings.Contains(args[0], "/") {
				return explainID(f.Streams.Out, args[0])
			}
			err := kubectl.Err(types.RunE(c, args))
			if err == nil || strings.Contains(err.Error(), "does not exist") {
				return err // the cluster knows the kind, and has no such field
			}
			version, _ := c.Flags().GetString("api-version")
			recursive, _ := c.Flags().GetBool("recursive")
			depth, _ := c.Flags().GetInt("max-depth")
			if known, e := explainKnown(f, args[0], version, recursive, depth); known {
				return e
			}
			return err
		},
	}
	c.Flags().AddFlagSet(types.Flags())
	command.Offer(c, "output", "plaintext", "plaintext-openapiv2")
	c.AddCommand(newInPlace(f))
	return c
}

// typeOrQuestion takes one word, which is no misspelt question.
func typeOrQuestion(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case len(command.NearCommands(c, args[0])) > 0:
		return command.NoSuchCommand(c, args)
	case len(args) > 1:
		return command.Usagef("'kubectl kruise explain TYPE.FIELD'", "want one type, got %d arguments", len(args))
	}
	return nil
}

const inPlaceLong = `Explain what a change of a pod template does to running pods: in place, metadata
only, recreate, or not allowed; which fields decide it; and which containers
restart.

OLD and NEW are files (- is standard input) with one workload each; if they
have several, TYPE/NAME selects one. No cluster is contacted; what Kruise would
refuse is a warning. Values that are likely to be secret are shown as ***.`

const inPlaceExample = `  # between the branch and the working copy
  git show main:web.yaml | kubectl kruise explain inplace - web.yaml

  # one of several workloads
  kubectl kruise explain inplace old/ new/ cloneset/web

  # for scripts
  kubectl kruise explain inplace old.yaml new.yaml -o json | jq -r .mode`

type inPlace struct {
	factory *factory.Factory

	old, updated string
	name         *resourcearg.Name
	given        installation.GateFlags
	output       string
	verbose      bool

	gates installation.Gates
}

var inPlaceOutputs = []string{"text", "json", "yaml"}

func newInPlace(f *factory.Factory) *cobra.Command {
	o := &inPlace{factory: f}
	c := &cobra.Command{
		Hidden:  true, // 'plan' and 'set --explain' answer it too
		Use:     "inplace OLD NEW [TYPE/NAME]",
		Aliases: []string{"in-place"},
		Short:   "Explain whether a change can be made in place",
		Long:    inPlaceLong,
		Example: inPlaceExample,
		RunE:    completeAndRun(o.complete, o.run),
	}
	c.Flags().StringVarP(&o.output, "output", "o", inPlaceOutputs[0], "output format: "+strings.Join(inPlaceOutputs, ", "))
	c.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "show values in full")
	o.given.Add(c, "the newest")
	command.Offer(c, "output", inPlaceOutputs...)
	return c
}

func (o *inPlace) complete(args []string) error {
	if len(args) != 2 && len(args) != 3 {
		return command.Usagef("'kubectl kruise explain inplace OLD NEW [TYPE/NAME]'", "want two files, got %d", len(args))
	}
	o.old, o.updated = args[0], args[1]
	if err := command.OneStdin(o.old, o.updated); err != nil {
		return err
	}
	if err := command.OneOf("output", o.output, inPlaceOutputs...); err != nil {
		return err
	}
	if len(args) == 3 {
		name, err := resourcearg.Parse(args[2])
		if err != nil {
			return err
		}
		o.name = &name
	}
	if err := o.given.Complete(); err != nil {
		return err
	}
	var err error
	o.gates, err = o.given.Of(kruise.Release{})
	return err
}

func (o *inPlace) run(ctx context.Context) error {
	before, old, err := o.read(ctx, o.old)
	if err != nil {
		return err
	}
	after, updated, err := o.read(ctx, o.updated)
	if err != nil {
		return err
	}
	if old.Group != updated.Group || old.Kind != updated.Kind {
		return command.Usagef("compare two states of the same kind", "%s is a %s of %s, %s a %s of %s", o.old, old.Kind, old.Group, o.updated, updated.Kind, updated.Group)
	}
	o.warn(before, after)
	answer := view.Explained(old, updated, o.gates.Gates)
	for _, policy := range rules.PoliciesOf(updated.Object) {
		answer.Add(rules.Change(old, updated, policy, o.gates.Gates))
	}
	w := text.Buffered(o.factory.Streams.Out)
	if err := o.write(w, answer); err != nil {
		return err
	}
	return w.Flush()
}

// warn describes what would be refused: such an object is explained as if it had not been written
// the fields that are wrong.
func (o *inPlace) warn(before, after *resource.Resource) {
	var faults resource.Errors
	faults.Add(planning.Admit(before, after, o.gates.Release))
	for _, fault := range faults {
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "warning: would be refused: %v\n", fault)
	}
}

func (o *inPlace) write(w io.Writer, answer view.InPlace) error {
	switch o.output {
	case "json":
		return view.JSON(w, answer)
	case "yaml":
		return view.YAML(w, answer)
	}
	return answer.Text(w, o.factory.OutStyle(o.verbose))
}

// read returns the workload that a file holds.
func (o *inPlace) read(ctx context.Context, file string) (*resource.Resource, *cluster.Workload, error) {
	stream, err := load.Load(ctx, load.Options{Files: []string{file}, Recursive: true, Stdin: o.factory.Streams.In, Namespace: o.factory.Namespace()})
	if err != nil {
		return nil, nil, err
	}
	r, err := resourcearg.Pick(stream, o.name, o.factory.Namespace(), file)
	if err != nil {
		return nil, nil, err
	}
	w, err := cluster.ReadWorkload(r.Node())
	return r, w, r.Wrap(err, "")
}
