package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/dynamic"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// releaseNamed is the name in rollout/NAME, with or without the group.
func releaseNamed(arg string) (name string, ok bool) {
	kind, name, ok := strings.Cut(arg, "/")
	word, group, _ := strings.Cut(strings.ToLower(kind), ".")
	switch word {
	case "rollout", "rollouts", "ro":
	default:
		return "", false
	}
	own := group == "" || group == release.Group || strings.HasSuffix(group, "."+release.Group)
	return name, ok && own && name != "" && !strings.Contains(name, "/")
}

// release reads a Rollout by its name.
func (c *common) release(ctx context.Context, name string) (*release.Rollout, error) {
	client, namespace, err := c.factory.InNamespace()
	if err != nil {
		return nil, err
	}
	r, err := release.Get(ctx, client, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, &resource.Error{Err: err, Hint: "check the name and -n; a workload is named TYPE/NAME, such as cloneset/" + name}
	}
	return r, err
}

// releaseOf finds the Rollout that has a workload in hand; nil without one.
func (c *common) releaseOf(ctx context.Context, s *session) (*release.Rollout, error) {
	if s.carrier != nil {
		return nil, nil //nolint:nilnil // that there is none is no error
	}
	client, err := c.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	if c.watches.shared == nil {
		return release.Of(ctx, client, s.target.Ref)
	}
	list, ok := c.watches.releases[s.target.Namespace]
	if !ok {
		if list, err = release.List(ctx, client, s.target.Namespace); err != nil {
			return nil, err
		}
		c.watches.releases[s.target.Namespace] = list
	}
	return list[s.target.Ref], nil
}

// released reads the Rollout that an argument means: by its name, or by that of its
// workload, which may have none.
func (c *common) released(ctx context.Context, arg string) (*release.Rollout, error) {
	if name, ok := releaseNamed(arg); ok {
		return c.release(ctx, name)
	}
	name, err := resourcearg.Parse(arg)
	if err != nil {
		return nil, err
	}
	s, err := c.locate(ctx, name)
	if err != nil {
		return nil, err
	}
	return c.releaseOf(ctx, s)
}

// controlledByRelease is the error of a command that would write to a workload which a Kruise
// Rollout controls.
func controlledByRelease(what string, r *release.Rollout) error {
	name := "rollout/" + r.Name
	return &resource.Error{
		Err:  fmt.Errorf("%s is controlled by Kruise Rollout %s: %s", what, r.Name, r.Describe()),
		Hint: fmt.Sprintf("'kubectl kruise rollout approve %s' continues it, 'kubectl kruise rollout pause %s' pauses it, 'kubectl kruise rollout undo %s' rolls it back: Kruise Rollout would undo a partition written here", name, name, name),
	}
}

// onRelease does it to an object of Kruise Rollout: pause and resume, or promote, which approves its step.
func (o *control) onRelease(ctx context.Context, r *release.Rollout) error {
	if o.action.Transition == plan.TransitionPromote {
		if o.action.How != (plan.Promotion{}) {
			return command.Usagef("without them, the current step is approved", "rollout/%s is a Rollout of %s: --full and --to are not for it", r.Name, release.Group)
		}
		return o.approveRelease(ctx, &printed{flags: genericclioptions.NewPrintFlags("approved"), dry: o.dryRun}, fieldManager, r)
	}
	return o.printWritten(o.printer, func(c dynamic.Interface) (*unstructured.Unstructured, error) {
		return release.Pause(ctx, c, r, o.action.Transition == plan.TransitionPause, o.printer.request(o.manager))
	})
}

// request shows what is written, by --dry-run.
func (p *printed) request(manager string) release.Request {
	return release.Request{Manager: manager, Only: p.only() && !p.atServer(), DryRun: p.only()}
}

// printWritten writes to an object, and prints it.
func (c *common) printWritten(p *printed, do func(dynamic.Interface) (*unstructured.Unstructured, error)) error {
	client, err := c.factory.Dynamic()
	if err != nil {
		return err
	}
	u, err := do(client)
	if err != nil {
		return err
	}
	return p.write(c, u)
}

