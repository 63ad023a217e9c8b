package execute

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/submit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/metrics"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Flags are those of verbs that carry a rollout out.
type Flags struct {
	Output    string
	Timeout   time.Duration
	SuccessOn string
	AtPause   bool
	// DryRun is --dry-run of verbs that print no objects; the others have their own.
	DryRun submit.DryRunFlag
	// Printer is of verbs that print objects as kubectl does: -o is theirs.
	Printer *session.Printed
	// Detach is --detach with its flags, of verbs that have them.
	Detach detaching
	// Notifications are --notify and --listen.
	Notifications notifications
	// First is the index of the first step that may be carried out.
	First int
}

// Execution carries rollouts out as its flags say, by the wiring of a verb. What is carried out is a [Rolling].
type Execution struct {
	*session.Client
	Flags

	// by is when the time of --timeout is over that several rollouts share; with
	// zero each has the whole time.
	by time.Time
	// served is what --listen serves, while it does.
	served *metrics.Rollout
}

// PrintedFormats are the values of -o where objects are printed.
const PrintedFormats = "kubectl's formats for the object in the end: json, yaml, name, jsonpath=…; or events: one event a line as JSON"

// Machine reports whether events are for programs.
func (d *Flags) Machine() bool {
	if d.Printer != nil {
		return d.Output == "events"
	}
	return d.Output == "json"
}

// EventsTo is where events go: to stderr where stdout has the object.
func (d *Execution) EventsTo() io.Writer {
	if d.Printer.Object() {
		return d.Factory.Streams.Err
	}
	return d.Factory.Streams.Out
}

// Outputs are the values of --output of verbs that print no objects.
var Outputs = []string{"text", "json"}

// AddExecutionFlags adds the flags to a verb.
func (d *Execution) AddExecutionFlags(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVarP(&d.Output, "output", "o", Outputs[0], "output format: text or json (one event a line)")
	fl.DurationVar(&d.Timeout, "timeout", 0, "how long to wait before giving up; 0 means no timeout; the rollout can be resumed afterwards")
	fl.StringVar(&d.SuccessOn, "success-on", "complete", "when to exit with 0: complete, or paused (also when waiting for approval)")
	fl.BoolVar(&d.AtPause, "exit-on-pause", false, "exit with code 5 when the rollout waits for approval")
	d.Authority.AddFlags(c)
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(Outputs, cobra.ShellCompDirectiveNoFileComp))
}

// Check checks the flags. Errors are of usage.
func (d *Flags) Check() error {
	switch {
	case d.Printer == nil && !slices.Contains(Outputs, d.Output):
		return command.Usagef("one of: text, json", "--output: unknown value %q", d.Output)
	case d.SuccessOn != "complete" && d.SuccessOn != "paused":
		return command.Usagef("one of: complete, paused", "--success-on: unknown value %q", d.SuccessOn)
	case d.Timeout < 0:
		return command.Usagef("", "--timeout: %s is in the past", d.Timeout)
	}
	d.AtPause = d.AtPause || d.SuccessOn == "paused"
	return nil
}

// takeOver drives the recorded rollout, which no process has driven for a while: until now, the time
// of its step did not run.
func (d *Execution) takeOver(ctx context.Context, s *session.Session) error {
	res, err := d.resumeRecorded(ctx, s)
	if _, denied := errors.AsType[*apply.DeniedError](err); denied || errors.Is(err, plan.ErrOtherExecutor) {
		return d.NotDriven(ctx, s, err)
	}
	if err != nil {
		return err
	}
	return d.Ending(res)
}

// NotDriven ends a verb whose rollout this process does not carry out: another one does, or this
// person may not.
func (d *Execution) NotDriven(ctx context.Context, s *session.Session, why error) error {
	if denied, ok := errors.AsType[*apply.DeniedError](why); ok {
		return d.refuseToDrive(ctx, s, denied)
	}
	_, _ = fmt.Fprintf(d.Factory.Streams.Err, "%v; it continues there\n", why)
	return nil
}

