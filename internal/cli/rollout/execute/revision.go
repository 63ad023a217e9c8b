package execute

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Older is an object with the template of an older revision, 0 for the one before the present, which
// all of its pods follow.
func Older(object *resource.Resource, s plan.Snapshot, number int64) (*resource.Resource, cluster.Revision, error) {
	revision, err := plan.OlderRevision(s, number)
	if err != nil {
		return nil, revision, object.Wrap(err, "")
	}
	return released(WithTemplate(object, revision.Template)), revision, nil
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

// WithTemplate is an object with another template; of a SidecarSet it is the fields
// that come into pods.
func WithTemplate(object *resource.Resource, template map[string]any) *resource.Resource {
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

// Undone is the plan that leads to an older revision, by the usual policy.
func (d *Execution) Undone(ctx context.Context, s *session.Session, revision int64) (plan.Plan, error) {
	if r, err := d.ReleaseOf(ctx, s); err == nil && r != nil {
		return plan.Plan{}, session.ControlledByRelease(s.Target.String(), r)
	}
	policy := planning.Maker{Factory: d.Factory, Gates: d.GateReader}
	policy.AddPolicyFlags(&cobra.Command{}) // for what they are without being given
	snapshot, err := s.Observe(ctx, s.Target.Ref)
	if err != nil {
		return plan.Plan{}, err
	}
	desired, _, err := Older(s.Object, snapshot, revision)
	if err != nil {
		return plan.Plan{}, err
	}
	if err := s.Parent.Allows(s.Object, desired); err != nil {
		return plan.Plan{}, err
	}
	m := &Member{Session: s, Called: session.NameOfRef(s.Target.Ref)}
	err = m.make(ctx, policy, desired)
	return m.Plan, err
}
