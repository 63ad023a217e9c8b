package rollout

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
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/submit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/metrics"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// executionFlags are those of verbs that carry a rollout out.
type executionFlags struct {
	output    string
	timeout   time.Duration
	successOn string
	atPause   bool
	// dryRun is --dry-run of verbs that print no objects; the others have their own.
	dryRun submit.DryRunFlag
	// printer is of verbs that print objects as kubectl does: -o is theirs.
	printer *printed
	// detach is --detach with its flags, of verbs that have them.
	detach detaching
	// notifications are --notify and --listen.
	notifications notifications
	// first is the index of the first step that may be carried out.
	first int
}

// execution carries rollouts out as its flags say, by the wiring of a verb. What is carried out is a [rolling].
type execution struct {
	*common
	executionFlags

	// by is when the time of --timeout is over that several rollouts share; with
	// zero each has the whole time.
	by time.Time
	// served is what --listen serves, while it does.
	served *metrics.Rollout
}

// fieldManager is who writes, unless --field-manager says otherwise.
const fieldManager = "kubectl-kruise"

// printedFormats are the values of -o where objects are printed.
const printedFormats = "kubectl's formats for the object in the end: json, yaml, name, jsonpath=…; or events: one event a line as JSON"

// machine reports whether events are for programs.
func (d *executionFlags) machine() bool {
	if d.printer != nil {
		return d.output == "events"
	}
	return d.output == "json"
}

// eventsTo is where events go: to stderr where stdout has the object.
func (d *execution) eventsTo() io.Writer {
	if d.printer.object() {
		return d.factory.Streams.Err
	}
	return d.factory.Streams.Out
}

var outputs = []string{"text", "json"}

func (d *execution) addFlags(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVarP(&d.output, "output", "o", outputs[0], "output format: text or json (one event a line)")
	fl.DurationVar(&d.timeout, "timeout", 0, "how long to wait before giving up; 0 means no timeout; the rollout can be resumed afterwards")
	fl.StringVar(&d.successOn, "success-on", "complete", "when to exit with 0: complete, or paused (also when waiting for approval)")
	fl.BoolVar(&d.atPause, "exit-on-pause", false, "exit with code 5 when the rollout waits for approval")
	d.authority.addFlags(c)
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs, cobra.ShellCompDirectiveNoFileComp))
}

func (d *executionFlags) validate() error {
	switch {
	case d.printer == nil && !slices.Contains(outputs, d.output):
		return command.Usagef("one of: text, json", "--output: unknown value %q", d.output)
	case d.successOn != "complete" && d.successOn != "paused":
		return command.Usagef("one of: complete, paused", "--success-on: unknown value %q", d.successOn)
	case d.timeout < 0:
		return command.Usagef("", "--timeout: %s is in the past", d.timeout)
	}
	d.atPause = d.atPause || d.successOn == "paused"
	return nil
}

// takeOver drives the recorded rollout, which no process has driven for a while: until now, the time
// of its step did not run.
func (d *execution) takeOver(ctx context.Context, s *session) error {
	res, err := d.resumeRecorded(ctx, s)
	if _, denied := errors.AsType[*apply.DeniedError](err); denied || errors.Is(err, plan.ErrOtherExecutor) {
		return d.notDriven(ctx, s, err)
	}
	if err != nil {
		return err
	}
	return d.end(res)
}

// notDriven ends a verb whose rollout this process does not carry out: another one does, or this
// person may not.
func (d *execution) notDriven(ctx context.Context, s *session, why error) error {
	if denied, ok := errors.AsType[*apply.DeniedError](why); ok {
		return d.refuseToDrive(ctx, s, denied)
	}
	_, _ = fmt.Fprintf(d.factory.Streams.Err, "%v; it continues there\n", why)
	return nil
}

// refuseToDrive ends the verb of a person who may decide and not carry out: the process that
// drives the rollout follows the record. Without one it takes a person with more rights.
func (d *execution) refuseToDrive(ctx context.Context, s *session, denied *apply.DeniedError) error {
	rollouts, err := d.rollouts()
	if err != nil {
		return err
	}
	if by, err := rollouts.Holder(ctx, s.target.Ref); err == nil && by != "" {
		_, _ = fmt.Fprintf(d.factory.Streams.Err, "%s runs the rollout and carries it out\n", by)
		return nil
	}
	return &resource.Error{
		Err:  fmt.Errorf("the request is recorded, but no process is running the rollout, and %w", denied),
		Hint: "'kubectl kruise rollout resume " + s.target.String() + "' runs it, with an account that has the role of 'kubectl kruise rbac'",
	}
}

