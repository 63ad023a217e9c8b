// Package submit sends what verbs write: a new object, checked against Kruise's rules first,
// or many requests of one command. With --dry-run it shows them, or asks the server what it
// would do.
package submit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/dynamic"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"
	"k8s.io/kubectl/pkg/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// fieldManager is who writes objects where --field-manager does not say otherwise.
const fieldManager = "kubectl-kruise"

// CreateOptions are the flags of kubectl's verbs that create.
type CreateOptions struct {
	factory  *factory.Factory
	printing *genericclioptions.PrintFlags
	manager  string
	version  string
	kruise   installation.Flag

	command *cobra.Command
	dryRun  cmdutil.DryRunStrategy
}

// NewCreateOptions returns options without values.
func NewCreateOptions(f *factory.Factory) *CreateOptions {
	return &CreateOptions{factory: f, printing: genericclioptions.NewPrintFlags("created").WithTypeSetter(scheme.Scheme)}
}

// AddFlags adds the flags to a command.
func (o *CreateOptions) AddFlags(c *cobra.Command) {
	o.command = c
	o.printing.AddFlags(c)
	cmdutil.AddDryRunFlag(c)
	cmdutil.AddValidateFlags(c)
	cmdutil.AddApplyAnnotationFlags(c)
	c.Flags().StringVar(&o.manager, "field-manager", fieldManager, "name of the manager that owns the written fields")
	c.Flags().StringVar(&o.version, "api-version", "", "API version of the object, v1beta1 or v1alpha1 (default: the newest that the cluster serves or, with --dry-run=client, the release of Kruise)")
	o.kruise.Add(c, "with a cluster what it serves, else the newest")
	command.Offer(c, "dry-run", "none", "client", "server")
	command.Offer(c, "api-version", kruise.V1beta1, kruise.V1alpha1)
	command.Offer(c, "output", o.printing.AllowedFormats()...)
}

// Complete checks the flags. Errors are of usage.
func (o *CreateOptions) Complete() error {
	var err error
	if o.dryRun, err = cmdutil.GetDryRunStrategy(o.command); err != nil {
		return command.Usagef("one of: none, client, server", "--dry-run: %w", err)
	}
	cmdutil.PrintFlagsWithDryRunStrategy(o.printing, o.dryRun)
	if _, err := o.printing.ToPrinter(); err != nil {
		return command.Usagef("", "%w", err)
	}
	if err := o.kruise.Complete(); err != nil {
		return err
	}
	if o.version != "" {
		return command.OneOf("api-version", o.version, kruise.V1beta1, kruise.V1alpha1)
	}
	return nil
}

// Offline reports whether nothing is to be sent.
func (o *CreateOptions) Offline() bool { return o.dryRun == cmdutil.DryRunClient }