// refuseToDrive ends the verb of a person who may decide and not carry out: the process that
// drives the rollout follows the record. Without one it takes a person with more rights.
func (d *Execution) refuseToDrive(ctx context.Context, s *session.Session, denied *apply.DeniedError) error {
	rollouts, err := d.Rollouts()
	if err != nil {
		return err
	}
	if by, err := rollouts.Holder(ctx, s.Target.Ref); err == nil && by != "" {
		_, _ = fmt.Fprintf(d.Factory.Streams.Err, "%s runs the rollout and carries it out\n", by)
		return nil
	}
	return &resource.Error{
		Err:  fmt.Errorf("the request is recorded, but no process is running the rollout, and %w", denied),
		Hint: "'kubectl kruise rollout resume " + s.Target.String() + "' runs it, with an account that has the role of 'kubectl kruise rbac'",
	}
}

// resumeRecorded carries out what is left of the recorded rollout, and reports it.
func (d *Execution) resumeRecorded(ctx context.Context, s *session.Session) (apply.Result, error) {
	rollouts, err := d.Rollouts()
	if err != nil {
		return apply.Result{}, err
	}
	s.AllowVerify(d.Authority.Asks)
	e, err := rollouts.TakeOver(ctx, s)
	if err != nil {
		return apply.Result{}, session.WithHint(err)
	}
	return d.CarryOut(ctx, s, e, nil)
}

// CarryOut carries a plan out, and reports it; also gets the events, unless it is nil. What follows
// from it for the UnitedDeployment of a subset is done as well.
func (d *Execution) CarryOut(ctx context.Context, s *session.Session, e *apply.Executor, also func(event.Event)) (apply.Result, error) {
	d.Factory.Until(time.Time{}) // from here on the rollout minds the time
	others, end, err := d.listeners(ctx, e)
	if err != nil {
		e.Release()
		return apply.Result{}, err
	}
	defer end()
	of := e.Plan()
	t := d.EventPrinter(d.Factory.WithConnection(of.Target.Command("promote")))
	emit := func(e event.Event) {
		t.Event(e)
		others(e)
		if also != nil {
			also(e)
		}
	}
	res, err := e.Run(apply.Options{Emit: emit, AtPause: d.AtPause, Until: apply.TimeIn(s, d.Until()), From: d.First})
	t.Stop()
	if err == nil {
		res, err = d.AfterSubset(ctx, s, res)
	}
	if err == nil {
		d.PrintNext(s, res)
	}
	if errors.Is(err, plan.ErrCredentials) {
		err = &resource.Error{Err: err, Hint: "log in again; '" + d.Factory.WithConnection(of.Target.Command("resume")) + "' continues the rollout, which stays as it is"}
	}
	return res, session.WithHint(err)
}

// PrintNext names the commands that continue a rollout which has ended before its last step.
func (d *Execution) PrintNext(s *session.Session, res apply.Result) {
	if d.Output == "json" {
		return
	}
	next := func(verb string) string { return d.Factory.WithConnection(res.Plan.Target.Command(verb)) }
	var hint string
	switch {
	case res.Outcome == event.AtPause && plan.ParseBlocker(res.Reason).Gate == plan.GatePromote:
		hint = fmt.Sprintf("'%s' approves and continues", next("promote"))
	case res.Outcome == event.AtPause, res.Outcome == event.TimedOut:
		hint = fmt.Sprintf("'%s' continues", next("resume"))
	case res.Outcome == event.Failed:
		hint = res.Plan.FailureHint(res.Reason, next)
	case res.Outcome == event.Completed && !s.RolledOutAsWhole:
		if text := leftBy(res.Plan); text != "" {
			_, _ = fmt.Fprintln(d.Factory.Streams.Err, "left: "+text)
		}
		return
	default:
		return
	}
	_, _ = fmt.Fprintln(d.Factory.Streams.Err, "hint: "+hint)
}

