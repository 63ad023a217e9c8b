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
		return nil, fmt.Errorf("%q is no number of pods", value)
	}
	patch := &plan.Patch{Type: plan.PatchMerge, Subresource: "scale", Body: map[string]any{"spec": map[string]any{"replicas": n}}}
	return d.patched(ctx, ref, func(s plan.Snapshot) (*plan.Patch, string, error) {
		if w := s.Object(); w.Kind == kruise.KindDaemonSet || w.Kind == kruise.KindSidecarSet {
			return nil, "", fmt.Errorf("%s has no number of pods of its own", ref)
		}
		return patch, fmt.Sprintf("%d pods become %d", plan.Standing(s).Limits.Replicas, n), nil
	})
}

// Partition offers to change how many pods stay old.
func (d *Desk) Partition(ctx context.Context, ref cluster.Ref, value string) (*Offer, error) {
	return d.patched(ctx, ref, func(now plan.Snapshot) (*plan.Patch, string, error) {
		w := now.Object()
		path := plan.PartitionPath(w.Group, w.Kind, w.Version)
		if path == nil {
			return nil, "", fmt.Errorf("%s has no partition", ref)
		}
		body, err := partitioned(path, value)
		if err != nil {
			return nil, "", err
		}
		was := plan.PartitionOf(w)
		if was == "" {
			was = "none"
		}
		return &plan.Patch{Type: plan.PatchMerge, Body: body}, fmt.Sprintf("partition: %s becomes %s; so many pods stay at the old revision", was, value), nil
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

// patched offers one patch of a workload that nobody rolls out.
func (d *Desk) patched(ctx context.Context, ref cluster.Ref, patches func(plan.Snapshot) (*plan.Patch, string, error)) (*Offer, error) {
	offer, err := d.patch(ctx, ref, patches, false)
	if err != nil {
		return nil, err
	}
	offer.do = func(ctx context.Context) (string, error) {
		done, err := d.patch(ctx, ref, patches, true)
		if err != nil {
			return "", err
		}
		return done.Effect[0], nil
	}
	return offer, nil
}

// patch works a patch out for a workload as it stands, and writes it where that is asked
// for; else it also says who owns the fields.
func (d *Desk) patch(ctx context.Context, ref cluster.Ref, patches func(plan.Snapshot) (*plan.Patch, string, error), write bool) (*Offer, error) {
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
	patch, text, err := patches(now)
	if err != nil {
		return nil, err
	}
	uid := now.Object().UID
	if write {
		return &Offer{Effect: []string{text}}, s.Do(ctx, ref, plan.Action{Patch: patch, Precondition: plan.Precondition{UID: uid}})
	}
	at.sayOwners(s.object)
	return &Offer{Effect: append([]string{text}, notes.lines()...), Means: text + " of " + uid}, nil
}
