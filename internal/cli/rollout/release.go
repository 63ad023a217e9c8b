package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/dynamic"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// onRelease does it to an object of Kruise Rollout: pause and resume, or promote, which approves its step.
func (o *control) onRelease(ctx context.Context, r *release.Rollout) error {
	if o.action.Transition == plan.TransitionPromote {
		if o.action.How != (plan.Promotion{}) {
			return command.Usagef("without them, the current step is approved", "rollout/%s is a Rollout of %s: --full and --to are not for it", r.Name, release.Group)
		}
		return o.ApproveRelease(ctx, &session.Printed{Flags: genericclioptions.NewPrintFlags("approved"), Dry: o.DryRun}, session.FieldManager, r)
	}
	return o.PrintWritten(o.Printer, func(c dynamic.Interface) (*unstructured.Unstructured, error) {
		return release.Pause(ctx, c, r, o.action.Transition == plan.TransitionPause, o.Printer.Request(o.manager))
	})
}

func newApprove(shared *session.Client) *cobra.Command {
	var o session.Objects
	var output, manager string
	c := &cobra.Command{
		Use: "approve (rollout/NAME | TYPE/NAME | -f FILE)", Short: "Approve the current step of a rollout",
		Long: `Approve the current step of a Rollout of rollouts.kruise.io, named by itself or by its
workload. A rollout of kubectl kruise is promoted, as "rollout promote" does.`,
		Example:           "  kubectl kruise rollout approve rollout/web\n  kubectl kruise rollout approve cloneset/web",
		ValidArgsFunction: resourcearg.CompleteType(shared.Factory, "rollout", release.Group),
	}
	o.AddFlags(c)
	c.Flags().StringVarP(&output, "output", "o", "", "kubectl's formats for the object: json, yaml, name, jsonpath=…")
	p := session.NewPrinted(c, "approved", &output).AddDryRunFlag(c)
	cmdutil.AddFieldManagerFlagVar(c, &manager, session.FieldManager)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := p.Complete(c); err != nil {
			return err
		}
		if len(args) == 1 && !strings.Contains(args[0], "/") {
			args = []string{"rollout/" + args[0]}
		}
		return shared.Each(c.Context(), &o, args, func(arg string) error {
			if _, united := resourcearg.ParseUnited(arg); united {
				return promoteInstead(c.Context(), shared, p, arg)
			}
			r, err := shared.Released(c.Context(), arg)
			switch {
			case err != nil:
				return err
			case r == nil:
				return promoteInstead(c.Context(), shared, p, arg)
			}
			return shared.ApproveRelease(c.Context(), p, manager, r)
		})
	}
	return c
}

// promoteInstead approves a rollout of this program, which no object of Kruise Rollout is.
func promoteInstead(ctx context.Context, shared *session.Client, p *session.Printed, arg string) error {
	if *p.Flags.OutputFormat != "" {
		return command.Usagef(fmt.Sprintf("'kubectl kruise rollout promote %s -o json' prints the events of the rollout", arg), "no Rollout of %s is for %s, and -o prints such objects", release.Group, arg)
	}
	o := &control{Execution: execute.Execution{Client: shared, Flags: execute.Flags{Output: execute.Outputs[0], SuccessOn: "complete", DryRun: p.Dry}}, action: session.Action{Act: apply.Act{Transition: plan.TransitionPromote}}}
	return o.run(ctx, []string{arg})
}

// ControlledError reports that there is no plan to be made: a Rollout makes the steps.
type ControlledError struct {
	rollout *release.Rollout
	desired *resource.Resource
}

func (e *ControlledError) Error() string { return "controlled by Kruise Rollout " + e.rollout.Name }