// Send creates the object, which is in the newest version of its kind, and prints it.
func (o *CreateOptions) Send(ctx context.Context, object *tree.Node) error {
	if err := o.place(object); err != nil {
		return err
	}
	if err := o.check(ctx, object); err != nil {
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
func (o *CreateOptions) create(ctx context.Context, to createTarget, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	client, err := o.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	opt := metav1.CreateOptions{FieldManager: o.manager}
	if opt.FieldValidation, err = cmdutil.GetValidationDirective(o.command); err != nil {
		return nil, command.Usagef("", "%w", err)
	}
	if o.dryRun == cmdutil.DryRunServer {
		opt.DryRun = []string{metav1.DryRunAll}
	}
	made, err := to.of(client).Create(ctx, u, opt)
	if err != nil {
		return nil, createError(u, err)
	}
	return made, nil
}

// createTarget is where an object goes.
type createTarget struct {
	resource  schema.GroupVersionResource
	namespace string
}

func (t createTarget) of(client dynamic.Interface) dynamic.ResourceInterface {
	if t.namespace == "" {
		return client.Resource(t.resource)
	}
	return client.Resource(t.resource).Namespace(t.namespace)
}

// registeredKind is the object's kind, if it is one of Kruise.
func registeredKind(object *tree.Node) (kruise.Registered, bool) {
	group := resource.GroupOf(tree.StrAt(object, "apiVersion"))
	all := kruise.Kinds()
	i := slices.IndexFunc(all, func(r kruise.Registered) bool { return r.Group == group && r.Kind == tree.StrAt(object, "kind") })
	if i < 0 {
		return kruise.Registered{}, false
	}
	return all[i], true
}

// place gives a namespaced object its namespace. Without a cluster it is that of -n
// alone: a manifest for Git does not depend on who made it.
func (o *CreateOptions) place(object *tree.Node) error {
	if kind, ok := registeredKind(object); ok && kind.ClusterScoped {
		return nil
	}
	namespace := o.factory.Namespace()
	if !o.Offline() {
		var err error
		if namespace, err = o.factory.NamespaceOrDefault(); err != nil {
			return err
		}
	}
	if namespace != "" {
		tree.SetAt(object, tree.String(namespace), "metadata", "namespace")
	}
	return nil
}

// check refuses what Kruise would refuse, of whatever release: the object is in the newest
// version of its kind.
func (o *CreateOptions) check(ctx context.Context, object *tree.Node) error {
	r := resource.Parsed(object, nil, resource.Origin{})
	var faults resource.Errors
	for _, p := range lint.Run(ctx, lint.Request{Objects: []*resource.Resource{r}, Namespace: o.factory.Namespace(), Kept: true, Kruise: kruise.Next}) {
		if p.Severity == lint.Error {
			faults.Add(p.Error)
		}
	}
	return faults.Err()
}

// prepare puts the object into the version that it is written in; to is nil where
// nothing is sent.
func (o *CreateOptions) prepare(object *tree.Node) (u *unstructured.Unstructured, to *createTarget, err error) {
	kind, ours := registeredKind(object)
	version := o.version
	if !o.Offline() {
		if to, err = o.find(object, kind, ours); err != nil {
			return nil, nil, err
		}
		version = to.resource.Version
	}
	if ours {
		if object, err = o.written(object, kind, version); err != nil {
			return nil, nil, err
		}
	}
	fields, ok := tree.Value(object).(map[string]any)
	if !ok {
		return nil, nil, errors.New("the object is not a mapping")
	}
	return &unstructured.Unstructured{Object: fields}, to, nil
}

// written is an object of Kruise in a version, or in the newest one that the release
// serves; what has no place there is an error.
func (o *CreateOptions) written(object *tree.Node, kind kruise.Registered, version string) (*tree.Node, error) {
	takes := o.kruise.Given()
	if version == "" {
		versions := takes.OrNewest().Versions(kind.Group, kind.Kind)
		if len(versions) == 0 {
			return nil, &resource.Error{Err: fmt.Errorf("%s has no %s", takes.OrNewest().Name(), kind.Kind), Hint: "give another --" + installation.Name}
		}
		version = versions[len(versions)-1]
	}
	if !takes.IsZero() && !takes.Serves(kind.Group, kind.Kind, version) {
		in, _ := kruise.ServedIn(kind.Group, kind.Kind, version)
		return nil, &resource.Error{
			Err:  fmt.Errorf("%s does not serve %s as %s: it is there %s", takes.Name(), kind.Kind, version, in.Words()),
			Hint: "leave --api-version out, or give another --" + installation.Name,
		}
	}
	if version != kind.Newest() {
		var err error
		if object, err = convertToOlder(object, version, takes); err != nil {
			return nil, err
		}
	}
	if takes.IsZero() {
		return object, nil
	}
	var faults resource.Errors
	for _, a := range takes.Absent(object) {
		faults.Add(&resource.Error{Err: fmt.Errorf("%s: %s; %s does not have it", a.Path, a.Words(), takes.Name()), Hint: "leave it out, or update Kruise"})
	}
	return object, faults.Err()
}

// find asks the cluster in which version it takes the kind.
func (o *CreateOptions) find(object *tree.Node, kind kruise.Registered, ours bool) (*createTarget, error) {
	mapper, err := o.factory.Flags.ToRESTMapper()
	if err != nil {
		return nil, err
	}
	gvk := schema.FromAPIVersionAndKind(tree.StrAt(object, "apiVersion"), tree.StrAt(object, "kind"))
	versions := []string{gvk.Version}
	if ours {
		versions = slices.Clone(kind.Versions)
		slices.Reverse(versions)
	}
	if o.version != "" && ours {
		versions = []string{o.version}
	}
	m, err := mapper.RESTMapping(gvk.GroupKind(), versions...)
	switch {
	case meta.IsNoMatchError(err):
		return nil, &resource.Error{
			Err:  fmt.Errorf("the cluster has no kind %s in %s/%s", gvk.Kind, gvk.Group, strings.Join(versions, " or ")),
			Hint: "see 'kubectl api-resources --api-group " + gvk.Group + "'; --dry-run=client -o yaml needs no cluster",
		}
	case err != nil:
		return nil, err
	}
	t := &createTarget{resource: m.Resource}
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		t.namespace = tree.StrAt(object, "metadata", "namespace")
	}
	return t, nil
}

// convertToOlder puts the object into an older version; what has no place there is an error.
func convertToOlder(object *tree.Node, version string, takes kruise.Release) (*tree.Node, error) {
	out, lost, err := takes.Convert(object, version)
	if err != nil {
		return nil, err
	}
	var faults resource.Errors
	for _, l := range lost {
		faults.Add(&resource.Error{Err: fmt.Errorf("%s does not exist in %s: %s", l.Path, version, l.Why), Hint: "leave it out, or update Kruise"})
	}
	return out, faults.Err()
}

// createError describes the server's answer, as kubectl's create does.
func createError(u *unstructured.Unstructured, err error) error {
	if apierrors.IsAlreadyExists(err) {
		return &resource.Error{Err: err, Hint: "choose another name, or delete that one first"}
	}
	return fmt.Errorf("failed to create %s: %w", strings.ToLower(u.GetKind()), err)
}
