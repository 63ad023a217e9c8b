package rollout

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// inProgressing is how admission marks a workload whose change a Rollout has taken
// (older-plugin 3.4).
const inProgressing = "rollouts.kruise.io/in-progressing"

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
	template := tree.Get(h.desired.Node(), "spec", "template")
	switch {
	case tree.Equal(template, tree.Get(s.object.Node(), "spec", "template")):
		_, err := fmt.Fprintln(o.factory.Streams.Out, "the template is that already: there is nothing to roll out")
		return err
	case r.Holds() && !o.back:
		return inHands(s.target.String(), r)
	}
	o.sayHanded(h)
	if err := o.ask(o.yes, "Write the template of "+s.target.String()+"?"); err != nil {
		return err
	}
	client, err := o.factory.Dynamic()
	if err != nil {
		return err
	}
	value, _ := tree.Value(template).(map[string]any)
	got, err := release.Hand(ctx, client, release.Template{
		Workload: s.target.Ref, Resource: s.target.Resource, UID: tree.StrAt(s.object.Node(), "metadata", "uid"), Template: value,
	})
	if err != nil {
		return err
	}
	if got.GetAnnotations()[inProgressing] == "" && !r.Holds() {
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "warning: Kruise Rollout %s did not take the change: pods follow at once\n", r.Name)
		return nil
	}
	if done, err := o.followRelease(ctx, r, following{got.GetGeneration(), o.back}); err != nil || !done {
		return err
	}
	return o.writeBack(ctx)
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

// undoRelease takes the workload of a Rollout back: nothing is written to the
// Rollout itself (older-plugin 3.3).
func undoRelease(shared *common, c *cobra.Command) *cobra.Command {
	own := c.RunE
	return orRelease(c, func(c *cobra.Command, name string) error {
		r, err := shared.release(c.Context(), name)
		if err != nil {
			return err
		}
		word := strings.ToLower(r.Workload.Kind)
		if r.Workload.Group != "" {
			word += "." + r.Workload.Group
		}
		return own(c, []string{word + "/" + r.Workload.Name})
	})
}
