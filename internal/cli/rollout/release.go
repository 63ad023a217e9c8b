package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// releaseNamed is the name in rollout/NAME, with or without the group.
func releaseNamed(arg string) (name string, ok bool) {
	kind, name, ok := strings.Cut(arg, "/")
	word, group, _ := strings.Cut(strings.ToLower(kind), ".")
	switch word {
	case "rollout", "rollouts", "ro":
	default:
		return "", false
	}
	own := group == "" || group == release.Group || strings.HasSuffix(group, "."+release.Group)
	return name, ok && own && name != "" && !strings.Contains(name, "/")
}

// release reads a Rollout by its name.
func (c *common) release(ctx context.Context, name string) (*release.Rollout, error) {
	client, namespace, err := c.factory.InNamespace()
	if err != nil {
		return nil, err
	}
	r, err := release.Get(ctx, client, namespace, name)
	if errors.Is(err, release.ErrNone) {
		return nil, &resource.Error{Err: err, Hint: "check the name and -n; a workload is named TYPE/NAME, such as cloneset/" + name}
	}
	return r, err
}

// releaseOf finds the Rollout that has a workload in hand; nil without one.
func (c *common) releaseOf(ctx context.Context, s *session) (*release.Rollout, error) {
	if s.carrier != nil {
		return nil, nil //nolint:nilnil // that there is none is no error
	}
	client, err := c.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	if c.shared == nil {
		return release.Of(ctx, client, s.target.Ref)
	}
	list, ok := c.releases[s.target.Namespace]
	if !ok {
		if list, err = release.List(ctx, client, s.target.Namespace); err != nil {
			return nil, err
		}
		c.releases[s.target.Namespace] = list
	}
	return list[s.target.Ref], nil
}

// released reads the Rollout that an argument means: by its name, or by that of its
// workload.
func (c *common) released(ctx context.Context, arg string) (*release.Rollout, error) {
	if name, ok := releaseNamed(arg); ok {
		return c.release(ctx, name)
	}
	name, err := resourcearg.Parse(arg)
	if err != nil {
		return nil, err
	}
	s, err := c.locate(ctx, name)
	if err != nil {
		return nil, err
	}
	r, err := c.releaseOf(ctx, s)
	if r == nil && err == nil {
		err = &resource.Error{Err: fmt.Errorf("no Rollout of %s is for %s", release.Group, s.target), Hint: "'rollout promote' continues a rollout of kubectl kruise"}
	}
	return r, err
}

// inHands is the refusal of whatever would get in the way of a Rollout.
func inHands(what string, r *release.Rollout) error {
	name := "rollout/" + r.Name
	return &resource.Error{
		Err:  fmt.Errorf("%s is in the hands of Kruise Rollout %s: %s", what, r.Name, r.Stands()),
		Hint: fmt.Sprintf("'rollout approve %s' continues it, 'rollout pause %s' pauses it, 'rollout undo %s' rolls it back: Kruise Rollout would undo a partition written here", name, name, name),
	}
}

// releasePause pauses a Rollout, or has it go on.
func releasePause(on bool) func(context.Context, *control, *release.Rollout) error {
	return func(ctx context.Context, o *control, r *release.Rollout) error {
		return o.printWritten(o.print, func(c dynamic.Interface) (*unstructured.Unstructured, error) {
			return release.Pause(ctx, c, r, on, o.print.request(o.manager))
		})
	}
}

// request says how is written, by --dry-run.
func (p *printed) request(manager string) release.Request {
	return release.Request{Manager: manager, Only: p.only() && !p.atServer(), DryRun: p.only()}
}

// printWritten writes to an object, and prints it.
func (c *common) printWritten(p *printed, do func(dynamic.Interface) (*unstructured.Unstructured, error)) error {
	client, err := c.factory.Dynamic()
	if err != nil {
		return err
	}
	u, err := do(client)
	if err != nil {
		return err
	}
	return p.write(c, u)
}

func newApprove(shared *common) *cobra.Command {
	var o objects
	var output, manager string
	c := &cobra.Command{
		Use: "approve (rollout/NAME | TYPE/NAME | -f FILE)", Short: "Approve the current step of a Kruise Rollout",
		Long: `Approve the current step of a Rollout of rollouts.kruise.io, named by itself or by its
workload. Rollouts of kubectl kruise are continued with "rollout promote".`,
		Example:           "  kubectl kruise rollout approve rollout/web\n  kubectl kruise rollout approve cloneset/web",
		ValidArgsFunction: resourcearg.CompleteType(shared.factory, "rollout", release.Group),
	}
	o.addFlags(c)
	c.Flags().StringVarP(&output, "output", "o", "", "kubectl's formats for the object: json, yaml, name, jsonpath=…")
	p := newPrinted(c, "approved", &output).pretends(c)
	cmdutil.AddFieldManagerFlagVar(c, &manager, fieldManager)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := p.complete(c); err != nil {
			return err
		}
		if len(args) == 1 && !strings.Contains(args[0], "/") {
			args = []string{"rollout/" + args[0]}
		}
		return shared.each(c.Context(), &o, args, func(arg string) error {
			r, err := shared.released(c.Context(), arg)
			if err != nil {
				return err
			}
			return shared.printWritten(p, func(client dynamic.Interface) (*unstructured.Unstructured, error) {
				return release.Approve(c.Context(), client, r, p.request(manager))
			})
		})
	}
	return c
}
