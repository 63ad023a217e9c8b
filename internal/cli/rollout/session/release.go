package session

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// ReleaseNamed is the name in rollout/NAME, with or without the group.
func ReleaseNamed(arg string) (name string, ok bool) {
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

// ReleaseNamed reads a Rollout by its name.
func (c *Client) ReleaseNamed(ctx context.Context, name string) (*release.Rollout, error) {
	client, namespace, err := c.Factory.InNamespace()
	if err != nil {
		return nil, err
	}
	r, err := release.Get(ctx, client, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, &resource.Error{Err: err, Hint: "check the name and -n; a workload is named TYPE/NAME, such as cloneset/" + name}
	}
	return r, err
}

// ReleaseOf finds the Rollout that has a workload in hand; nil without one.
func (c *Client) ReleaseOf(ctx context.Context, s *Session) (*release.Rollout, error) {
	if s.carrier != nil {
		return nil, nil //nolint:nilnil // that there is none is no error
	}
	client, err := c.Factory.Dynamic()
	if err != nil {
		return nil, err
	}
	if c.Watches.shared == nil {
		return release.Of(ctx, client, s.Target.Ref)
	}
	list, ok := c.Watches.releases[s.Target.Namespace]
	if !ok {
		if list, err = release.List(ctx, client, s.Target.Namespace); err != nil {
			return nil, err
		}
		c.Watches.releases[s.Target.Namespace] = list
	}
	return list[s.Target.Ref], nil
}

// Released reads the Rollout that an argument means: by its name, or by that of its
// workload, which may have none.
func (c *Client) Released(ctx context.Context, arg string) (*release.Rollout, error) {
	if name, ok := ReleaseNamed(arg); ok {
		return c.ReleaseNamed(ctx, name)
	}
	name, err := resourcearg.Parse(arg)
	if err != nil {
		return nil, err
	}
	s, err := c.Locate(ctx, name)
	if err != nil {
		return nil, err
	}
	return c.ReleaseOf(ctx, s)
}

// ControlledByRelease is the error of a command that would write to a workload which a Kruise
// Rollout controls.
func ControlledByRelease(what string, r *release.Rollout) error {
	name := "rollout/" + r.Name
	return &resource.Error{
		Err:  fmt.Errorf("%s is controlled by Kruise Rollout %s: %s", what, r.Name, r.Describe()),
		Hint: fmt.Sprintf("'kubectl kruise rollout approve %s' continues it, 'kubectl kruise rollout pause %s' pauses it, 'kubectl kruise rollout undo %s' rolls it back: Kruise Rollout would undo a partition written here", name, name, name),
	}
}

// Request shows what is written, by --dry-run.
func (p *Printed) Request(manager string) release.Request {
	return release.Request{Manager: manager, Only: p.Only() && !p.AtServer(), DryRun: p.Only()}
}

// PrintWritten writes to an object, and prints it.
func (c *Client) PrintWritten(p *Printed, do func(dynamic.Interface) (*unstructured.Unstructured, error)) error {
	client, err := c.Factory.Dynamic()
	if err != nil {
		return err
	}
	u, err := do(client)
	if err != nil {
		return err
	}
	return p.Write(c, u)
}

// ApproveRelease approves the current step of a Rollout, and prints it.
func (c *Client) ApproveRelease(ctx context.Context, p *Printed, manager string, r *release.Rollout) error {
	return c.PrintWritten(p, func(client dynamic.Interface) (*unstructured.Unstructured, error) {
		return release.Approve(ctx, client, r, p.Request(manager))
	})
}
