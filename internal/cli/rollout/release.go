package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/named"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
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

// orRelease has a verb do something else where it is given rollout/NAME, an object
// of Kruise Rollout.
func orRelease(c *cobra.Command, do func(c *cobra.Command, name string) error) *cobra.Command {
	own := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 1 {
			if name, ok := releaseNamed(args[0]); ok {
				return do(c, name)
			}
		}
		return own(c, args)
	}
	return c
}

// release reads a Rollout by its name.
func (c *common) release(ctx context.Context, name string) (*release.Rollout, error) {
	namespace, err := c.factory.NamespaceOrDefault()
	if err != nil {
		return nil, err
	}
	client, err := c.factory.Dynamic()
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
	return release.Of(ctx, client, s.target.Ref)
}

// released reads the Rollout that an argument means: by its name, or by that of its
// workload.
func (c *common) released(ctx context.Context, arg string) (*release.Rollout, error) {
	if name, ok := releaseNamed(arg); ok {
		return c.release(ctx, name)
	}
	name, err := named.Parse(arg)
	if err != nil {
		return nil, err
	}
	s, err := c.locate(ctx, name)
	if err != nil {
		return nil, err
	}
	r, err := c.releaseOf(ctx, s)
	if r == nil && err == nil {
		err = &resource.Error{Err: fmt.Errorf("no Rollout of %s is for %s", release.Group, s.target), Hint: "'rollout promote' lets a rollout of kubectl kruise go on"}
	}
	return r, err
}

// inHands is the refusal of whatever would get in the way of a Rollout.
func inHands(what string, r *release.Rollout) error {
	name := "rollout/" + r.Name
	return &resource.Error{
		Err:  fmt.Errorf("%s is in the hands of Kruise Rollout %s: %s", what, r.Name, r.Stands()),
		Hint: fmt.Sprintf("'rollout approve %s' lets it go on, 'rollout pause %s' holds it, 'rollout undo %s' takes it back: a partition of ours would be undone", name, name, name),
	}
}

// releaseWrite is a verb that writes to a Rollout and says what it did.
func releaseWrite(shared *common, done string, write func(ctx context.Context, c *common, r *release.Rollout) error) func(*cobra.Command, string) error {
	return func(c *cobra.Command, arg string) error {
		if name, ok := releaseNamed(arg); !ok && !strings.Contains(arg, "/") {
			arg = "rollout/" + arg
		} else if ok {
			arg = "rollout/" + name
		}
		r, err := shared.released(c.Context(), arg)
		if err != nil {
			return err
		}
		if err := write(c.Context(), shared, r); err != nil {
			return err
		}
		_, err = fmt.Fprintf(shared.factory.Streams.Out, "%s %s\n", r.Title(), done)
		return err
	}
}

func pauseRelease(on bool) func(context.Context, *common, *release.Rollout) error {
	return func(ctx context.Context, c *common, r *release.Rollout) error {
		client, err := c.factory.Dynamic()
		if err != nil {
			return err
		}
		return release.Pause(ctx, client, r, on)
	}
}

func newApprove(shared *common) *cobra.Command {
	approve := releaseWrite(shared, "approved", func(ctx context.Context, c *common, r *release.Rollout) error {
		client, err := c.factory.Dynamic()
		if err != nil {
			return err
		}
		return release.Approve(ctx, client, r)
	})
	return &cobra.Command{
		Use: "approve rollout/NAME | TYPE/NAME", Short: "Let a Kruise Rollout go on past the step at which it stands",
		Long: `Let a Rollout of rollouts.kruise.io go on past the step at which it stands. It is
named itself, or by its workload. Rollouts of kubectl kruise itself go on by
"rollout promote".`,
		Example: "  kubectl kruise rollout approve rollout/web\n  kubectl kruise rollout approve cloneset/web",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage.Errorf("for instance rollout/web or cloneset/web", "give one Rollout, or one TYPE/NAME")
			}
			return approve(c, args[0])
		},
	}
}
