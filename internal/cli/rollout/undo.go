package rollout

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/named"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func newUndo(shared *common) *cobra.Command {
	var number int64
	return newChange(shared, &cobra.Command{
		Use: "undo TYPE/NAME", Short: "Go back to an older template",
		Long: `Go back to an older template of a workload, as a rollout like any other: planned,
shown, asked for, in steps. It is the very template of that revision: fields that
were added since are gone.`,
		Example: "  kubectl kruise rollout undo cloneset/web\n  kubectl kruise rollout undo cloneset/web --to-revision 3 --steps 1,100%",
	}, func(c *cobra.Command) {
		c.Flags().Int64Var(&number, "to-revision", 0, "number of the revision, as history lists them; 0 is the one before the present")
	}, func(object *resource.Resource, s plan.Snapshot) (*resource.Resource, error) {
		if number < 0 {
			return nil, usage.Errorf("history lists them", "--to-revision: %d is no revision", number)
		}
		revision, err := older(s, number)
		if err != nil {
			return nil, object.Wrap(err, "")
		}
		return withTemplate(object, revision.Template), nil
	})
}

// older is the revision of a number, or the newest that is not the present one.
func older(s plan.Snapshot, number int64) (cluster.Revision, error) {
	list := history(s)
	now, _ := rules.FindRevision(list, s.Object().Template)
	if number > 0 {
		i := slices.IndexFunc(list, func(r cluster.Revision) bool { return r.Number == number })
		if i < 0 {
			return cluster.Revision{}, &tree.Error{Msg: fmt.Sprintf("has no revision %d on record", number), Hint: "'kubectl kruise rollout history' lists those there are"}
		}
		return list[i], nil
	}
	for _, r := range slices.Backward(list) {
		if r.Name != now.Name {
			return r, nil
		}
	}
	return cluster.Revision{}, &tree.Error{Msg: "has no older revision on record", Hint: "apply the old manifest: 'kubectl kruise rollout run -f FILE'"}
}

// history are the revisions, the oldest first.
func history(s plan.Snapshot) []cluster.Revision {
	list := slices.Clone(s.Revisions)
	slices.SortStableFunc(list, func(a, b cluster.Revision) int { return int(a.Number - b.Number) })
	return list
}

// withTemplate is an object with another template; of a SidecarSet it is the fields
// that come into pods.
func withTemplate(object *resource.Resource, template map[string]any) *resource.Resource {
	out := resource.Parsed(tree.Clone(object.Node()), nil, object.Origin)
	n := out.Edit()
	if object.Kind() != "SidecarSet" {
		tree.SetAt(n, tree.FromValue(template), "spec", "template")
		return out
	}
	spec := tree.Get(n, "spec")
	for _, field := range rules.SidecarSetFields() {
		tree.Delete(spec, field)
		if v := template[field]; v != nil {
			tree.Set(spec, field, tree.FromValue(v))
		}
	}
	return out
}

// newChange is a verb that rolls out what it makes of the present state.
func newChange(
	shared *common, c *cobra.Command, flags func(*cobra.Command), change func(*resource.Resource, plan.Snapshot) (*resource.Resource, error),
) *cobra.Command {
	o := &runOptions{driving: driving{common: shared}, Options: planning.Options{Factory: shared.factory, Change: change}, back: c.Name() == "undo"}
	c.ValidArgsFunction = planning.CompleteNames
	c.RunE = func(c *cobra.Command, args []string) error {
		if _, err := named.One(args); err != nil {
			return err
		}
		if err := errors.Join(o.validate(), o.Complete(args)); err != nil {
			return err
		}
		return o.run(c.Context())
	}
	o.AddPolicyFlags(c)
	o.addRunFlags(c)
	flags(c)
	return c
}
