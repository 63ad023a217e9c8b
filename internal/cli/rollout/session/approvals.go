package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Approvals are those of the person at this machine: of rollouts, by their digests.
type Approvals struct {
	*Client

	// Group indicates that the members of a group are carried out, which is approved as a whole, and
	// plans are the digests of those of its plans that were.
	Group bool
	plans []string
	// asking has one question asked at a time.
	asking sync.Mutex
}

var _ apply.Approvals = (*Approvals)(nil)

// Approvals are those of the person at this machine.
func (c *Client) Approvals() *Approvals { return &Approvals{Client: c} }

// ClusterIdentities are the identities of the cluster.
func (c *Client) ClusterIdentities(ctx context.Context) ([]string, error) {
	cfg, err := c.Factory.Config()
	if err != nil {
		return nil, err
	}
	client, err := c.Clientset()
	if err != nil {
		return nil, err
	}
	return planning.ClusterIdentities(ctx, client, cfg), nil
}

// Digests are those of a rollout in this cluster.
func (c *Client) Digests(ctx context.Context, of *plan.Rollout) (out []string, err error) {
	clusters, err := c.ClusterIdentities(ctx)
	for _, id := range clusters {
		out = append(out, of.Digest(id))
	}
	return out, err
}

// keep keeps what was approved under a digest, for later take-overs on this machine; elsewhere it is named by --approved.
func (a *Approvals) keep(digest, target string) (kept bool) {
	err := planning.RememberApproval(a.Factory.Streams.Getenv, planning.Approval{Digest: digest, Target: target, At: time.Now().UTC()})
	if err != nil {
		_, _ = fmt.Fprintf(a.Factory.Streams.Err, "warning: the approval is not kept on this machine: %v\n", err)
	}
	return err == nil
}

// kept reports whether one of the digests was approved on this machine.
func (a *Approvals) kept(digests []string) bool {
	known, err := planning.IsApproved(a.Factory.Streams.Getenv, digests)
	if err != nil {
		_, _ = fmt.Fprintf(a.Factory.Streams.Err, "warning: this machine's approvals cannot be read: %v\n", err)
	}
	return known
}

// Approve prints the digest of a plan that the person has approved, and keeps it. Where it cannot be
// kept, only this machine's later take-over needs the digest. The plans of a group were approved with it, the ways
// back from them were not.
func (a *Approvals) Approve(ctx context.Context, p plan.Plan) error {
	if a.Group && p.RollbackReason == "" {
		return nil
	}
	of := plan.RolloutOf(p)
	digests, err := a.Digests(ctx, &of)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(a.Factory.Streams.Err, "plan approved: %s\n", digests[0])
	a.keep(digests[0], of.Members[0].Ref.String())
	return nil
}

// ApproveGroup prints the digest of a group that the person has approved, and keeps it with those of the
// plans that have not begun. The plan of a rollout in progress is recorded: whether it was approved is known by its own digest.
func (a *Approvals) ApproveGroup(ctx context.Context, rec *plan.Rollout, unbegun []plan.Plan) error {
	clusters, err := a.ClusterIdentities(ctx)
	if err != nil {
		return err
	}
	digest := rec.Digest(clusters[0])
	_, _ = fmt.Fprintf(a.Factory.Streams.Err, "group %s approved: %s\n", rec.Name, digest)
	kept := a.keep(digest, "group "+rec.Name)
	for _, p := range unbegun {
		one := p.Digest(clusters[0])
		a.plans = append(a.plans, one)
		kept = kept && a.keep(one, p.Target.Ref().String())
	}
	return nil
}

// Approved reports whether the person has approved this plan, by itself or with its group.
func (a *Approvals) Approved(ctx context.Context, p plan.Plan) (bool, error) {
	a.asking.Lock()
	defer a.asking.Unlock()
	of := plan.RolloutOf(p)
	if !a.Group {
		return a.Knows(ctx, &of)
	}
	digests, err := a.Digests(ctx, &of)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(digests, func(d string) bool { return slices.Contains(a.plans, d) }) || a.kept(digests), nil
}

// Knows reports whether --approved, --plan or this machine's notes name this very rollout; the error
// is that the first two name another one.
func (a *Approvals) Knows(ctx context.Context, of *plan.Rollout) (bool, error) {
	digests, err := a.Digests(ctx, of)
	if err != nil {
		return false, err
	}
	what, show, file := "plan", of.Members[0].Plan.Target.Command("show"), a.Authority.File
	if of.Name != "" {
		what, show, file = "group", "kubectl kruise rollout status --group "+of.Name, ""
	}
	edited := func(format string, args ...any) error {
		return &resource.Error{Err: fmt.Errorf("the recorded "+what+" is "+format, args...), Hint: "'" + show + "' shows it: it may have been edited"}
	}
	switch given := a.Authority.Digest; {
	case given != "" && !slices.Contains(digests, given):
		return false, edited("%s, not %s", digests[0], given)
	case given != "":
		return true, nil
	case file == "":
		return a.kept(digests), nil
	}
	p, err := planning.ReadPlan(file, a.Factory.Streams.In)
	if err != nil {
		return false, err
	}
	theirs := plan.RolloutOf(p)
	if other, err := a.Digests(ctx, &theirs); err != nil || other[0] != digests[0] {
		return false, errors.Join(err, edited("not the one in %s", file))
	}
	return true, nil
}

