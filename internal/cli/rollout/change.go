package rollout

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// change is undo or restart: a verb that rolls out what it makes of the present state, of one workload
// or of several. Scripts call these verbs as they call kubectl's: without a terminal they continue
// without a question.
type change struct {
	objects session.Objects
	// inPlace has restart leave the pods where they are.
	inPlace bool
	// back is what undo goes back to; nil for restart.
	back *undo
}

// make makes the new state; same is what is printed where that is the present one, "" for the
// plan's words.
func (v *change) make(object *resource.Resource, s plan.Snapshot) (desired *resource.Resource, same string, err error) {
	if v.back != nil {
		return v.back.make(object, s)
	}
	desired, err = restart(object, s)
	return desired, "", err
}

// newChange makes the command of a verb; done is what is printed behind the name of a workload.
func newChange(shared *session.Client, v *change, c *cobra.Command, done string) *cobra.Command {
	o := newRunOptions(shared)
	o.back, o.as = v.back != nil, v
	c.ValidArgsFunction = resourcearg.CompleteNames(shared.Factory)
	o.AddPolicyFlags(c)
	o.addRunFlags(c)
	v.objects.AddFlags(c)
	cmdutil.AddFieldManagerFlagVar(c, &shared.Manager, session.FieldManager)
	o.Printer = session.NewPrinted(c, done, &o.Output).AddDryRunFlag(c)
	c.Flags().Lookup("output").Usage, c.Flags().Lookup("output").DefValue, o.Output = execute.PrintedFormats, "", ""
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := o.Printer.Complete(c); err != nil {
			return err
		}
		if err := errors.Join(o.Check(), o.Detachable(c), o.CompletePolicy()); err != nil {
			return err
		}
		return o.changeAll(c.Context(), args)
	}
	return c
}

// changeAll changes every workload that the command line means.
func (o *runOptions) changeAll(ctx context.Context, args []string) error {
	list, err := o.Names(ctx, &o.as.objects, args)
	if err != nil {
		return err
	}
	if o.as.back != nil {
		if err := o.as.back.check(list); err != nil {
			return err
		}
	}
	if len(list) == 1 {
		if name, ok := resourcearg.ParseUnited(list[0]); ok {
			return o.changeUnited(ctx, name)
		}
	}
	names, err := o.workloads(ctx, list)
	if err != nil || len(names) == 0 {
		return err
	}
	if o.as.inPlace {
		return o.restartInPlace(ctx, names)
	}
	return o.rollOut(ctx, o.eachOf(names))
}

// workloads are the workloads of the names, without those whose Rollout did all.
func (o *runOptions) workloads(ctx context.Context, list []string) (names []resourcearg.Name, err error) {
	for _, arg := range list {
		if release, ok := session.ReleaseNamed(arg); ok && o.as.back != nil {
			if arg, err = o.as.back.release(ctx, o, release); err != nil {
				return nil, err
			}
			if arg == "" {
				continue
			}
		}
		n, err := resourcearg.Parse(arg)
		if err != nil {
			return nil, err
		}
		names = append(names, n)
	}
	return names, nil
}

// changeUnited changes a UnitedDeployment, which is the only argument on the command line.
func (o *runOptions) changeUnited(ctx context.Context, name string) error {
	if err := o.RefuseDetach(); err != nil {
		return err
	}
	if o.as.inPlace {
		names, err := o.SubsetNames(ctx, name)
		if err != nil {
			return err
		}
		return o.restartInPlace(ctx, names)
	}
	return o.runUnited(ctx, name)
}

// changed prints what was done to a workload.
func (o *runOptions) changed(ctx context.Context, m *execute.Member) error {
	if o.as == nil {
		return nil
	}
	ref := session.ObjectOf(m.Session.Object)
	return o.Printer.Fetch(ctx, o.Client, ref.Resource, ref.Namespace, ref.Name)
}

// why is why there is nothing to do.
func (o *runOptions) why(m *execute.Member) string {
	if m.Same == "" {
		return m.Plan.Change.Why
	}
	ref := session.ObjectOf(m.Session.Object)
	return fmt.Sprintf("%s/%s %s", singular(ref.Kind, ref.Group), ref.Name, m.Same)
}

// unchanged reports why nothing is done.
func (o *runOptions) unchanged(m *execute.Member, why string) error {
	if m.Same != "" {
		why = o.why(m)
	}
	_, err := fmt.Fprintln(o.EventsTo(), why)
	return err
}
