// Package sending writes a new object into the cluster, or prints what would be
// written: the end that all verbs which make objects have in common. What Kruise would
// refuse is refused here, with its field, before anything is sent.
package sending

import (
	"context"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"
	"k8s.io/kubectl/pkg/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/release"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// FieldManager is who writes objects where nobody says otherwise.
const FieldManager = "kubectl-kruise"

// Options are the flags of kubectl's verbs that create.
type Options struct {
	factory  *factory.Factory
	printing *genericclioptions.PrintFlags
	manager  string
	version  string
	kruise   release.Flag

	command *cobra.Command
	dryRun  cmdutil.DryRunStrategy
}

// New returns options without values.
func New(f *factory.Factory) *Options {
	return &Options{factory: f, printing: genericclioptions.NewPrintFlags("created").WithTypeSetter(scheme.Scheme)}
}

// AddFlags adds the flags to a command.
func (o *Options) AddFlags(c *cobra.Command) {
	o.command = c
	o.printing.AddFlags(c)
	cmdutil.AddDryRunFlag(c)
	cmdutil.AddValidateFlags(c)
	cmdutil.AddApplyAnnotationFlags(c)
	c.Flags().StringVar(&o.manager, "field-manager", FieldManager, "who owns the fields that are written")
	c.Flags().StringVar(&o.version, "api-version", "", "v1beta1 or v1alpha1 of a kind of Kruise; the newest that the cluster serves, or with --dry-run=client the release of Kruise")
	o.kruise.Add(c, "with a cluster what it serves, else the newest")
	usage.Offer(c, "dry-run", "none", "client", "server")
	usage.Offer(c, "api-version", kruise.V1beta1, kruise.V1alpha1)
	usage.Offer(c, "output", o.printing.AllowedFormats()...)
}

// Complete checks the flags. Errors are of usage.
func (o *Options) Complete() error {
	var err error
	if o.dryRun, err = cmdutil.GetDryRunStrategy(o.command); err != nil {
		return usage.Errorf("one of: none, client, server", "--dry-run: %w", err)
	}
	cmdutil.PrintFlagsWithDryRunStrategy(o.printing, o.dryRun)
	if _, err := o.printing.ToPrinter(); err != nil {
		return usage.Errorf("", "%w", err)
	}
	if err := o.kruise.Complete(); err != nil {
		return err
	}
	if o.version != "" {
		return usage.OneOf("api-version", o.version, kruise.V1beta1, kruise.V1alpha1)
	}
	return nil
}

// Offline reports whether nothing shall be sent.
func (o *Options) Offline() bool { return o.dryRun == cmdutil.DryRunClient }

// Send creates the object, which is in the newest version of its kind, and prints it.
func (o *Options) Send(ctx context.Context, object *tree.Node) error {
	if err := o.place(object); err != nil {
		return err
	}
	if err := o.check(object); err != nil {
		return err
	}
	u, send, err := o.prepare(object)
	if err != nil {
		return err
	}
	if err := util.CreateOrUpdateAnnotation(cmdutil.GetFlagBool(o.command, cmdutil.ApplyAnnotationsFlag), u, unstructured.UnstructuredJSONScheme); err != nil {
		return err
	}
	if send != nil {
		if u, err = o.create(ctx, *send, u); err != nil {
			return err
		}
	}
	printer, err := o.printing.ToPrinter()
	if err != nil {
		return err
	}
	return printer.PrintObj(u, o.factory.Streams.Out)
}

// create sends the object.
func (o *Options) create(ctx context.Context, to target, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	client, err := o.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	opt := metav1.CreateOptions{FieldManager: o.manager}
	if opt.FieldValidation, err = cmdutil.GetValidationDirective(o.command); err != nil {
		return nil, usage.Errorf("", "%w", err)
	}
	if o.dryRun == cmdutil.DryRunServer {
		opt.DryRun = []string{metav1.DryRunAll}
	}
	made, err := to.of(client).Create(ctx, u, opt)
	if err != nil {
		return nil, refused(u, err)
	}
	return made, nil
}
