package rollout

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// change is undo or restart: a verb that rolls out what it makes of the present state, of one workload
// or of several. Scripts call these verbs as they call kubectl's: without a terminal they continue
// without a question.
type change struct {
	objects objects
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
func newChange(shared *common, v *change, c *cobra.Command, done string) *cobra.Command {
	o := newRunOptions(shared)
	o.back, o.as = v.back != nil, v
	c.ValidArgsFunction = resourcearg.CompleteNames(shared.factory)
	o.AddPolicyFlags(c)
	o.addRunFlags(c)
	v.objects.addFlags(c)
	cmdutil.AddFieldManagerFlagVar(c, &shared.manager, fieldManager)
	o.printer = newPrinted(c, done, &o.output).addDryRunFlag(c)
	c.Flags().Lookup("output").Usage, c.Flags().Lookup("output").DefValue, o.output = printedFormats, "", ""
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := o.printer.complete(c); err != nil {
			return err
		}
		if err := errors.Join(o.validate(), o.detachable(c), o.CompletePolicy()); err != nil {
			return err
		}
		return o.changeAll(c.Context(), args)
	}
	return c
}

// changeAll changes every workload that the command line means.
func (o *runOptions) changeAll(ctx context.Context, args []string) error {
	list, err := o.names(ctx, &o.as.objects, args)
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
		if release, ok := releaseNamed(arg); ok && o.as.back != nil {
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
	if err := o.refuseDetach(); err != nil {
		return err
	}
	if o.as.inPlace {
		names, err := o.subsetNames(ctx, name)
		if err != nil {
			return err
		}
		return o.restartInPlace(ctx, names)
	}
	return o.runUnited(ctx, name)
}

// changed prints what was done to a workload.
func (o *runOptions) changed(ctx context.Context, m *member) error {
	if o.as == nil {
		return nil
	}
	ref := objectOf(m.session.object)
	return o.printer.fetch(ctx, o.common, ref.Resource, ref.Namespace, ref.Name)
}

// why is why there is nothing to do.
func (o *runOptions) why(m *member) string {
	if m.same == "" {
		return m.plan.Change.Why
	}
	ref := objectOf(m.session.object)
	return fmt.Sprintf("%s/%s %s", singular(ref.Kind, ref.Group), ref.Name, m.same)
}

// unchanged reports why nothing is done.
func (o *runOptions) unchanged(m *member, why string) error {
	if m.same != "" {
		why = o.why(m)
	}
	_, err := fmt.Fprintln(o.eventsTo(), why)
	return err
}
