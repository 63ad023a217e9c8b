package rollout

import (
	"context"
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

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/submit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// objects are what verbs are called with, as kubectl's are: TYPE/NAME, TYPE NAME, or
// what files hold.
type objects struct {
	files    cliresource.FilenameOptions
	selector string
	// united is what a UnitedDeployment stands for.
	united unitedAs
}

func (o *objects) addFlags(c *cobra.Command) {
	cmdutil.AddFilenameOptionFlags(c, &o.files, "that names the objects")
	if c.Flags().Lookup("selector") == nil {
		c.Flags().StringVarP(&o.selector, "selector", "l", "", "all workloads that this label selector matches")
	}
}

// names are the objects as TYPE/NAME, each once.
func (c *common) names(ctx context.Context, o *objects, args []string) ([]string, error) {
	if o.selector != "" {
		if err := bare(args); err != nil {
			return nil, err
		}
		list, err := c.selected(ctx, args, o.selector)
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
	return c.inParts(ctx, out, o.united)
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
func (c *common) inFiles(o *objects) ([]string, error) {
	if len(o.files.Filenames) == 0 && o.files.Kustomize == "" {
		return nil, nil
	}
	b := kubectl.Factory(c.factory).NewBuilder().Unstructured().Local().ContinueOnError().FilenameParam(false, &o.files).Flatten()
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

// each does something for every object. What fails with one does not keep the others
// from being done.
func (c *common) each(ctx context.Context, o *objects, args []string, do func(name string) error) error {
	list, err := c.names(ctx, o, args)
	if err != nil {
		return err
	}
	for _, name := range list {
		if _, ok := releaseNamed(name); ok {
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

// printed writes objects that something was done to as kubectl does: TYPE/NAME DONE,
// or whatever -o asks for.
type printed struct {
	flags *genericclioptions.PrintFlags
	dry   submit.DryRunFlag
	// printer is one for all objects: it parts them, as YAML with ---.
	printer printers.ResourcePrinter
}

// newPrinted adds the flags to a verb. output is the value of -o, nil for
// a verb that has none yet.
func newPrinted(c *cobra.Command, done string, output *string) *printed {
	p := &printed{flags: genericclioptions.NewPrintFlags(done)}
	if output != nil {
		p.flags.OutputFormat = nil
	}
	p.flags.AddFlags(c)
	if output != nil {
		p.flags.OutputFormat = output
	}
	return p
}

// dryRun adds --dry-run.
func (p *printed) addDryRunFlag(c *cobra.Command) *printed {
	p.dry.AddFlag(c)
	return p
}

// complete reads --dry-run.
func (p *printed) complete(c *cobra.Command) error { return p.dry.Read(c) }

// only reports whether nothing is written.
func (p *printed) only() bool { return p != nil && p.dry.Only() }

// atServer reports whether the server is asked what it would write.
func (p *printed) atServer() bool { return p.dry.AtServer() }

// object reports whether -o asks for whole objects, or names alone.
func (p *printed) object() bool {
	return p != nil && !slices.Contains([]string{"", "text", "events"}, *p.flags.OutputFormat)
}

// write prints an object.
func (p *printed) write(c *common, u *unstructured.Unstructured) error {
	if p.printer == nil {
		flags := *p.flags
		if !p.object() {
			none := ""
			flags.OutputFormat = &none
		}
		var err error
		if p.printer, err = cmdutil.PrintFlagsWithDryRunStrategy(&flags, p.dry.Strategy).ToPrinter(); err != nil {
			return command.Usagef("kubectl's formats: json, yaml, name, jsonpath=…", "-o: %w", err)
		}
	}
	return p.printer.PrintObj(u, c.factory.Streams.Out)
}

// resource prints what was read of a workload.
func (p *printed) resource(c *common, r *resource.Resource) error {
	value, _ := tree.Value(r.Node()).(map[string]any)
	return p.write(c, &unstructured.Unstructured{Object: value})
}

// fetch reads an object again to print it.
func (p *printed) fetch(ctx context.Context, c *common, gvr schema.GroupVersionResource, namespace, name string) error {
	client, err := c.factory.Dynamic()
	if err != nil {
		return err
	}
	u, err := client.Resource(gvr).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	return p.write(c, u)
}
