package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/verify"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// authority is what the person at this machine allows a rollout to do with their rights. A
// plan in a file or a record, and a policy in an annotation, may be written by people who
// have fewer; docs/safety.md has the rules.
type authority struct {
	// asks are the permissions of verify steps.
	asks verify.Permissions
	// digest and file name the plan that was approved, of verbs that take a rollout over.
	digest, file string
	// yes is the answer to the question whether a plan that was shown is carried out.
	yes bool
}

func (a *authority) addFlags(c *cobra.Command) {
	c.Flags().BoolVar(&a.asks.Commands, "allow-commands", false, "run the commands of verify steps that come from a file, an annotation or a record")
	c.Flags().BoolVar(&a.asks.LinkLocal, "allow-link-local", false, "let verify steps ask link-local addresses and metadata services")
}

// addTakeOverFlags adds the flags of verbs that continue a rollout from its record.
func (a *authority) addTakeOverFlags(c *cobra.Command) {
	c.Flags().StringVar(&a.digest, "approved", "", "digest of the plan that you approved, as 'rollout run' printed it")
	c.Flags().StringVar(&a.file, "plan", "", "file with the plan that you approved")
	_ = c.MarkFlagFilename("plan", "yaml", "yml", "json")
}

// canAsk reports whether a recorded plan that was not approved can be shown and asked for: --yes is
// no answer to what was not seen.
func (c *common) canAsk() bool { return c.factory.Streams.InTTY && !c.authority.yes }

// commands refuses programs that were not named on the command line, and lists those that
// are allowed.
func (c *common) commands(list []string, from string) error {
	switch {
	case len(list) == 0:
		return nil
	case !c.authority.asks.Commands:
		return &resource.Error{
			Err:  fmt.Errorf("%s runs commands on this machine:\n  %s", from, strings.Join(list, "\n  ")),
			Hint: "--allow-commands runs them, after a look at each",
		}
	}
	_, _ = fmt.Fprintf(c.factory.Streams.Err, "runs on this machine:\n  %s\n", strings.Join(list, "\n  "))
	return nil
}

// allowNamedCommands lets commands run that the person named on the command line, in a flag, or in a
// strategy file that was shown before the question.
func (o *runOptions) allowNamedCommands(p *plan.Plan) error {
	from, others := o.Untyped(p)
	switch {
	case len(others) == 0, from == planning.FromStrategy && !o.agreed():
		o.authority.asks.Commands = true
		return nil
	}
	return o.commands(others, from)
}

// ask asks before something big is changed; yes is the answer beforehand.
func (c *common) ask(ctx context.Context, yes bool, question string) error {
	if yes {
		return nil
	}
	return kubectl.Ask(ctx, c.factory, question)
}

// replaceOngoing asks whether a rollout in progress should end where it is for another one to take its place, and
// ends it. refused is why it cannot be replaced, which is returned where no one can answer.
func (c *common) replaceOngoing(ctx context.Context, s *session, refused error, question string) error {
	t, ok := errors.AsType[*plan.TransitionError](refused)
	if !ok || !c.factory.Streams.InTTY {
		return refused
	}
	_, _ = fmt.Fprintf(c.factory.Streams.Err, "%s\nhint: %s\n", t.Msg, c.factory.WithConnection(t.Hint))
	if err := kubectl.Ask(ctx, c.factory, question); err != nil {
		return err
	}
	rollouts, err := c.rollouts()
	if err != nil {
		return err
	}
	_, err = rollouts.Do(ctx, s.target.Ref, apply.Act{Transition: plan.TransitionAbort})
	return err
}
