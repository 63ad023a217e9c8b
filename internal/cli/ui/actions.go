package ui

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/restart"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/live"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// offers are what the verbs come to, by the sessions of `rollout` and `restart`.
var offers = map[world.Verb]func(context.Context, *liveSource, cluster.Ref, world.Act) (*live.Offer, error){
	world.Promote: func(ctx context.Context, l *liveSource, ref cluster.Ref, _ world.Act) (*live.Offer, error) {
		return l.live.Promote(ctx, ref)
	},
	world.PauseResume: func(ctx context.Context, l *liveSource, ref cluster.Ref, _ world.Act) (*live.Offer, error) {
		return l.live.PauseOrResume(ctx, ref)
	},
	world.Abort: func(ctx context.Context, l *liveSource, ref cluster.Ref, _ world.Act) (*live.Offer, error) {
		return l.live.Abort(ctx, ref)
	},
	world.Scale: func(ctx context.Context, l *liveSource, ref cluster.Ref, act world.Act) (*live.Offer, error) {
		return l.live.Scale(ctx, ref, act.Value)
	},
	world.Partition: func(ctx context.Context, l *liveSource, ref cluster.Ref, act world.Act) (*live.Offer, error) {
		return l.live.Partition(ctx, ref, act.Value)
	},
	world.Undo: undo,
	world.Restart: func(ctx context.Context, l *liveSource, ref cluster.Ref, act world.Act) (*live.Offer, error) {
		return l.live.Run(ctx, ref, restart.Plans(l.factory, plan.RestartRequest{Containers: act.Containers, Pods: act.Pods}))
	},
}

func undo(ctx context.Context, l *liveSource, ref cluster.Ref, act world.Act) (*live.Offer, error) {
	var revision int64
	if act.Value != "" {
		var err error
		if revision, err = strconv.ParseInt(act.Value, 10, 64); err != nil || revision < 1 {
			return nil, fmt.Errorf("%q is not the number of a revision", act.Value)
		}
	}
	return l.live.Undo(ctx, ref, revision)
}

// Effect is [world.Actions].
func (l *liveSource) Effect(ctx context.Context, act world.Act) (world.Effect, error) {
	e := world.Effect{Changes: map[cluster.Ref]plan.Consequence{}, Precondition: map[cluster.Ref]string{}}
	err := l.each(ctx, act, func(ref cluster.Ref, o *live.Offer) error {
		e.Changes[ref] = o.Change
		for i, line := range o.Effect {
			if i == 0 && len(act.On) > 1 {
				line = ref.String() + ": " + line
			}
			e.Lines = append(e.Lines, line)
		}
		e.Precondition[ref] = o.Means
		return nil
	})
	return e, err
}

// Do is [world.Actions].
func (l *liveSource) Do(ctx context.Context, act world.Act) (string, error) {
	said := ""
	err := l.each(ctx, act, func(ref cluster.Ref, o *live.Offer) error {
		text, err := o.DoOnly(ctx, act.Precondition[ref])
		said = ref.String() + ": " + text
		return err
	})
	if err == nil && len(act.On) > 1 {
		said = fmt.Sprintf("%s: %s", act.Verb, counted.Of(len(act.On), "workload"))
	}
	return said, err
}

// each works out what an act comes to for each of its workloads; what fails with one
// does not keep the others from it.
func (l *liveSource) each(ctx context.Context, act world.Act, do func(cluster.Ref, *live.Offer) error) error {
	offer := offers[act.Verb]
	if offer == nil {
		return fmt.Errorf("%s cannot be done here", act.Verb)
	}
	var errs []error
	for _, ref := range act.On {
		o, err := offer(ctx, l, ref, act)
		if err == nil {
			err = do(ref, o)
		}
		if apierrors.IsUnauthorized(err) {
			return fmt.Errorf("%w: log in again", errRefused)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", ref, err))
		}
	}
	return errors.Join(errs...)
}
