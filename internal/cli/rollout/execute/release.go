package execute

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Template is what a Rollout rolls out, as it is written.
func (m *Member) Template() release.Template {
	value, _ := tree.Value(tree.Get(m.Desired.Node(), "spec", "template")).(map[string]any)
	ref := session.ObjectOf(m.Session.Object)
	return release.Template{
		Workload: ref.Ref, Resource: ref.Resource, UID: tree.StrAt(m.Session.Object.Node(), "metadata", "uid"), Template: value,
	}
}

// ReleaseState is a Rollout for people and machines.
func ReleaseState(r *release.Rollout) view.Release {
	out := view.Release{
		Name: "rollout/" + r.Name, Namespace: r.Namespace, Workload: r.Workload.String(), Style: string(r.Style), Phase: r.Phase,
		Status: r.Describe(), Message: r.Message, Step: r.Index, State: r.State, Waits: r.Waits(), Cancelled: r.Cancelled,
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

// Following describes what a Rollout is followed for.
type Following struct {
	// Generation of the workload that it has to have seen; 0 for whatever it has.
	Generation int64
	// Back indicates that the release is taken back: that it is cancelled is success.
	Back bool
}

// FollowRelease shows a Rollout until it ends; done is false where it was left
// before.
func (d *Execution) FollowRelease(ctx context.Context, r *release.Rollout, f Following) (done bool, err error) {
	client, err := d.Factory.Dynamic()
	if err != nil {
		return false, err
	}
	if d.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d.Timeout, command.ErrTimedOut)
		defer cancel()
	}
	var last, now *release.Rollout
	begun := f.Generation == 0
	err = release.Watch(ctx, client, r, func(r *release.Rollout) bool {
		begun = begun || r.Controls() || r.Generation >= f.Generation
		if now = r; last == nil || releaseLine(*last) != releaseLine(*now) {
			d.tellStep(now)
		}
		last = now
		return begun && now.Done() || d.AtPause && now.Waits()
	})
	switch {
	case context.Cause(ctx) == command.ErrTimedOut: //nolint:errorlint // it is the cause as it was given
		return false, command.ErrTimedOut
	case ctx.Err() != nil:
		return false, command.ErrInterrupted
	case err != nil:
		return false, err
	case !now.Done():
		return false, d.UnlessPaused(command.ErrPaused)
	case now.Cancelled && !f.Back:
		return true, command.ErrFailed
	}
	return true, nil
}

// releaseLine is the status of a Rollout in one line.
func releaseLine(r release.Rollout) string {
	return strings.TrimSpace(fmt.Sprintf("%s, %d updated, %d ready  %s", r.Describe(), r.Updated, r.Ready, r.Message))
}

func (d *Execution) tellStep(r *release.Rollout) {
	if d.Machine() {
		_ = json.NewEncoder(d.Factory.Streams.Out).Encode(ReleaseState(r)) // a reader that has gone is no matter
		return
	}
	_, _ = fmt.Fprintf(d.EventsTo(), "%s  rollout/%s  %s\n", time.Now().Format(time.TimeOnly), r.Name, releaseLine(*r))
}
