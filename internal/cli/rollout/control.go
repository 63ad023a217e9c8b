package rollout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/complete"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/named"
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
	c.ValidArgsFunction = complete.Names(shared.factory)
	c.RunE = func(c *cobra.Command, args []string) error {
		if o.print != nil {
			return o.several(c, args)
		}
		args, err := inParts(c.Context(), args, o.inFlight)
		if err != nil {
			return err
		}
		if err := errors.Join(o.pretends.Read(c), o.complete(args)); err != nil {
			return err
		}
		return o.run(c.Context())
	}
	if o.without == nil { // the others print objects, and have it by that
		o.pretends.AddFlag(c)
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
	if len(args) == 1 {
		o.name, err = named.ParseAny(args[0])
		return err
	}
	o.name, err = named.One(args)
	return err
}

// addObjects adds the flags of a verb that takes several objects, and prints them with
// what was done.
func (o *control) addObjects(c *cobra.Command, done string) {
	o.objects.parts = o.inFlight
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
		if one.name, err = named.ParseAny(arg); err != nil {
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
		}
	}
	if o.dry().Only() {
		return o.pretend(ctx, s)
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
		return o.none(ctx, s)
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