// resumeRecorded carries out what is left of the recorded rollout, and reports it.
func (d *execution) resumeRecorded(ctx context.Context, s *session) (apply.Result, error) {
	rollouts, err := d.rollouts()
	if err != nil {
		return apply.Result{}, err
	}
	s.AllowVerify(d.authority.asks)
	e, err := rollouts.TakeOver(ctx, s)
	if err != nil {
		return apply.Result{}, withHint(err)
	}
	return d.carryOut(ctx, s, e, nil)
}

// carryOut carries a plan out, and reports it; also gets the events, unless it is nil. What follows
// from it for the UnitedDeployment of a subset is done as well.
func (d *execution) carryOut(ctx context.Context, s *session, e *apply.Executor, also func(event.Event)) (apply.Result, error) {
	d.factory.Until(time.Time{}) // from here on the rollout minds the time
	others, end, err := d.listeners(ctx, e)
	if err != nil {
		e.Release()
		return apply.Result{}, err
	}
	defer end()
	of := e.Plan()
	t := d.eventPrinter(d.factory.WithConnection(of.Target.Command("promote")))
	emit := func(e event.Event) {
		t.event(e)
		others(e)
		if also != nil {
			also(e)
		}
	}
	res, err := e.Run(apply.Options{Emit: emit, AtPause: d.atPause, Until: apply.TimeIn(s, d.until()), From: d.first})
	t.stop()
	if err == nil {
		res, err = d.afterSubset(ctx, s, res)
	}
	if err == nil {
		d.printNext(s, res)
	}
	if errors.Is(err, plan.ErrCredentials) {
		err = &resource.Error{Err: err, Hint: "log in again; '" + d.factory.WithConnection(of.Target.Command("resume")) + "' continues the rollout, which stays as it is"}
	}
	return res, withHint(err)
}

// printNext names the commands that continue a rollout which has ended before its last step.
func (d *execution) printNext(s *session, res apply.Result) {
	if d.output == "json" {
		return
	}
	next := func(verb string) string { return d.factory.WithConnection(res.Plan.Target.Command(verb)) }
	var hint string
	switch {
	case res.Outcome == event.AtPause && plan.ParseBlocker(res.Reason).Gate == plan.GatePromote:
		hint = fmt.Sprintf("'%s' approves and continues", next("promote"))
	case res.Outcome == event.AtPause, res.Outcome == event.TimedOut:
		hint = fmt.Sprintf("'%s' continues", next("resume"))
	case res.Outcome == event.Failed:
		hint = res.Plan.FailureHint(res.Reason, next)
	case res.Outcome == event.Completed && !s.whole:
		if text := leftBy(res.Plan); text != "" {
			_, _ = fmt.Fprintln(d.factory.Streams.Err, "left: "+text)
		}
		return
	default:
		return
	}
	_, _ = fmt.Fprintln(d.factory.Streams.Err, "hint: "+hint)
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

// withHint is why a rollout cannot be driven, with what to do about it.
func withHint(err error) error {
	if stop, ok := errors.AsType[*apply.StopError](err); ok {
		if denied, ok := errors.AsType[*apply.DeniedError](err); ok {
			return &resource.Error{
				Err:  fmt.Errorf("the request is recorded, but pods of the current step are still updated: no process runs the rollout to stop the controller, and %w", denied),
				Hint: "run it again by an account with the role of 'kubectl kruise rbac'",
			}
		}
		return &resource.Error{Err: fmt.Errorf("the request is recorded, but %w", stop), Hint: "run it again"}
	}
	if denied, ok := errors.AsType[*apply.DeniedError](err); ok {
		return &resource.Error{Err: denied, Hint: "'kubectl kruise rbac' prints the roles that rollouts need"}
	}
	if errors.Is(err, apply.ErrChanged) {
		return &resource.Error{Err: err, Hint: "look at it and try again"}
	}
	if errors.Is(err, plan.ErrOtherExecutor) {
		return &resource.Error{Err: err, Hint: "watch it with 'kubectl kruise rollout status --watch', or stop the other one first"}
	}
	return err
}

// until is when waiting ends; zero is never.
func (d *execution) until() time.Time {
	switch {
	case !d.by.IsZero():
		return d.by
	case d.timeout == 0:
		return time.Time{}
	}
	return time.Now().Add(d.timeout)
}

// end is the exit code of a verb, by how its rollout ended.
func (d *executionFlags) end(res apply.Result) error { return d.unlessPaused(ending(res)) }

// unlessPaused makes a pause a success where that was asked for.
func (d *executionFlags) unlessPaused(err error) error {
	if errors.Is(err, command.ErrPaused) && d.successOn == "paused" {
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