// TakeOver shows what a record alone may not have done, and asks. Without a terminal the
// plan has to be one that was approved.
func (a *Approvals) TakeOver(ctx context.Context, t apply.TakeOver) (whole bool, err error) {
	a.asking.Lock()
	defer a.asking.Unlock()
	if err := a.CheckCommands(t.Commands, "the recorded plan"); err != nil {
		return false, err
	}
	switch {
	case t.Approved, len(t.Unproven) == 0 && t.Back:
		return true, nil
	case len(t.Unproven) == 0:
		_, _ = fmt.Fprintln(a.Factory.Streams.Err, "this plan was not approved on this machine: only its current step runs, up to the pause after it; --approved DIGEST or --plan FILE runs it to the end")
		return false, nil
	}
	// What is left was shown and is carried out; the plan as a whole was not, so it does not
	// count as approved.
	err = a.AskForRest(ctx, t.Plan, t.Snapshot, t.Unproven, "Run this with your permissions?")
	return err == nil, err
}

// AskForRest shows what is left of a recorded plan that was not approved on this machine, for the
// reasons given, and asks.
func (a *Approvals) AskForRest(ctx context.Context, p plan.Plan, s plan.Snapshot, reasons []string, question string) error {
	if !a.canAsk() {
		return &resource.Error{
			Err:  &apply.UnapprovedError{Reasons: reasons},
			Hint: "look at it with '" + p.Target.Command("show") + "'; if it is what you approved, name it with --approved DIGEST or --plan FILE, or continue on the machine on which it was approved",
		}
	}
	rest, err := p.Remaining(s)
	if err != nil {
		return err
	}
	w := a.Factory.Streams.Err
	_, _ = fmt.Fprintf(w, "The recorded plan was not approved on this machine: %s. What is left of it:\n\n", strings.Join(reasons, "; "))
	if err := view.Plan(w, rest, nil, view.Style{Color: a.Factory.ColorErr()}); err != nil {
		return err
	}
	return a.Ask(ctx, false, question)
}

// Confirm decides whether a recorded group may be carried out: it was approved on this machine
// or is named by --approved; otherwise the user is shown what has not begun, and asked. What
// is in progress then is approved by its own digest, or not.
func (a *Approvals) Confirm(ctx context.Context, rec *plan.Rollout, groups apply.Groups) error {
	plans := rec.Plans()
	approved, err := a.Knows(ctx, rec)
	if err == nil && !approved {
		plans, err = a.askFor(ctx, rec, groups)
	}
	if err != nil {
		return err
	}
	clusters, err := a.ClusterIdentities(ctx)
	if err != nil {
		return err
	}
	for _, p := range plans {
		for _, id := range clusters {
			a.plans = append(a.plans, p.Digest(id))
		}
	}
	return nil
}

// askFor shows what has not begun of a group, as its patches describe it, and asks. It returns
// the plans that were shown.
func (a *Approvals) askFor(ctx context.Context, rec *plan.Rollout, groups apply.Groups) (shown []plan.Plan, err error) {
	if !a.canAsk() {
		return nil, a.Unapproved(rec)
	}
	w, style := a.Factory.Streams.Err, view.Style{Color: a.Factory.ColorErr()}
	_, _ = fmt.Fprintf(w, "The recorded group was not approved on this machine. Its limits: %s. Its rollouts that have not started:\n\n", limitsText(rec.Bounds))
	for i, p := range rec.Plans() {
		one, err := groups.Rollouts.Get(ctx, rec.Members[i].Ref)
		if err != nil && !errors.Is(err, plan.ErrNoRollout) {
			return nil, err
		}
		if phase, _ := rec.PhaseOf(i, one, err == nil); phase != plan.PhasePending {
			continue
		}
		if err := a.CheckCommands(p.Commands(0), "the recorded plan"); err != nil {
			return nil, err
		}
		described, err := a.described(ctx, p)
		if err != nil {
			return nil, err
		}
		if err := view.Plan(w, described, nil, style); err != nil {
			return nil, err
		}
		shown = append(shown, p)
	}
	return shown, a.Ask(ctx, false, "Carry this out with your rights?")
}

// Unapproved is the error of a group that may not be carried out without a question.
func (a *Approvals) Unapproved(rec *plan.Rollout) error {
	return &resource.Error{
		Err:  errors.New("the recorded group is not one that you approved on this machine"),
		Hint: "look at it with 'kubectl kruise rollout status --group " + rec.Name + "'; if it is what you approved, name it with --approved DIGEST, as 'rollout run' printed it",
	}
}

// described is a plan as its patches describe it; one that says something else is an error.
func (a *Approvals) described(ctx context.Context, p plan.Plan) (plan.Plan, error) {
	s, err := a.OpenRef(ctx, p.Target.Ref())
	if err != nil {
		return p, err
	}
	defer s.Close()
	p, _, err = Fits(ctx, s, p)
	return p, err
}

func limitsText(l plan.Bounds) string {
	bound := func(n int, noun string) string {
		if n == 0 {
			return "any number of " + noun + "s"
		}
		return counted.Of(n, noun)
	}
	return fmt.Sprintf("%s at a time, %s, %s", bound(l.Parallel, "rollout"), bound(l.MaxUnavailable, "unavailable pod"), counted.Of(l.MaxFailures, "failure"))
}
