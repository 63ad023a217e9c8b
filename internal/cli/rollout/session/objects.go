package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	cliresource "k8s.io/cli-runtime/pkg/resource"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/submit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Objects are what verbs are called with, as kubectl's are: TYPE/NAME, TYPE NAME, or
// what files hold.
type Objects struct {
	Files    cliresource.FilenameOptions
	selector string
	// United is what a UnitedDeployment stands for.
	United UnitedAs
}

// AddFlags adds -f, -k, -R and -l to a verb.
func (o *Objects) AddFlags(c *cobra.Command) {
	cmdutil.AddFilenameOptionFlags(c, &o.Files, "that names the objects")
	if c.Flags().Lookup("selector") == nil {
		c.Flags().StringVarP(&o.selector, "selector", "l", "", "all workloads that this label selector matches")
	}
}

// Names are the objects as TYPE/NAME, each once.
func (c *Client) Names(ctx context.Context, o *Objects, args []string) ([]string, error) {
	if o.selector != "" {
		if err := Bare(args); err != nil {
			return nil, err
		}
		list, err := c.SelectedWorkloads(ctx, args, o.selector)
		var out []string
		for _, n := range list {
			out = append(out, n.String())
		}
		return out, err
	}
	out, err := pairs(args)
	if err != nil {
		return nil, err
	}
	inFiles, err := c.inFiles(o)
	if err != nil {
		return nil, err
	}
	if out = once(append(out, inFiles...)); len(out) == 0 {
		return nil, command.Usagef("for instance cloneset/web, or -f FILE", "required resource not specified: give one TYPE/NAME or more")
	}
	return c.InParts(ctx, out, o.United)
}

// pairs reads TYPE/NAME … or TYPE[,TYPE…] NAME ….
func pairs(args []string) ([]string, error) {
	if len(args) == 0 || strings.Contains(args[0], "/") {
		for _, arg := range args {
			if !strings.Contains(arg, "/") {
				return nil, command.Usagef("for instance cloneset/web", "%q is not TYPE/NAME", arg)
			}
		}
		return args, nil
	}
	if len(args) == 1 {
		return nil, command.Usagef("for instance cloneset/web", "%q is not TYPE/NAME: give one TYPE/NAME or more", args[0])
	}
	var out []string
	for word := range strings.SplitSeq(args[0], ",") {
		for _, name := range args[1:] {
			out = append(out, word+"/"+name)
		}
	}
	return out, nil
}

// inFiles are the objects that files hold.
func (c *Client) inFiles(o *Objects) ([]string, error) {
	if len(o.Files.Filenames) == 0 && o.Files.Kustomize == "" {
		return nil, nil
	}
	b := kubectl.Factory(c.Factory).NewBuilder().Unstructured().Local().ContinueOnError().FilenameParam(false, &o.Files).Flatten()
	infos, err := b.Do().Infos()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, info := range infos {
		gvk := kindOf(info.Object)
		out = append(out, strings.ToLower(gvk)+"/"+info.Name)
	}
	return out, nil
}

// kindOf is an object's kind with its group.
func kindOf(o runtime.Object) string {
	gvk := o.GetObjectKind().GroupVersionKind()
	if gvk.Group == "" {
		return gvk.Kind
	}
	return gvk.Kind + "." + gvk.Group
}

func once(list []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range list {
		if !seen[s] {
			out = append(out, s)
		}
		seen[s] = true
	}
	return out
}

// Each does something for every object. What fails with one does not keep the others
// from being done.
func (c *Client) Each(ctx context.Context, o *Objects, args []string, do func(name string) error) error {
	list, err := c.Names(ctx, o, args)
	if err != nil {
		return err
	}
	for _, name := range list {
		if _, ok := ReleaseNamed(name); ok {
			continue
		}
		if _, err := resourcearg.ParseAny(name); err != nil {
			return err
		}
	}
	if len(list) == 1 {
		return do(list[0])
	}
	var errs resource.Errors
	for _, name := range list {
		errs.Add(do(name))
	}
	return errs.Err()
}

