package rollout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/named"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// control is a verb that changes a rollout's record, and may go on with it.
type control struct {
	driving

	name named.Name
	// only says that the record is changed and nothing more.
	only bool
	// change changes the record; it returns what to tell.
	change func(*kube.Record) (said string, err error)
	// goesOn says that whoever calls drives the rollout, unless somebody does.
	goesOn bool

	// without is what the verb does to a workload that no rollout is on record for;
	// such a verb takes several objects, and prints them. release is what it does to
	// an object of Kruise Rollout.
	without func(context.Context, *control, *session) error
	release func(context.Context, *control, *release.Rollout) error
	objects objects
	manager string
}

func newControl(shared *common, o *control, c *cobra.Command) *cobra.Command {
	o.common = shared
	c.ValidArgsFunction = planning.CompleteNames
	c.RunE = func(c *cobra.Command, args []string) error {
		if o.print != nil {
			return o.several(c, args)
		}
		if err := o.complete(args); err != nil {
			return err
		}
		return o.run(c.Context())
	}
	if o.goesOn {
		o.addFlags(c)
		c.Flags().BoolVar(&o.only, "no-wait", false, "only put it on record; whoever drives the rollout, or resumes it, takes it from there")
	} else {
		o.output, o.successOn = outputs[0], "complete"
	}
	return c
}

func (o *control) complete(args []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	var err error
	o.name, err = named.One(args)
	return err
}

// addObjects adds the flags of a verb that takes several objects, and prints them with
// what was done.
func (o *control) addObjects(c *cobra.Command, done string) {
	o.objects.addFlags(c)
	o.print = newPrinted(c, done, &o.output).pretends(c)
	if c.Flags().Lookup("output") == nil {
		c.Flags().StringVarP(&o.output, "output", "o", "", printedFormats)
	}
	cmdutil.AddFieldManagerFlagVar(c, &o.manager, fieldManager)
}

// several does it to every object that the command line means.
func (o *control) several(c *cobra.Command, args []string) error {
	if err := o.print.complete(c); err != nil {
		return err
	}
	if err := o.validate(); err != nil {
		return err
	}
	ctx := c.Context()
	return o.each(ctx, &o.objects, args, func(arg string) error {
		if name, ok := releaseNamed(arg); ok {
			r, err := o.common.release(ctx, name)
			if err != nil {
				return err
			}
			return o.release(ctx, o, r)
		}
		one := *o
		var err error
		if one.name, err = named.Parse(arg); err != nil {
			return err
		}
		return one.run(ctx)
	})
}

func (o *control) run(ctx context.Context) error {
	s, err := o.locate(ctx, o.name)
	if err != nil {
		return err
	}
	records, err := o.records()
	if err != nil {
		return err
	}
	if o.without != nil {
		rec, err := records.Load(ctx, s.target.Ref)
		switch {
		case errors.Is(err, kube.ErrNone), err == nil && over(rec):
			return o.without(ctx, o, s)
		case err != nil:
			return err
		case o.print.only():
			return o.print.resource(o.common, s.object)
		}
	}
	return o.onRecord(ctx, s, records)
}

// onRecord changes the record, and goes on with it.
func (o *control) onRecord(ctx context.Context, s *session, records kube.Records) error {
	var said string
	rec, err := records.Change(ctx, s.target.Ref, holder(), func(r *kube.Record) (err error) {
		said, err = o.change(r)
		return err
	})
	if errors.Is(err, kube.ErrNone) {
		if r, err := o.releaseOf(ctx, s); err == nil && r != nil {
			return inHands(s.target.String(), r)
		}
		return &resource.Error{Err: fmt.Errorf("%s: no rollout is on record", s.target), Hint: "begin one with 'kubectl kruise rollout run'"}
	}
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(o.factory.Streams.Err, said)
	if o.print != nil {
		if err := o.print.resource(o.common, s.object); err != nil {
			return err
		}
	}
	if !o.goesOn || o.only {
		return nil
	}
	return o.goOn(ctx, rec)
}

// goOn drives the rollout, unless somebody does already.
func (o *control) goOn(ctx context.Context, rec kube.Record) error {
	s, err := o.open(ctx, o.name)
	if err != nil {
		return err
	}
	defer s.Close()
	held, release, err := o.hold(ctx, s, rec.Plan)
	if errors.Is(err, plan.ErrTaken) {
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "%v, and it goes on there\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	if rec, err = s.Resume(); err != nil {
		return err
	}
	return o.drive(held, s, rec.Plan)
}

func newResume(shared *common) *cobra.Command {
	o := &control{goesOn: true, without: pauseField(false), release: releasePause(false), change: resumed}
	c := newControl(shared, o, &cobra.Command{
		Use: "resume (TYPE/NAME | TYPE NAME | -f FILE)", Short: "Go on with a rollout that was paused or left",
		Long: `Go on with a rollout that was put on hold, or whose driver was killed or went away:
from where its record in the cluster stands, without repeating or skipping a step. A
workload that no rollout of ours is on record for has its own pause taken away; so has
a Rollout of rollouts.kruise.io.`,
		Example: "  kubectl kruise rollout resume cloneset/web\n  kubectl kruise rollout resume deployment api web",
	})
	o.addObjects(c, "resumed")
	return c
}

func resumed(r *kube.Record) (string, error) {
	if r.Progress.Halted != "" {
		return "", &resource.Error{Err: fmt.Errorf("it has halted: %s", r.Progress.Halted), Hint: "mend that and 'rollout retry', or 'rollout abort --rollback'"}
	}
	r.Progress.Held = ""
	rested(r)
	return "goes on: " + stands(*r), nil
}

