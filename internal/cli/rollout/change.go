package rollout

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// change is a verb that rolls out what it makes of the present state, of one workload
// or of several, one after the other. Scripts call these verbs as they call kubectl's:
// without a terminal they continue without a question.
type change struct {
	// done is what is printed behind the name of a workload.
	done string
	// change makes the new state; same is what is printed where that is the present one, "" for the
	// plan's words.
	change func(*resource.Resource, plan.Snapshot) (desired *resource.Resource, same string, err error)
	// release finds the workload of a Rollout of Kruise Rollout, "" where all is done;
	// nil for a verb that is not for those.
	release func(ctx context.Context, o *runOptions, name string) (string, error)
	// check looks at the names before anything is done; nil for a verb that has no
	// such question.
	check func(names []string) error
	// remake makes the new template of a UnitedDeployment, whose subsets follow one
	// after the other.
	remake func() remake
	// inPlace has restart leave the pods where they are.
	inPlace bool

	objects objects
}

func newChange(shared *common, v *change, c *cobra.Command) *cobra.Command {
	o := &runOptions{driving: driving{common: shared}, Options: planning.Options{Factory: shared.factory, Gates: &shared.reader}, back: c.Name() == "undo", as: v}
	c.ValidArgsFunction = resourcearg.CompleteNames(shared.factory)
	o.AddPolicyFlags(c)
	o.addRunFlags(c)
	v.objects.addFlags(c)
	cmdutil.AddFieldManagerFlagVar(c, &shared.manager, fieldManager)
	o.print = newPrinted(c, v.done, &o.output).addDryRunFlag(c)
	c.Flags().Lookup("output").Usage, c.Flags().Lookup("output").DefValue, o.output = printedFormats, "", ""
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := o.print.complete(c); err != nil {
			return err
		}
		if err := errors.Join(o.validate(), o.detachable(c)); err != nil {
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
	if o.as.check != nil {
		if err := o.as.check(list); err != nil {
			return err
		}
	}
	o.yes = o.yes || !o.factory.Streams.InTTY
	if len(list) == 1 {
		if name, ok := resourcearg.ParseUnited(list[0]); ok {
			return o.changeUnited(ctx, name)
		}
	}
	names, err := o.workloads(ctx, list)
	switch {
	case err != nil || len(names) == 0:
		return err
	case len(names) == 1:
		return o.changeOne(ctx, names[0])
	case o.detach.on:
		return o.refuseDetach()
	}
	return o.several(names, func(n resourcearg.Name) error { return o.changeOne(ctx, n) })
}

// workloads are the workloads of the names, without those whose Rollout did all.
func (o *runOptions) workloads(ctx context.Context, list []string) (names []resourcearg.Name, err error) {
	for _, arg := range list {
		if release, ok := releaseNamed(arg); ok && o.as.release != nil {
			if arg, err = o.as.release(ctx, o, release); err != nil {
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
		return o.inSequence(names, func(n resourcearg.Name) error { return o.restartInPlace(ctx, n) })
	}
	if err := o.CompleteSubsets(); err != nil {
		return err
	}
	return o.runUnited(ctx, name, o.as.remake())
}

func (o *runOptions) changeOne(ctx context.Context, n resourcearg.Name) error {
	if o.as.inPlace {
		return o.restartInPlace(ctx, n)
	}
	m := o.memberOf(n)
	m.policy.Change = func(object *resource.Resource, s plan.Snapshot) (desired *resource.Resource, err error) {
		desired, m.same, err = o.as.change(object, s)
		return desired, err
	}
	if err := m.policy.Complete([]string{n.String()}); err != nil {
		return err
	}
	return m.run(ctx)
}

// changed prints what was done to the workload.
func (m *member) changed(ctx context.Context) error {
	if m.as == nil {
		return nil
	}
	ref := objectOf(m.session.object)
	return m.print.fetch(ctx, m.common, ref.Resource, ref.Namespace, ref.Name)
}

// unchanged reports why nothing is done.
func (m *member) unchanged(why string) error {
	if m.same != "" {
		ref := objectOf(m.session.object)
		why = fmt.Sprintf("%s/%s %s", singular(ref.Kind, ref.Group), ref.Name, m.same)
	}
	_, err := fmt.Fprintln(m.eventsTo(), why)
	return err
}