func newApprove(shared *common) *cobra.Command {
	var o objects
	var output, manager string
	c := &cobra.Command{
		Use: "approve (rollout/NAME | TYPE/NAME | -f FILE)", Short: "Approve the current step of a rollout",
		Long: `Approve the current step of a Rollout of rollouts.kruise.io, named by itself or by its
workload. A rollout of kubectl kruise is promoted, as "rollout promote" does.`,
		Example:           "  kubectl kruise rollout approve rollout/web\n  kubectl kruise rollout approve cloneset/web",
		ValidArgsFunction: resourcearg.CompleteType(shared.factory, "rollout", release.Group),
	}
	o.addFlags(c)
	c.Flags().StringVarP(&output, "output", "o", "", "kubectl's formats for the object: json, yaml, name, jsonpath=…")
	p := newPrinted(c, "approved", &output).addDryRunFlag(c)
	cmdutil.AddFieldManagerFlagVar(c, &manager, fieldManager)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := p.complete(c); err != nil {
			return err
		}
		if len(args) == 1 && !strings.Contains(args[0], "/") {
			args = []string{"rollout/" + args[0]}
		}
		return shared.each(c.Context(), &o, args, func(arg string) error {
			if _, united := resourcearg.ParseUnited(arg); united {
				return promoteInstead(c.Context(), shared, p, arg)
			}
			r, err := shared.released(c.Context(), arg)
			switch {
			case err != nil:
				return err
			case r == nil:
				return promoteInstead(c.Context(), shared, p, arg)
			}
			return shared.approveRelease(c.Context(), p, manager, r)
		})
	}
	return c
}

// approveRelease approves the current step of a Rollout, and prints it.
func (c *common) approveRelease(ctx context.Context, p *printed, manager string, r *release.Rollout) error {
	return c.printWritten(p, func(client dynamic.Interface) (*unstructured.Unstructured, error) {
		return release.Approve(ctx, client, r, p.request(manager))
	})
}

// promoteInstead approves a rollout of this program, which no object of Kruise Rollout is.
func promoteInstead(ctx context.Context, shared *common, p *printed, arg string) error {
	if *p.flags.OutputFormat != "" {
		return command.Usagef(fmt.Sprintf("'kubectl kruise rollout promote %s -o json' prints the events of the rollout", arg), "no Rollout of %s is for %s, and -o prints such objects", release.Group, arg)
	}
	o := &control{execution: execution{common: shared, executionFlags: executionFlags{output: outputs[0], successOn: "complete", dryRun: p.dry}}, action: action{apply.Act{Transition: plan.TransitionPromote}}}
	return o.run(ctx, []string{arg})
}

// controlledError reports that there is no plan to be made: a Rollout makes the steps.
type controlledError struct {
	rollout *release.Rollout
	desired *resource.Resource
}

func (e *controlledError) Error() string { return "controlled by Kruise Rollout " + e.rollout.Name }

// handOver writes the template alone: the Rollout goes through its own steps. In
// the middle of a release only the way back is open.
func (o *runOptions) handOver(ctx context.Context, m *member, h *controlledError) error {
	r, s := h.rollout, m.session
	if o.detach.on {
		return command.Usagef("leave --detach out", "Kruise Rollout %s makes the steps in the cluster, so no Job is needed", r.Name)
	}
	template := tree.Get(h.desired.Node(), "spec", "template")
	switch {
	case tree.Equal(template, tree.Get(s.object.Node(), "spec", "template")):
		return o.unchanged(m, "the template is that already: there is nothing to roll out")
	case r.Controls() && !o.back:
		return controlledByRelease(s.target.String(), r)
	}
	o.describeHandover(m, h)
	if o.dry().Only() {
		return errors.Join(o.previewHandover(ctx, m), o.preview(ctx, m))
	}
	if err := o.ask(ctx, o.agreed(), "Write the template of "+s.target.String()+"?"); err != nil {
		return err
	}
	got, err := o.writeTemplate(ctx, m, release.Request{Manager: fieldManager})
	if err != nil {
		return err
	}
	if got.GetAnnotations()[plan.InProgressingAnnotation] == "" && !r.Controls() {
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "warning: Kruise Rollout %s did not pick up the change: all pods are updated at once\n", r.Name)
		return o.changed(ctx, m)
	}
	if done, err := o.followRelease(ctx, r, following{got.GetGeneration(), o.back}); err != nil || !done {
		return err
	}
	return errors.Join(o.writeBack(ctx, m), o.changed(ctx, m))
}

// writeTemplate writes the new template and nothing else.
func (o *runOptions) writeTemplate(ctx context.Context, m *member, q release.Request) (*unstructured.Unstructured, error) {
	client, err := o.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	return release.Hand(ctx, client, m.template(), q)
}

// template is what a Rollout rolls out, as it is written.
func (m *member) template() release.Template {
	value, _ := tree.Value(tree.Get(m.desired.Node(), "spec", "template")).(map[string]any)
	ref := objectOf(m.session.object)
	return release.Template{
		Workload: ref.Ref, Resource: ref.Resource, UID: tree.StrAt(m.session.object.Node(), "metadata", "uid"), Template: value,
	}
}

// previewHandover shows the request that hands a new template over.
func (o *runOptions) previewHandover(ctx context.Context, m *member) error {
	t := m.template()
	return o.show(ctx, []event.Request{jsonPatch(t.Resource, t.Workload, "the template, which its Rollout rolls out", t.Patch())})
}

