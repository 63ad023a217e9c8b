package rollout

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
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

func newUndo(shared *session.Client) *cobra.Command {
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
	desired, revision, err := execute.Older(object, s, u.number)
	if err != nil {
		return nil, "", err
	}
	if now, ok := rules.FindRevision(plan.Revisions(s), s.Object().Template); ok && now.Name == revision.Name {
		same = fmt.Sprintf("skipped rollback (current template already matches revision %d)", revision.Number)
	}
	return desired, same, nil
}

// release takes the traffic of a Rollout back, or finds the workload to take back.
func (u *undo) release(ctx context.Context, o *runOptions, name string) (string, error) {
	r, err := o.ReleaseNamed(ctx, name)
	if err != nil {
		return "", err
	}
	if !u.fast { // nothing is written to the Rollout itself (docs/facts/older-plugin.md#client-writes)
		return singular(r.Workload.Kind, r.Workload.Group) + "/" + r.Workload.Name, nil
	}
	return "", o.PrintWritten(o.Printer, func(c dynamic.Interface) (*unstructured.Unstructured, error) {
		return release.Fast(ctx, c, r, o.Printer.Request(o.Manager))
	})
}

// check refuses what no revision and no Rollout is.
func (u *undo) check(list []string) error {
	if u.number < 0 {
		return command.Usagef("history lists them", "--to-revision: %d is not a revision", u.number)
	}
	for _, name := range list {
		if _, ok := session.ReleaseNamed(name); u.fast && !ok {
			return command.Usagef("name a Rollout of rollouts.kruise.io, such as rollout/web", "%s: rollback is not supported on given object with --fast", name)
		}
	}
	return nil
}
