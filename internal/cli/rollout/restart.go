package rollout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const (
	// restartedAnnotation is kubectl's own: a template that differs by it is another
	// one to Kubernetes' controllers.
	restartedAnnotation = "kubectl.kubernetes.io/restartedAt"
	// restartedEnv is what the older plugin writes: Kruise updates annotations in
	// place, without a restart, but env never
	// (docs/kruise/workloads.md#when-a-change-is-possible-in-place).
	restartedEnv = "RESTARTED_AT"
)

func newRestart(shared *session.Client) *cobra.Command {
	v := &change{}
	c := newChange(shared, v, &cobra.Command{
		Use: "restart (TYPE/NAME | TYPE NAME | -f FILE)", Short: "Recreate all pods; \"kubectl kruise restart\" keeps them",
		Long: `Recreate all pods of a workload, as a rollout like any other: planned, shown, confirmed,
in steps. With --in-place the pods stay, and all of their containers restart; "kubectl
kruise restart" does so for single pods or containers, too.`,
		Example: `  kubectl kruise rollout restart cloneset/web --steps 1,100%
  kubectl kruise rollout restart deployment/api cloneset/web
  kubectl kruise rollout restart cloneset/web --in-place`,
	}, "restarted")
	c.Flags().BoolVar(&v.inPlace, "in-place", false, "restart all containers inside their pods, which stay")
	return c
}

// restartInPlace restarts the containers of workloads inside their pods.
func (o *runOptions) restartInPlace(ctx context.Context, names []resourcearg.Name) error {
	switch {
	case o.Printer.Object() || o.into != "" || o.Detach.Manifest:
		return command.Usagef("leave them out: nothing of the object changes", "-o, --write-back and --manifest are not for --in-place")
	case len(names) > 1 && o.Detach.On:
		return o.RefuseDetach()
	}
	policy, err := o.Policy()
	if err != nil {
		return err
	}
	restarts := planning.RestartMaker{Factory: o.Client.Factory, Policy: policy}
	var worst error
	for i, n := range names {
		if len(names) > 1 {
			_, _ = fmt.Fprintf(o.Client.Factory.Streams.Err, "%d of %d: %s\n", i+1, len(names), n)
		}
		err := o.RunPlanned(ctx, n, o.agreed(), "Restart the containers of all pods of "+n.String()+"?", restarts.Plan)
		if worst = execute.Worse(worst, err); err != nil && !errors.Is(err, command.ErrPaused) {
			break
		}
	}
	return worst
}

// restart is a workload with a template that recreates its pods, where a change of the template does.
func restart(object *resource.Resource, s plan.Snapshot) (*resource.Resource, error) {
	fault := func(msg, hint string) (*resource.Resource, error) {
		return nil, object.Wrap(&tree.Error{Msg: msg, Hint: hint}, "")
	}
	switch {
	case object.Kind() == kruise.KindSidecarSet:
		return fault("has no pods of its own", "restart the workloads whose pods it is in")
	case object.Is("apps", kruise.KindDeployment) && tree.Bool(tree.Get(object.Node(), "spec", "paused")):
		return fault("can't restart paused deployment (run rollout resume first)", "")
	case rules.PolicyOf(s.Object().Object) == rules.PolicyInPlaceOnly:
		return fault("updates pods in place only, which no change of a template restarts", "with --in-place all containers restart inside their pods")
	}
	return restarted(object, time.Now()), nil
}

// restarted is the object with a template that recreates its pods.
func restarted(object *resource.Resource, now time.Time) *resource.Resource {
	out := resource.Parsed(tree.Clone(object.Node()), nil, object.Origin)
	n, at := out.Edit(), tree.String(now.Format(time.RFC3339))
	if object.Group() != kruise.Group {
		tree.SetAt(n, at, "spec", "template", "metadata", "annotations", restartedAnnotation)
		return out
	}
	for _, c := range tree.Items(tree.Get(n, "spec", "template", "spec", "containers")) {
		setEnv(c, restartedEnv, at)
	}
	return out
}

// setEnv sets a variable of a container, in its place or as the last.
func setEnv(container *tree.Node, name string, value *tree.Node) {
	for _, e := range tree.Items(tree.Get(container, "env")) {
		if tree.StrAt(e, "name") == name {
			tree.Delete(e, "valueFrom")
			tree.Set(e, "value", tree.Clone(value))
			return
		}
	}
	e := tree.FromValue(map[string]any{"name": name})
	tree.Set(e, "value", tree.Clone(value))
	env := tree.Get(container, "env")
	if env == nil {
		env = tree.FromValue([]any{})
		tree.Set(container, "env", env)
	}
	env.Content = append(env.Content, e)
}
