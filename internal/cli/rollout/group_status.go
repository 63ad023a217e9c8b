package rollout

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// groupStatusOf shows the status of a group, once or until it ends.
func (o *statusOptions) groupStatusOf(ctx context.Context) error {
	end, err := o.Share(ctx)
	if err != nil {
		return err
	}
	defer end()
	namespace, err := o.Factory.NamespaceOrDefault()
	if err != nil {
		return err
	}
	groups, err := o.Groups(o.Approvals(), nil)
	if err != nil {
		return err
	}
	rec, err := groups.Records.Load(ctx, namespace, o.group)
	if err != nil {
		return noGroup(err)
	}
	if o.watch {
		return o.watchGroup(ctx, groups, rec)
	}
	return o.showGroupStatus(ctx, groups, rec)
}

// showGroupStatus shows the present status of a group.
func (o *statusOptions) showGroupStatus(ctx context.Context, groups apply.Groups, rec plan.Rollout) error {
	stands, err := groups.Status(ctx, rec)
	if err != nil {
		return err
	}
	s := execute.GroupStatus(rec, stands)
	if by, err := o.GroupRecords().Holder(ctx, rec.Namespace, rec.Name); err == nil {
		s.Holder = by // who carries it out is shown where that may be read
	}
	if clusters, err := o.ClusterIdentities(ctx); err == nil {
		s.Digest = rec.Digest(clusters[0])
	}
	if o.Output == "json" {
		err = view.JSON(o.Factory.Streams.Out, s)
	} else {
		err = view.Group(o.Factory.Streams.Out, s, o.Factory.OutStyle(false))
	}
	if err == nil && stands.Phase == plan.PhaseFailed {
		err = o.errorOf(plan.Decision{Verb: plan.Halt})
	}
	return err
}

// watchGroup shows the status of a group whenever it changes, until it has ended.
func (o *statusOptions) watchGroup(ctx context.Context, groups apply.Groups, rec plan.Rollout) error {
	opt, stop, err := o.GroupOptions(ctx, rec)
	if err != nil {
		return err
	}
	defer stop()
	res, err := groups.Watch(ctx, rec, &opt)
	if err != nil {
		return err
	}
	return o.GroupEnded(rec, res)
}