// preview prints the workload as it would be, by the server's word where it is asked.
func (o *runOptions) preview(ctx context.Context, m *member) error {
	if o.printer == nil {
		return nil
	}
	if !o.printer.atServer() || tree.Get(m.desired.Node(), "spec", "template") == nil {
		return o.printer.resource(o.common, m.desired)
	}
	u, err := o.writeTemplate(ctx, m, release.Request{Manager: fieldManager, DryRun: true})
	if err != nil {
		return err
	}
	return o.printer.write(o.common, u)
}

// describeHandover reports who rolls out, and what is left undone.
func (o *runOptions) describeHandover(m *member, h *controlledError) {
	var steps []string
	for _, s := range h.rollout.Steps {
		steps = append(steps, s.Replicas)
	}
	w := o.factory.Streams.Err
	_, _ = fmt.Fprintf(w, "Kruise Rollout %s rolls %s out, in its own steps: %s. Only the template is written here.\n",
		h.rollout.Name, m.session.target, strings.Join(steps, ", "))
	if !tree.Equal(besides(h.desired), besides(m.session.object)) {
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

// releaseState is a Rollout for people and machines.
func releaseState(r *release.Rollout) view.Release {
	out := view.Release{
		Name: "rollout/" + r.Name, Namespace: r.Namespace, Workload: r.Workload.String(), Style: string(r.Style), Phase: r.Phase,
		Status: r.Describe(), Message: r.Message, Step: r.Index, State: r.State, Waits: r.Waits(), Cancelled: r.Cancelled,
		Updated: r.Updated, Ready: r.Ready,
	}
	if verb := r.Next(); verb != "" {
		out.Next = "kubectl kruise rollout " + verb + " rollout/" + r.Name
	}
	for _, s := range r.Steps {
		out.Steps = append(out.Steps, view.ReleaseStep{Replicas: s.Replicas, Traffic: s.Traffic, Pause: pauseOf(s)})
	}
	return out
}

func pauseOf(s release.Step) string {
	if s.Pause < 0 {
		return "until approved"
	}
	return (time.Duration(s.Pause) * time.Second).String()
}

// tellRelease shows a Rollout of Kruise Rollout once, or until it ends.
func (o *statusOptions) tellRelease(ctx context.Context, r *release.Rollout) error {
	switch {
	case o.watch:
		_, err := o.followRelease(ctx, r, following{})
		return err
	case o.output == "json":
		return view.JSON(o.factory.Streams.Out, releaseState(r))
	}
	if err := releaseState(r).Write(o.factory.Streams.Out, o.factory.OutStyle(false)); err != nil {
		return err
	}
	if r.Done() && r.Cancelled {
		return command.ErrFailed
	}
	return nil
}

// following describes what a Rollout is followed for.
type following struct {
	// generation of the workload that it has to have seen; 0 for whatever it has.
	generation int64
	// back indicates that the release is taken back: that it is cancelled is success.
	back bool
}

// followRelease shows a Rollout until it ends; done is false where it was left
// before.
func (d *execution) followRelease(ctx context.Context, r *release.Rollout, f following) (done bool, err error) {
	client, err := d.factory.Dynamic()
	if err != nil {
		return false, err
	}
	if d.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d.timeout, command.ErrTimedOut)
		defer cancel()
	}
	var last, now *release.Rollout
	begun := f.generation == 0
	err = release.Watch(ctx, client, r, func(r *release.Rollout) bool {
		begun = begun || r.Controls() || r.Generation >= f.generation
		if now = r; last == nil || releaseLine(*last) != releaseLine(*now) {
			d.tellStep(now)
		}
		last = now
		return begun && now.Done() || d.atPause && now.Waits()
	})
	switch {
	case context.Cause(ctx) == command.ErrTimedOut: //nolint:errorlint // it is the cause as it was given
		return false, command.ErrTimedOut
	case ctx.Err() != nil:
		return false, command.ErrInterrupted
	case err != nil:
		return false, err
	case !now.Done():
		return false, d.unlessPaused(command.ErrPaused)
	case now.Cancelled && !f.back:
		return true, command.ErrFailed
	}
	return true, nil
}

// releaseLine is the status of a Rollout in one line.
func releaseLine(r release.Rollout) string {
	return strings.TrimSpace(fmt.Sprintf("%s, %d updated, %d ready  %s", r.Describe(), r.Updated, r.Ready, r.Message))
}

func (d *execution) tellStep(r *release.Rollout) {
	if d.machine() {
		_ = json.NewEncoder(d.factory.Streams.Out).Encode(releaseState(r)) // a reader that has gone is no matter
		return
	}
	_, _ = fmt.Fprintf(d.eventsTo(), "%s  rollout/%s  %s\n", time.Now().Format(time.TimeOnly), r.Name, releaseLine(*r))
}