// handOver writes the template alone: the Rollout goes through its own steps. In
// the middle of a release only the way back is open.
func (o *runOptions) handOver(ctx context.Context, m *execute.Member, h *ControlledError) error {
	r, s := h.rollout, m.Session
	if o.Detach.On {
		return command.Usagef("leave --detach out", "Kruise Rollout %s makes the steps in the cluster, so no Job is needed", r.Name)
	}
	template := tree.Get(h.desired.Node(), "spec", "template")
	switch {
	case tree.Equal(template, tree.Get(s.Object.Node(), "spec", "template")):
		return o.unchanged(m, "the template is that already: there is nothing to roll out")
	case r.Controls() && !o.back:
		return session.ControlledByRelease(s.Target.String(), r)
	}
	o.describeHandover(m, h)
	if o.Dry().Only() {
		return errors.Join(o.previewHandover(ctx, m), o.preview(ctx, m))
	}
	if err := o.Ask(ctx, o.agreed(), "Write the template of "+s.Target.String()+"?"); err != nil {
		return err
	}
	got, err := o.writeTemplate(ctx, m, release.Request{Manager: session.FieldManager})
	if err != nil {
		return err
	}
	if got.GetAnnotations()[plan.InProgressingAnnotation] == "" && !r.Controls() {
		_, _ = fmt.Fprintf(o.Client.Factory.Streams.Err, "warning: Kruise Rollout %s did not pick up the change: all pods are updated at once\n", r.Name)
		return o.changed(ctx, m)
	}
	if done, err := o.FollowRelease(ctx, r, execute.Following{Generation: got.GetGeneration(), Back: o.back}); err != nil || !done {
		return err
	}
	return errors.Join(o.writeBack(ctx, m), o.changed(ctx, m))
}

// writeTemplate writes the new template and nothing else.
func (o *runOptions) writeTemplate(ctx context.Context, m *execute.Member, q release.Request) (*unstructured.Unstructured, error) {
	client, err := o.Client.Factory.Dynamic()
	if err != nil {
		return nil, err
	}
	return release.Hand(ctx, client, m.Template(), q)
}

// previewHandover shows the request that hands a new template over.
func (o *runOptions) previewHandover(ctx context.Context, m *execute.Member) error {
	t := m.Template()
	return o.ShowRequests(ctx, []event.Request{session.JSONPatch(t.Resource, t.Workload, "the template, which its Rollout rolls out", t.Patch())})
}

// preview prints the workload as it would be, by the server's word where it is asked.
func (o *runOptions) preview(ctx context.Context, m *execute.Member) error {
	if o.Printer == nil {
		return nil
	}
	if !o.Printer.AtServer() || tree.Get(m.Desired.Node(), "spec", "template") == nil {
		return o.Printer.Resource(o.Client, m.Desired)
	}
	u, err := o.writeTemplate(ctx, m, release.Request{Manager: session.FieldManager, DryRun: true})
	if err != nil {
		return err
	}
	return o.Printer.Write(o.Client, u)
}

// describeHandover reports who rolls out, and what is left undone.
func (o *runOptions) describeHandover(m *execute.Member, h *ControlledError) {
	var steps []string
	for _, s := range h.rollout.Steps {
		steps = append(steps, s.Replicas)
	}
	w := o.Client.Factory.Streams.Err
	_, _ = fmt.Fprintf(w, "Kruise Rollout %s rolls %s out, in its own steps: %s. Only the template is written here.\n",
		h.rollout.Name, m.Session.Target, strings.Join(steps, ", "))
	if !tree.Equal(besides(h.desired), besides(m.Session.Object)) {
		_, _ = fmt.Fprintln(w, "warning: what else differs in the spec is not written: apply it by itself")
	}
}

// besides is a spec without what a Rollout looks after.
func besides(r *resource.Resource) *tree.Node {
	spec := tree.Clone(tree.Get(r.Node(), "spec"))
	for _, field := range []string{"template", "updateStrategy", "strategy", "paused"} {
		tree.Delete(spec, field)
	}
	return spec
}

// singular is a kind as kubectl prints it.
func singular(kind, group string) string {
	if group == "" {
		return strings.ToLower(kind)
	}
	return strings.ToLower(kind) + "." + group
}

// tellRelease shows a Rollout of Kruise Rollout once, or until it ends.
func (o *statusOptions) tellRelease(ctx context.Context, r *release.Rollout) error {
	switch {
	case o.watch:
		_, err := o.FollowRelease(ctx, r, execute.Following{})
		return err
	case o.Output == "json":
		return view.JSON(o.Factory.Streams.Out, execute.ReleaseState(r))
	}
	if err := execute.ReleaseState(r).Write(o.Factory.Streams.Out, o.Factory.OutStyle(false)); err != nil {
		return err
	}
	if r.Done() && r.Cancelled {
		return command.ErrFailed
	}
	return nil
}
