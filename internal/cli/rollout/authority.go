package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
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

// approvals are those of the person at this machine.
type approvals struct{ *common }

var _ apply.Approvals = approvals{}

// digests are those of a plan in this cluster.
func (a approvals) digests(ctx context.Context, p plan.Plan) ([]string, error) {
	clusters, err := a.clusters(ctx)
	return planning.ApprovalDigests(&p, clusters), err
}

// clusters are the identities of the cluster.
func (a approvals) clusters(ctx context.Context) ([]string, error) {
	cfg, err := a.factory.Config()
	if err != nil {
		return nil, err
	}
	client, err := a.client()
	if err != nil {
		return nil, err
	}
	return planning.ClusterIdentities(ctx, client, cfg), nil
}

// keep keeps what was approved under a digest, for later take-overs on this machine; elsewhere it is named by --approved.
func (a approvals) keep(digest, target string) (kept bool) {
	err := planning.RememberApproval(a.factory.Streams.Getenv, planning.Approval{Digest: digest, Target: target, At: time.Now().UTC()})
	if err != nil {
		_, _ = fmt.Fprintf(a.factory.Streams.Err, "warning: the approval is not kept on this machine: %v\n", err)
	}
	return err == nil
}

// kept reports whether one of the digests was approved on this machine.
func (a approvals) kept(digests []string) bool {
	known, err := planning.IsApproved(a.factory.Streams.Getenv, digests)
	if err != nil {
		_, _ = fmt.Fprintf(a.factory.Streams.Err, "warning: this machine's approvals cannot be read: %v\n", err)
	}
	return known
}

// Approve prints the digest of a plan that the person has approved, and keeps it. Where
// it cannot be kept, only this machine's later take-over needs the digest.
func (a approvals) Approve(ctx context.Context, p plan.Plan) error {
	digests, err := a.digests(ctx, p)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(a.factory.Streams.Err, "plan approved: %s\n", digests[0])
	a.keep(digests[0], p.Target.Ref().String())
	return nil
}

// Approved reports whether --approved, --plan or this machine's notes name this plan.
func (a approvals) Approved(ctx context.Context, p plan.Plan) (bool, error) {
	digests, err := a.digests(ctx, p)
	if err != nil {
		return false, err
	}
	if a.authority.digest != "" {
		if !slices.Contains(digests, a.authority.digest) {
			return false, &resource.Error{Err: fmt.Errorf("the recorded plan is %s, not %s", digests[0], a.authority.digest), Hint: "'" + p.Target.Command("show") + "' shows the recorded plan: it may have been edited"}
		}
		return true, nil
	}
	if a.authority.file != "" {
		given, err := planning.ReadPlan(a.authority.file, a.factory.Streams.In)
		if err != nil {
			return false, err
		}
		theirs, err := a.digests(ctx, given)
		if err != nil {
			return false, err
		}
		if digests[0] != theirs[0] {
			return false, &resource.Error{Err: fmt.Errorf("the recorded plan is not the one in %s", a.authority.file), Hint: "'" + p.Target.Command("show") + "' shows the recorded plan: it may have been edited"}
		}
		return true, nil
	}
	return a.kept(digests), nil
}

// TakeOver shows what a record alone may not have done, and asks. Without a terminal the
// plan has to be one that was approved.
func (a approvals) TakeOver(ctx context.Context, t apply.TakeOver) (whole bool, err error) {
	if err := a.commands(t.Commands, "the recorded plan"); err != nil {
		return false, err
	}
	streams := a.factory.Streams
	switch {
	case t.Approved:
		return true, nil
	case len(t.Unproven) == 0 && t.Back:
		return true, nil
	case len(t.Unproven) == 0:
		_, _ = fmt.Fprintln(streams.Err, "this plan was not approved on this machine: only its current step runs, up to the pause after it; --approved DIGEST or --plan FILE runs it to the end")
		return false, nil
	case !a.canAsk():
		return false, &resource.Error{
			Err:  &apply.UnapprovedError{Reasons: t.Unproven},
			Hint: "look at it with '" + t.Plan.Target.Command("show") + "'; if it is what you approved, name it with --approved DIGEST or --plan FILE, or continue on the machine on which it was approved",
		}
	}
	_, _ = fmt.Fprintf(streams.Err, "The recorded plan was not approved on this machine: %s. What is left of it:\n\n", strings.Join(t.Unproven, "; "))
	rest, err := t.Plan.Remaining(t.Snapshot)
	if err != nil {
		return false, err
	}
	if err := view.Plan(streams.Err, rest, nil, view.Style{Color: a.factory.ColorErr()}); err != nil {
		return false, err
	}
	// What is left was shown and is carried out; the plan as a whole was not, so it does not
	// count as approved.
	err = a.ask(ctx, false, "Run this with your permissions?")
	return err == nil, err
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
	case len(others) == 0, from == planning.FromStrategy && !o.yes:
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
	_, err = rollouts.Abort(ctx, s.target.Ref)
	return err
}
