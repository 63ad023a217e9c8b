package rollout

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/submit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// printed writes objects that something was done to as kubectl does: TYPE/NAME DONE,
// or whatever -o asks for.
type printed struct {
	flags *genericclioptions.PrintFlags
	dry   submit.DryRunFlag
	// printer is one for all objects: it parts them, as YAML with ---.
	printer printers.ResourcePrinter
}

// newPrinted adds the flags to a verb. output is where the value of -o stands, nil for
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

// pretends adds --dry-run.
func (p *printed) pretends(c *cobra.Command) *printed {
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

// fetch reads an object anew to print it.
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
