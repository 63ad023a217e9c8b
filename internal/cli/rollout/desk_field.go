package rollout

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Scale offers to change how many pods there are.
func (d *Desk) Scale(ctx context.Context, ref cluster.Ref, value string) (*Offer, error) {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("%q is not a number of pods", value)
	}
	patch := &plan.Patch{Type: plan.PatchMerge, Subresource: "scale", Body: map[string]any{"spec": map[string]any{"replicas": n}}}
	return d.patched(ctx, ref, "scaled to "+value, func(s plan.Snapshot) (*plan.Patch, plan.Consequence, error) {
		if w := s.Object(); w.Kind == kruise.KindDaemonSet || w.Kind == kruise.KindSidecarSet {
			return nil, plan.Consequence{}, fmt.Errorf("%s has no number of pods of its own", ref)
		}
		return patch, plan.Consequence{Was: strconv.Itoa(plan.Standing(s).Limits.Replicas), Becomes: value}, nil
	})
}

// Partition offers to change how many pods stay old.
func (d *Desk) Partition(ctx context.Context, ref cluster.Ref, value string) (*Offer, error) {
	return d.patched(ctx, ref, "partition set to "+value, func(now plan.Snapshot) (*plan.Patch, plan.Consequence, error) {
		w := now.Object()
		path := plan.PartitionPath(w.Group, w.Kind, w.Version)
		if path == nil {
			return nil, plan.Consequence{}, fmt.Errorf("%s has no partition", ref)
		}
		body, err := partitioned(path, value)
		if err != nil {
			return nil, plan.Consequence{}, err
		}
		return &plan.Patch{Type: plan.PatchMerge, Body: body}, plan.Consequence{Was: plan.PartitionOf(w), Becomes: value}, nil
	})
}

// partitioned is a merge patch of the partition alone.
func partitioned(path []string, value string) (any, error) {
	var body any = value
	if n, err := strconv.ParseInt(value, 10, 32); err == nil {
		body = n
	} else if _, err := plan.ParseAmount(value); err != nil {
		return nil, fmt.Errorf("partition: %w", err)
	}
	for _, name := range slices.Backward(path) {
		body = map[string]any{name: body}
	}
	return body, nil
}

// patches makes a patch of a workload as it is now, and says what it changes.
type patches func(plan.Snapshot) (*plan.Patch, plan.Consequence, error)

// patched offers one patch of a workload that has no rollout in progress; done is what is
// said once it is written.
func (d *Desk) patched(ctx context.Context, ref cluster.Ref, done string, makes patches) (*Offer, error) {
	offer, err := d.patch(ctx, ref, makes, false)
	if err != nil {
		return nil, err
	}
	offer.do = func(ctx context.Context) (string, error) {
		_, err := d.patch(ctx, ref, makes, true)
		return done, err
	}
	return offer, nil
}

// patch makes a patch for a workload as it is now, and writes it where that is asked for;
// else it also says who owns the fields.
func (d *Desk) patch(ctx context.Context, ref cluster.Ref, makes patches, write bool) (*Offer, error) {
	at, notes := d.sessions()
	s, err := d.open(ctx, at, ref)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := apply.Idle(s, plan.TransitionBegin); err != nil {
		return nil, err
	}
	now, err := s.Observe(ctx, ref)
	if err != nil {
		return nil, err
	}
	if now.Workload == nil {
		return nil, &resource.Error{Err: fmt.Errorf("%s is gone", ref)}
	}
	patch, change, err := makes(now)
	if err != nil {
		return nil, err
	}
	uid := now.Object().UID
	if write {
		return nil, s.Do(ctx, ref, plan.Action{Patch: patch, Precondition: plan.Precondition{UID: uid}})
	}
	at.sayOwners(s.object)
	return &Offer{Change: change, Effect: notes.lines(), Means: fmt.Sprintf("%s to %s of %s", change.Was, change.Becomes, uid)}, nil
}
