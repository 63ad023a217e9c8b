package rollout

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
)

// releaseState is a Rollout for people and machines.
func releaseState(r *release.Rollout) view.Release {
	out := view.Release{
		Name: "rollout/" + r.Name, Namespace: r.Namespace, Workload: r.Workload.String(), Style: string(r.Style), Phase: r.Phase,
		Stands: r.Stands(), Message: r.Message, Step: r.Index, State: r.State, Waits: r.Waits(), Cancelled: r.Cancelled,
		Updated: r.Updated, Ready: r.Ready,
	}
	if verb := r.Next(); verb != "" {
		out.Next = "kubectl kruise rollout " + verb + " rollout/" + r.Name
	}
	for _, s := range r.Steps {
		out.Steps = append(out.Steps, view.ReleaseStep{Replicas: s.Replicas, Traffic: s.Traffic, Pause: pauseOf(s)})
	}
	return out
}

func pauseOf(s release.Step) string {
	if s.Pause < 0 {
		return "until approved"
	}
	return (time.Duration(s.Pause) * time.Second).String()
}

// statusOfRelease tells of a Rollout of Kruise Rollout once, or until it ends.
func (o *statusOptions) statusOfRelease(ctx context.Context, name string) error {
	r, err := o.release(ctx, name)
	if err != nil {
		return err
	}
	return o.tellRelease(ctx, r)
}

func (o *statusOptions) tellRelease(ctx context.Context, r *release.Rollout) error {
	switch {
	case o.watch:
		_, err := o.followRelease(ctx, r, following{})
		return err
	case o.output == "json":
		return view.JSON(o.factory.Streams.Out, releaseState(r))
	}
	if err := releaseState(r).Write(o.factory.Streams.Out, o.factory.OutStyle(false)); err != nil {
		return err
	}
	if r.Done() && r.Cancelled {
		return command.ErrFailed
	}
	return nil
}

// following says what a Rollout is followed for.
type following struct {
	// generation of the workload that it has to have seen; 0 for whatever it has.
	generation int64
	// back says that the release is taken back: that it is cancelled is success.
	back bool
}

// followRelease tells of a Rollout until it ends; done is false where it was left
// before.
func (d *driving) followRelease(ctx context.Context, r *release.Rollout, f following) (done bool, err error) {
	client, err := d.factory.Dynamic()
	if err != nil {
		return false, err
	}
	if d.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d.timeout, command.ErrTimedOut)
		defer cancel()
	}
	var last, now *release.Rollout
	begun := f.generation == 0
	err = release.Watch(ctx, client, r, func(r *release.Rollout) bool {
		begun = begun || r.Holds() || r.Generation >= f.generation
		if now = r; last == nil || said(*last) != said(*now) {
			d.tellStep(now)
		}
		last = now
		return begun && now.Done() || d.atPause && now.Waits()
	})
	switch {
	case context.Cause(ctx) == command.ErrTimedOut: //nolint:errorlint // it is the cause as it was given
		return false, command.ErrTimedOut
	case ctx.Err() != nil:
		return false, command.ErrInterrupted
	case err != nil:
		return false, err
	case !now.Done():
		return false, d.atPauseOf()
	case now.Cancelled && !f.back:
		return true, command.ErrFailed
	}
	return true, nil
}

// atPauseOf is the end at a pause.
func (d *driving) atPauseOf() error {
	if d.successOn == "paused" {
		return nil
	}
	return command.ErrPaused
}

// said is what a line about a Rollout says.
func said(r release.Rollout) string {
	return strings.TrimSpace(fmt.Sprintf("%s, %d updated, %d ready  %s", r.Stands(), r.Updated, r.Ready, r.Message))
}

func (d *driving) tellStep(r *release.Rollout) {
	if d.machine() {
		_ = json.NewEncoder(d.factory.Streams.Out).Encode(releaseState(r)) // a reader that has gone is no matter
		return
	}
	_, _ = fmt.Fprintf(d.eventsTo(), "%s  rollout/%s  %s\n", time.Now().Format(time.TimeOnly), r.Name, said(*r))
}