// leftBy is what the last step of a plan leaves that later changes meet: pods that its partition keeps;
// "" for nothing.
func leftBy(p plan.Plan) string {
	for _, s := range slices.Backward(p.Steps) {
		for _, c := range s.After {
			if c.Type == plan.HoldsPartition && s.Kept > 0 && c.Value != "0" {
				return fmt.Sprintf("partition %s keeps %d of %s at an earlier template, and later changes do not reach them", c.Value, s.Kept, counted.Of(s.Updated+s.Kept, "pod"))
			}
			if c.Type == plan.HoldsPartition {
				return ""
			}
		}
	}
	return ""
}

// Until is when waiting ends; zero is never.
func (d *Execution) Until() time.Time {
	switch {
	case !d.by.IsZero():
		return d.by
	case d.Timeout == 0:
		return time.Time{}
	}
	return time.Now().Add(d.Timeout)
}

// Ending is the exit code of a verb, by how its rollout ended.
func (d *Flags) Ending(res apply.Result) error { return d.UnlessPaused(ending(res)) }

// UnlessPaused makes a pause a success where that was asked for.
func (d *Flags) UnlessPaused(err error) error {
	if errors.Is(err, command.ErrPaused) && d.SuccessOn == "paused" {
		return nil
	}
	return err
}

// ending is how a rollout ended, as an error.
func ending(res apply.Result) error {
	switch res.Outcome {
	case event.Completed:
		return nil
	case event.AtPause:
		return command.ErrPaused
	case event.TimedOut:
		return command.ErrTimedOut
	case event.Interrupted:
		return command.ErrInterrupted
	case event.TakenOver:
		return fmt.Errorf("%w%s; it continues there", plan.ErrOtherExecutor, strings.TrimPrefix(res.Reason, plan.ErrOtherExecutor.Error()))
	}
	return command.ErrFailed
}

// start records a plan and carries it out.
func (d *Execution) start(ctx context.Context, s *session.Session, p plan.Plan) (apply.Result, error) {
	rollouts, err := d.Rollouts()
	if err != nil {
		return apply.Result{}, err
	}
	if err := d.CheckCommands(p.Commands(0), "the plan"); err != nil {
		return apply.Result{}, err
	}
	s.AllowVerify(d.Authority.Asks)
	e, err := rollouts.Begin(ctx, s, p)
	if err != nil {
		return apply.Result{}, session.WithHint(err)
	}
	return d.CarryOut(ctx, s, e, nil)
}

// Besides is what a rollout writes beside the requests that do its work.
const Besides = "beside them, a rollout writes its record and its lease"

// ShowRequests shows requests, and has the server look at them where it is asked.
func (d *Execution) ShowRequests(ctx context.Context, list []event.Request) error {
	cfg, err := d.Factory.Config()
	if err != nil {
		return err
	}
	out := d.Factory.Streams.Out
	if d.Printer != nil && !d.Machine() {
		out = d.Factory.Streams.Err // scripts read objects
	}
	return d.Dry().Show(ctx, out, cfg, submit.Requests{JSON: d.Machine(), Manager: d.Manager, Note: Besides, List: list})
}

// Dry is --dry-run of the verb.
func (d *Flags) Dry() submit.DryRunFlag {
	if d.Printer != nil {
		return d.Printer.Dry
	}
	return d.DryRun
}

// ranks are ends of rollouts, the worst first; any other error is worse than all but the
// first.
var ranks = []error{command.ErrInterrupted, command.ErrFailed, command.ErrTimedOut, command.ErrPaused}

// Worse is the worse of two ends; nil is the best.
func Worse(a, b error) error {
	if rank(b) < rank(a) {
		return b
	}
	return a
}

// rank is small for what is bad: 0 for who was interrupted, 1 for errors.
func rank(err error) int {
	switch i := slices.IndexFunc(ranks, func(r error) bool { return errors.Is(err, r) }); {
	case err == nil:
		return len(ranks) + 1
	case i == 0:
		return 0
	default:
		return i + 1 + max(0, -i)
	}
}
