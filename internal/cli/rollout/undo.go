package rollout

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// undo is what the verb that goes back is asked for.
type undo struct {
	// number is the revision to go back to; 0 is the one before the present.
	number int64
	// fast goes back by traffic alone.
	fast bool
}

func newUndo(shared *common) *cobra.Command {
	u := &undo{}
	c := newChange(shared, &change{back: u}, &cobra.Command{
		Use: "undo (TYPE/NAME | TYPE NAME | rollout/NAME | -f FILE)", Short: "Roll back to an older revision",
		Long: `Roll back to an older revision of a workload, as a rollout like any other: planned,
shown, confirmed, in steps. The template becomes exactly that of the revision: fields
that were added since are removed. All pods are rolled back: a partition left by an
aborted rollout is removed.

A Rollout of rollouts.kruise.io is rolled back through its workload; with --fast it
returns to an earlier step without traffic to new pods, and pods stay.`,
		Example: `  kubectl kruise rollout undo cloneset/web
  kubectl kruise rollout undo cloneset/web --to-revision 3 --steps 1,100%
  kubectl kruise rollout undo rollout/web --fast`,
	}, "rolled back")
	c.Flags().Int64Var(&u.number, "to-revision", 0, "number of the revision, as history lists them; 0 is the one before the present")
	c.Flags().BoolVar(&u.fast, "fast", false, "take only the traffic of a Rollout of rollouts.kruise.io back")
	return c
}

// make gives an object its older template.
func (u *undo) make(object *resource.Resource, s plan.Snapshot) (desired *resource.Resource, same string, err error) {
	desired, revision, err := older(object, s, u.number)
	if err != nil {
		return nil, "", err
	}
	if now, ok := rules.FindRevision(plan.Revisions(s), s.Object().Template); ok && now.Name == revision.Name {
		same = fmt.Sprintf("skipped rollback (current template already matches revision %d)", revision.Number)
	}
	return desired, same, nil
}

// older is an object with the template of an older revision, 0 for the one before the present, which
// all of its pods follow.
func older(object *resource.Resource, s plan.Snapshot, number int64) (*resource.Resource, cluster.Revision, error) {
	revision, err := plan.OlderRevision(s, number)
	if err != nil {
		return nil, revision, object.Wrap(err, "")
	}
	return released(withTemplate(object, revision.Template)), revision, nil
}

// release takes the traffic of a Rollout back, or finds the workload to take back.
func (u *undo) release(ctx context.Context, o *runOptions, name string) (string, error) {
	r, err := o.release(ctx, name)
	if err != nil {
		return "", err
	}
	if !u.fast { // nothing is written to the Rollout itself (docs/facts/older-plugin.md#client-writes)
		return singular(r.Workload.Kind, r.Workload.Group) + "/" + r.Workload.Name, nil
	}
	return "", o.printWritten(o.printer, func(c dynamic.Interface) (*unstructured.Unstructured, error) {
		return release.Fast(ctx, c, r, o.printer.request(o.manager))
	})
}

// check refuses what no revision and no Rollout is.
func (u *undo) check(list []string) error {
	if u.number < 0 {
		return command.Usagef("history lists them", "--to-revision: %d is not a revision", u.number)
	}
	for _, name := range list {
		if _, ok := releaseNamed(name); u.fast && !ok {
			return command.Usagef("name a Rollout of rollouts.kruise.io, such as rollout/web", "%s: rollback is not supported on given object with --fast", name)
		}
	}
	return nil
}

// released is an object whose pods all follow its template: a partition that an ended
// rollout has left would keep the very pods that the user wants to replace.
func released(object *resource.Resource) *resource.Resource {
	path := plan.PartitionPath(object.Group(), object.Kind(), object.Version())
	if partition := tree.Get(object.Node(), path...); path != nil && partition != nil && partition.Value != "0" {
		tree.SetAt(object.Edit(), tree.Int64(0), path...)
	}
	return object
}

// withTemplate is an object with another template; of a SidecarSet it is the fields
// that come into pods.
func withTemplate(object *resource.Resource, template map[string]any) *resource.Resource {
	out := resource.Parsed(tree.Clone(object.Node()), nil, object.Origin)
	n := out.Edit()
	if object.Kind() != kruise.KindSidecarSet {
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
