package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/verify"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Authority is what the person at this machine allows a rollout to do with their rights. A
// plan in a file or a record, and a policy in an annotation, may be written by people who
// have fewer; docs/safety.md has the rules.
type Authority struct {
	// Asks are the permissions of verify steps.
	Asks verify.Permissions
	// Digest and file name the plan that was approved, of verbs that take a rollout over.
	Digest, File string
	// Yes is the answer to the question whether a plan that was shown is carried out.
	Yes bool
}

// AddFlags adds the flags of verbs that carry out steps which verify.
func (a *Authority) AddFlags(c *cobra.Command) {
	c.Flags().BoolVar(&a.Asks.Commands, "allow-commands", false, "run the commands of verify steps that come from a file, an annotation or a record")
	c.Flags().BoolVar(&a.Asks.LinkLocal, "allow-link-local", false, "let verify steps ask link-local addresses and metadata services")
}

// AddTakeOverFlags adds the flags of verbs that continue a rollout from its record.
func (a *Authority) AddTakeOverFlags(c *cobra.Command) {
	c.Flags().StringVar(&a.Digest, "approved", "", "digest of the plan that you approved, as 'rollout run' printed it")
	c.Flags().StringVar(&a.File, "plan", "", "file with the plan that you approved")
	_ = c.MarkFlagFilename("plan", "yaml", "yml", "json")
}

// canAsk reports whether a recorded plan that was not approved can be shown and asked for: --yes is
// no answer to what was not seen.
func (c *Client) canAsk() bool { return c.Factory.Streams.InTTY && !c.Authority.Yes }

// CheckCommands refuses programs that were not named on the command line, and lists those that
// are allowed.
func (c *Client) CheckCommands(list []string, from string) error {
	switch {
	case len(list) == 0:
		return nil
	case !c.Authority.Asks.Commands:
		return &resource.Error{
			Err:  fmt.Errorf("%s runs commands on this machine:\n  %s", from, strings.Join(list, "\n  ")),
			Hint: "--allow-commands runs them, after a look at each",
		}
	}
	_, _ = fmt.Fprintf(c.Factory.Streams.Err, "runs on this machine:\n  %s\n", strings.Join(list, "\n  "))
	return nil
}

// Ask asks before something big is changed; yes is the answer beforehand.
func (c *Client) Ask(ctx context.Context, yes bool, question string) error {
	if yes {
		return nil
	}
	return kubectl.Ask(ctx, c.Factory, question)
}

// ReplaceOngoing asks whether a rollout in progress should end where it is for another one to take its place, and
// ends it. refused is why it cannot be replaced, which is returned where no one can answer.
func (c *Client) ReplaceOngoing(ctx context.Context, s *Session, refused error, question string) error {
	t, ok := errors.AsType[*plan.TransitionError](refused)
	if !ok || !c.Factory.Streams.InTTY {
		return refused
	}
	_, _ = fmt.Fprintf(c.Factory.Streams.Err, "%s\nhint: %s\n", t.Msg, c.Factory.WithConnection(t.Hint))
	if err := kubectl.Ask(ctx, c.Factory, question); err != nil {
		return err
	}
	rollouts, err := c.Rollouts()
	if err != nil {
		return err
	}
	_, err = rollouts.Do(ctx, s.Target.Ref, apply.Act{Transition: plan.TransitionAbort})
	return err
}