// rested has the time of the present step begin anew: while nobody drove it, it did
// not run.
func rested(r *kube.Record) {
	if i := r.Progress.Step; i < len(r.Plan.Steps) && r.Plan.Steps[i].Kind != plan.StepPause {
		r.Progress.Started = time.Now().UTC()
	}
}

func newPause(shared *common) *cobra.Command {
	o := &control{without: pauseField(true), release: releasePause(true), change: paused}
	c := newControl(shared, o, &cobra.Command{
		Use: "pause (TYPE/NAME | TYPE NAME | -f FILE)", Short: "Put a rollout on hold",
		Long: `Put a rollout on hold. Where none of ours is on record, the workload's own controller
is told to update no more pods; a Rollout of rollouts.kruise.io is paused itself.`,
		Example: "  kubectl kruise rollout pause cloneset/web\n  kubectl kruise rollout pause rollout/web",
	})
	o.addObjects(c, "paused")
	return c
}

func paused(r *kube.Record) (string, error) {
	if err := running(*r); err != nil {
		return "", err
	}
	r.Progress.Held = fmt.Sprintf("by %s at %s", holder(), time.Now().UTC().Format(time.RFC3339))
	return "on hold: no further step is taken until 'rollout resume'; pods of the present step go on", nil
}

func newRetry(shared *common) *cobra.Command {
	return newControl(shared, &control{goesOn: true, change: retried}, &cobra.Command{
		Use: "retry TYPE/NAME", Short: "Go on with a rollout that has halted",
		Example: "  kubectl kruise rollout retry cloneset/web",
	})
}

func retried(r *kube.Record) (string, error) {
	if r.Progress.Halted == "" {
		return "", errors.New("it has not halted: there is nothing to retry")
	}
	r.Progress.Halted, r.Progress.Started = "", time.Now().UTC()
	return "tries again: " + stands(*r), nil
}

func newPromote(shared *common) *cobra.Command {
	var full bool
	var to string
	c := newControl(shared, &control{goesOn: true, change: func(r *kube.Record) (string, error) {
		return promotion(full, to)(r)
	}}, &cobra.Command{
		Use: "promote TYPE/NAME", Short: "Let a rollout go on to its next step",
		Long: `Let a rollout go on past the pause or the condition at which it stands. --full
passes all pauses that are left, --to those up to an amount; what is verified is
verified all the same.`,
		Example: "  kubectl kruise rollout promote cloneset/web\n  kubectl kruise rollout promote cloneset/web --to 50%",
	})
	c.Flags().BoolVar(&full, "full", false, "pass all pauses that are left")
	c.Flags().StringVar(&to, "to", "", "pass the pauses up to this many updated pods, such as 5 or 50%")
	return c
}

// promotion lets a rollout go on past its step, or all pauses up to an amount.
func promotion(full bool, to string) func(*kube.Record) (string, error) {
	return func(r *kube.Record) (string, error) {
		if err := running(*r); err != nil {
			return "", err
		}
		free, err := freeUntil(r, full, to)
		if err != nil {
			return "", err
		}
		r.Progress.Held = ""
		if free > 0 {
			r.Progress.Free = free
		} else {
			r.Progress.Promoted = true
		}
		return promotedText(r, free), nil
	}
}

func promotedText(r *kube.Record, free int) string {
	name := func(i int) string { return r.Plan.Steps[min(i, len(r.Plan.Steps)-1)].Name }
	if free > 0 {
		return "promoted: no pause counts up to step " + name(free-1)
	}
	return "promoted: step " + name(r.Progress.Step) + " is over"
}

// freeUntil is the index of the first step whose pause counts; 0 promotes the
// present step alone.
func freeUntil(r *kube.Record, full bool, to string) (int, error) {
	switch {
	case full && to != "":
		return 0, usage.Errorf("", "--full and --to exclude each other")
	case full:
		return len(r.Plan.Steps), nil
	case to == "":
		return 0, nil
	}
	amount, err := plan.ParseAmount(to)
	if err != nil {
		return 0, usage.Errorf("for instance 5 or 50%", "--to: %v", err)
	}
	want := amount.Of(r.Plan.Limits.Replicas)
	for i := range r.Plan.Steps {
		if r.Plan.Steps[i].Updated >= want && i >= r.Progress.Step {
			return i + 1, nil
		}
	}
	return len(r.Plan.Steps), nil
}

// running refuses a rollout that is over.
func running(r kube.Record) error {
	switch {
	case r.Progress.Halted != "":
		return &resource.Error{Err: fmt.Errorf("it has halted: %s", r.Progress.Halted), Hint: "mend that and 'rollout retry', or 'rollout abort --rollback'"}
	case over(r):
		return errors.New("the rollout is done")
	}
	return nil
}

// stands says in a few words where a rollout is.
func stands(r kube.Record) string {
	p := r.Progress
	switch {
	case !p.Finished.IsZero():
		return "done at " + p.Finished.UTC().Format(time.RFC3339)
	case p.Halted != "":
		return "halted: " + p.Halted
	case p.Step >= len(r.Plan.Steps):
		return "all steps are done"
	}
	text := fmt.Sprintf("step %d of %d, %s", p.Step+1, len(r.Plan.Steps), r.Plan.Steps[p.Step].Title)
	if p.Held != "" {
		text += "; on hold " + p.Held
	}
	return text
}