// Printed writes objects that something was done to as kubectl does: TYPE/NAME DONE,
// or whatever -o asks for.
type Printed struct {
	Flags *genericclioptions.PrintFlags
	Dry   submit.DryRunFlag
	// printer is one for all objects: it parts them, as YAML with ---.
	printer printers.ResourcePrinter
}

// NewPrinted adds the flags to a verb. output is the value of -o, nil for
// a verb that has none yet.
func NewPrinted(c *cobra.Command, done string, output *string) *Printed {
	p := &Printed{Flags: genericclioptions.NewPrintFlags(done)}
	if output != nil {
		p.Flags.OutputFormat = nil
	}
	p.Flags.AddFlags(c)
	if output != nil {
		p.Flags.OutputFormat = output
	}
	return p
}

// AddDryRunFlag adds --dry-run.
func (p *Printed) AddDryRunFlag(c *cobra.Command) *Printed {
	p.Dry.AddFlag(c)
	return p
}

// Complete reads --dry-run.
func (p *Printed) Complete(c *cobra.Command) error { return p.Dry.Read(c) }

// Only reports whether nothing is written.
func (p *Printed) Only() bool { return p != nil && p.Dry.Only() }

// AtServer reports whether the server is asked what it would write.
func (p *Printed) AtServer() bool { return p.Dry.AtServer() }

// Object reports whether -o asks for whole objects, or names alone.
func (p *Printed) Object() bool {
	return p != nil && !slices.Contains([]string{"", "text", "events"}, *p.Flags.OutputFormat)
}

// Write prints an object.
func (p *Printed) Write(c *Client, u *unstructured.Unstructured) error {
	if p.printer == nil {
		flags := *p.Flags
		if !p.Object() {
			none := ""
			flags.OutputFormat = &none
		}
		var err error
		if p.printer, err = cmdutil.PrintFlagsWithDryRunStrategy(&flags, p.Dry.Strategy).ToPrinter(); err != nil {
			return command.Usagef("kubectl's formats: json, yaml, name, jsonpath=…", "-o: %w", err)
		}
	}
	return p.printer.PrintObj(u, c.Factory.Streams.Out)
}

// Resource prints what was read of a workload.
func (p *Printed) Resource(c *Client, r *resource.Resource) error {
	value, _ := tree.Value(r.Node()).(map[string]any)
	return p.Write(c, &unstructured.Unstructured{Object: value})
}

// Fetch reads an object again to print it.
func (p *Printed) Fetch(ctx context.Context, c *Client, gvr schema.GroupVersionResource, namespace, name string) error {
	client, err := c.Factory.Dynamic()
	if err != nil {
		return err
	}
	u, err := client.Resource(gvr).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	return p.Write(c, u)
}

// SelectedWorkloads names the workloads that a selector matches; types is at most one
// argument: types without a name, separated by commas.
func (c *Client) SelectedWorkloads(ctx context.Context, types []string, selector string) ([]resourcearg.Name, error) {
	kinds, err := resourcearg.ParseKinds(strings.Join(types, ","))
	if err != nil {
		return nil, err
	}
	client, namespace, err := c.Factory.InNamespace()
	if err != nil {
		return nil, err
	}
	names, err := clusterread.SelectWorkloads(ctx, client, kinds, namespace, selector)
	if err == nil && len(names) == 0 {
		err = &resource.Error{Err: fmt.Errorf("no workload in namespace %s matches %q", namespace, selector), Hint: "check -l and -n"}
	}
	return names, err
}

// Bare reports whether arguments are types alone, as -l wants them.
func Bare(args []string) error {
	if len(args) > 1 || len(args) == 1 && strings.Contains(args[0], "/") {
		return command.Usagef("for instance cloneset -l app=web", "-l goes with types, not with names")
	}
	return nil
}
