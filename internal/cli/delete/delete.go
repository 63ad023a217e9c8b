// Package delete has the verb that deletes objects as kubectl does, and says what to
// do where Kruise refuses it.
package delete

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	deletecmd "k8s.io/kubectl/pkg/cmd/delete"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const long = `Delete objects, as kubectl does. Where Kruise refuses it, what keeps the object is said:
its deletion protection, or the PodUnavailableBudget of a pod.`

const example = `  kubectl kruise delete cloneset/web

  # with the pods left running
  kubectl kruise delete cloneset/web --cascade=orphan

  kubectl kruise delete -f web.yaml --dry-run=server`

type options struct {
	factory *factory.Factory
	flags   *deletecmd.DeleteFlags
}

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	o := &options{factory: f, flags: deletecmd.NewDeleteCommandFlags("with the objects to delete")}
	c := &cobra.Command{
		Use: "delete ([-f FILENAME] | [-k DIRECTORY] | TYPE [(NAME | -l label | --all)])", Short: "Delete objects, and report what blocks the deletion",
		Long: long, Example: example, SuggestFor: []string{"rm", "remove"},
		RunE:              func(c *cobra.Command, args []string) error { return o.run(c, args) },
		ValidArgsFunction: kubectl.Names(f),
	}
	o.flags.AddFlags(c)
	cmdutil.AddDryRunFlag(c)
	return c
}

func (o *options) run(c *cobra.Command, args []string) error {
	d, err := o.flags.ToOptions(nil, kubectl.Streams(o.factory))
	if err != nil {
		return err
	}
	tools := kubectl.Factory(o.factory)
	if err := d.Complete(tools, args, c); err != nil {
		return kubectl.Err(err)
	}
	if err := d.Validate(); err != nil {
		return kubectl.Err(err)
	}
	return o.explained(c.Context(), d.RunDelete(tools), args)
}

// explained has every failure as an error of its own, refusals with advice.
func (o *options) explained(ctx context.Context, err error, args []string) error {
	if err == nil {
		return nil
	}
	if many, ok := errors.AsType[utilerrors.Aggregate](err); ok {
		var out resource.Errors
		for _, e := range many.Errors() {
			out.Add(o.explained(ctx, e, args))
		}
		return out.Err()
	}
	if hint := o.advice(ctx, err, args); hint != "" {
		return &resource.Error{Err: err, Hint: hint}
	}
	return kubectl.Err(err)
}
