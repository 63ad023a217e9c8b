package create

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/fields"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/submit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// form is a command that makes one object of a kind.
type form struct {
	factory *factory.Factory
	sending *submit.CreateOptions
	set     *fields.Set

	apiVersion, kind string
	// typed is an empty object, to read the fields into.
	typed func() any
	// begin makes what flags then fill; nil makes an object without a spec.
	begin func(ctx context.Context, o *tree.Node, words []string) error
	// finish looks at the filled object; nil lets it be.
	finish func(ctx context.Context, o *tree.Node) error
	// loose objects hold fields of a template that a newer server may know.
	loose bool
}

// newForm binds a kind of Kruise to a command, which has its words already.
func newForm(f *factory.Factory, c *cobra.Command, kind string, typed func() any, rows []fields.Field) *form {
	group := kruise.Group
	if kind == kruise.KindPodUnavailableBudget {
		group = kruise.PolicyGroup
	}
	return bind(f, c, group+"/"+kruise.V1beta1, kind, typed, rows)
}

// newJob is the same for Kubernetes' own Job.
func newJob(f *factory.Factory, c *cobra.Command, rows []fields.Field) *form {
	return bind(f, c, batchv1.SchemeGroupVersion.String(), "Job", func() any { return &batchv1.Job{} }, rows)
}

func bind(f *factory.Factory, c *cobra.Command, apiVersion, kind string, typed func() any, rows []fields.Field) *form {
	o := &form{factory: f, sending: submit.NewCreateOptions(f), apiVersion: apiVersion, kind: kind, typed: typed}
	o.sending.AddFlags(c)
	o.set = fields.Bind(c, append(slices.Clip(rows), fields.Metadata...))
	tellByPath(c, kind)
	c.DisableFlagsInUseLine = true
	c.RunE = func(c *cobra.Command, args []string) error {
		name, words, err := split(c, args)
		if err == nil {
			err = o.sending.Complete()
		}
		if err != nil {
			return err
		}
		return o.run(c.Context(), name, words)
	}
	return o
}

// split takes the arguments apart: one name, and behind -- the words of a command.
func split(c *cobra.Command, args []string) (name string, words []string, err error) {
	n := c.ArgsLenAtDash()
	if n < 0 {
		n = len(args)
	}
	if n != 1 || args[0] == "" {
		return "", nil, command.Usagef("see '"+c.CommandPath()+" --help'", "exactly one NAME is required, got %d", n)
	}
	return args[0], args[1:], nil
}

// run makes the object and sends it.
func (o *form) run(ctx context.Context, name string, words []string) error {
	if len(words) > 0 && o.begin == nil {
		return o.commandless()
	}
	object := tree.Map("apiVersion", o.apiVersion, "kind", o.kind, "metadata", tree.Map("name", tree.String(name)), "spec", tree.Map())
	if o.begin != nil {
		if err := o.begin(ctx, object, words); err != nil {
			return err
		}
	}
	if err := o.set.Fill(object); err != nil {
		return err
	}
	if o.finish != nil {
		if err := o.finish(ctx, object); err != nil {
			return err
		}
	}
	if err := o.known(object); err != nil {
		return err
	}
	return o.sending.Send(ctx, object)
}

// commandless refuses words behind --.
func (o *form) commandless() error {
	article := "a"
	if strings.HasPrefix(o.kind, "I") {
		article = "an"
	}
	return command.Usagef("remove the arguments after --", "%s %s takes no command", article, o.kind)
}

// known refuses fields that the kind does not have, which --set can ask for.
func (o *form) known(object *tree.Node) error {
	unknown, err := tree.Decode(object, o.typed())
	switch {
	case err != nil:
		return command.Usagef("", "%w", err)
	case len(unknown) > 0 && !o.loose:
		return command.Usagef("'kubectl kruise schema json "+o.kind+"' lists all fields", "%s has no field %s", o.kind, strings.Join(unknown, ", "))
	}
	return nil
}
