package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// handedError says that there is no plan to be made: a Rollout makes the steps.
type handedError struct {
	rollout *release.Rollout
	desired *resource.Resource
}

func (e *handedError) Error() string { return "in the hands of Kruise Rollout " + e.rollout.Name }

// handed asks whether the workload's changes are for a Rollout to roll out.
func (o *runOptions) handed(ctx context.Context, desired *resource.Resource) error {
	r, err := o.releaseOf(ctx, o.session)
	if err != nil || r == nil {
		return err
	}
	return &handedError{r, desired}
}

// handOver writes the template alone: the Rollout goes through its own steps. In
// the middle of a release only the way back is open.
func (o *runOptions) handOver(ctx context.Context, h *handedError) error {
	r, s := h.rollout, o.session
	if o.detach.on {
		return command.Usagef("leave --detach out", "Kruise Rollout %s makes the steps in the cluster, so no Job is needed", r.Name)
	}
	template := tree.Get(h.desired.Node(), "spec", "template")
	switch {
	case tree.Equal(template, tree.Get(s.object.Node(), "spec", "template")):
		return o.unchanged("the template is that already: there is nothing to roll out")
	case r.Holds() && !o.back:
		return inHands(s.target.String(), r)
	}
	o.sayHanded(h)
	if o.dry().Only() {
		return errors.Join(o.wouldHand(ctx), o.pretend(ctx))
	}
	if err := o.ask(ctx, o.yes, "Write the template of "+s.target.String()+"?"); err != nil {
		return err
	}
	got, err := o.writeTemplate(ctx, release.Request{Manager: fieldManager})
	if err != nil {
		return err
	}
	if got.GetAnnotations()[plan.InProgressingAnnotation] == "" && !r.Holds() {
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "warning: Kruise Rollout %s did not pick up the change: all pods are updated at once\n", r.Name)
		return o.changed(ctx)
	}
	if done, err := o.followRelease(ctx, r, following{got.GetGeneration(), o.back}); err != nil || !done {
		return err
	}
	return errors.Join(o.writeBack(ctx), o.changed(ctx))
}

// writeTemplate writes the new template and nothing else.
func (o *runOptions) writeTemplate(ctx context.Context, q release.Request) (*unstructured.Unstructured, error) {
	client, err := o.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	return release.Hand(ctx, client, o.template(), q)
}

// template is what a Rollout rolls out, as it is written.
func (o *runOptions) template() release.Template {
	value, _ := tree.Value(tree.Get(o.desired.Node(), "spec", "template")).(map[string]any)
	ref := objectOf(o.session.object)
	return release.Template{
		Workload: ref.Ref, Resource: ref.Resource, UID: tree.StrAt(o.session.object.Node(), "metadata", "uid"), Template: value,
	}
}

// wouldHand shows the request that hands a new template over.
func (o *runOptions) wouldHand(ctx context.Context) error {
	t := o.template()
	return o.show(ctx, []event.Request{jsonPatch(t.Resource, t.Workload, "the template, which its Rollout rolls out", t.Patch())})
}

// pretend prints the workload as it would be, by the server's word where it is asked.
func (o *runOptions) pretend(ctx context.Context) error {
	if o.print == nil {
		return nil
	}
	if !o.print.atServer() || tree.Get(o.desired.Node(), "spec", "template") == nil {
		return o.print.resource(o.common, o.desired)
	}
	u, err := o.writeTemplate(ctx, release.Request{Manager: fieldManager, DryRun: true})
	if err != nil {
		return err
	}
	return o.print.write(o.common, u)
}

// sayHanded says who rolls out, and what is left undone.
func (o *runOptions) sayHanded(h *handedError) {
	var steps []string
	for _, s := range h.rollout.Steps {
		steps = append(steps, s.Replicas)
	}
	w := o.factory.Streams.Err
	_, _ = fmt.Fprintf(w, "Kruise Rollout %s rolls %s out, in its own steps: %s. Only the template is written here.\n",
		h.rollout.Name, o.session.target, strings.Join(steps, ", "))
	if !tree.Equal(besides(h.desired), besides(o.session.object)) {
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

// workloadOf names the workload of a Rollout: that is taken back, and nothing is
// written to the Rollout itself (docs/facts/older-plugin.md#client-writes).
func workloadOf(r *release.Rollout) string {
	return singular(r.Workload.Kind, r.Workload.Group) + "/" + r.Workload.Name
}

// singular is a kind as kubectl prints it.
func singular(kind, group string) string {
	if group == "" {
		return strings.ToLower(kind)
	}
	return strings.ToLower(kind) + "." + group
}
