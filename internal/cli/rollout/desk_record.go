package rollout

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Offer is something that can be done to a workload, and what would come of it. It is
// worked out anew when it is done: the cluster may have changed since.
type Offer struct {
	Effect []string
	// Means is what of the effect nothing may have changed since somebody said yes to it:
	// which rollout of which object, which step of it, which way.
	Means string
	do    func(context.Context) (string, error)
}

// Promote lets a rollout go on past the step at which it stands.
func (d *Desk) Promote(ctx context.Context, ref cluster.Ref) (*Offer, error) {
	return d.onRecord(ctx, ref, turn{change: promotion(false, ""), goesOn: true, means: stepOf})
}

// Abort ends a rollout where it stands.
func (d *Desk) Abort(ctx context.Context, ref cluster.Ref) (*Offer, error) {
	return d.onRecord(ctx, ref, turn{change: aborted("aborted by "+holder(), false), means: rolloutOf})
}

// PauseOrResume pauses what goes on, has go on what was paused, and tries again what has
// halted: the rollout on record or, without one, the workload's own controller.
func (d *Desk) PauseOrResume(ctx context.Context, ref cluster.Ref) (*Offer, error) {
	records, err := d.records()
	if err != nil {
		return nil, err
	}
	rec, err := records.Load(ctx, ref)
	switch {
	case errors.Is(err, kube.ErrNone), err == nil && !rec.Progress.Finished.IsZero():
		return d.pauseField(ctx, ref)
	case err != nil:
		return nil, err
	case rec.Progress.Halted != "":
		return d.onRecord(ctx, ref, turn{change: retried, goesOn: true, means: wayOf})
	case rec.Progress.Held != "":
		return d.onRecord(ctx, ref, turn{change: resumed, goesOn: true, means: wayOf})
	}
	return d.onRecord(ctx, ref, turn{change: paused, means: wayOf})
}

// onRecord offers to change the rollout on record.
func (d *Desk) onRecord(ctx context.Context, ref cluster.Ref, t turn) (*Offer, error) {
	records, err := d.records()
	if err != nil {
		return nil, err
	}
	rec, err := records.Load(ctx, ref)
	if errors.Is(err, kube.ErrNone) {
		return nil, d.none(ctx, ref)
	}
	if err != nil {
		return nil, err
	}
	means := t.means(rec)
	said, err := t.change(&rec)
	if err != nil {
		return nil, err
	}
	o := &Offer{Effect: []string{said}, Means: means}
	if next := upcoming(rec); next != "" {
		o.Effect = append(o.Effect, next)
	}
	if t.goesOn {
		o.Effect = append(o.Effect, d.driver(ctx, records, ref))
	}
	o.do = func(ctx context.Context) (string, error) { return d.take(ctx, records, ref, t, means) }
	return o, nil
}

// upcoming is the step that comes after a promotion, "" without one.
func upcoming(r kube.Record) string {
	if i := r.Progress.Step + 1; r.Progress.Promoted && i < len(r.Plan.Steps) {
		return "next: " + r.Plan.Steps[i].Title
	}
	return ""
}

// none is the refusal where no rollout is on record: a Kruise Rollout may have it.
func (d *Desk) none(ctx context.Context, ref cluster.Ref) error {
	at, _ := d.sessions()
	s, err := d.locate(ctx, at, ref)
	if err != nil {
		return err
	}
	if r, err := at.releaseOf(ctx, s); err == nil && r != nil {
		return inHands(ref.String(), r)
	}
	return &resource.Error{Err: fmt.Errorf("%s: no rollout is on record", ref), Hint: "begin one with 'kubectl kruise rollout run'"}
}

// driver says who carries the rollout on.
func (d *Desk) driver(ctx context.Context, records kube.Records, ref cluster.Ref) string {
	by, err := records.Holder(ctx, ref)
	switch {
	case d.here(ref):
		return "it is carried out here"
	case err == nil && by == "":
		return "nobody carries it out: this program does, until it is left"
	case err != nil:
		return "it is carried out here unless somebody does already"
	}
	return "it is carried out by " + by
}

// goOn carries a rollout out that is on record, unless somebody does already.
func (d *Desk) goOn(ref cluster.Ref) (where string, err error) {
	if d.here(ref) {
		return "", nil
	}
	at, _ := d.sessions()
	s, err := d.open(d.ctx, at, ref)
	if err != nil {
		return "", err
	}
	rec, err := s.Rollout()
	if err != nil {
		s.Close()
		return "", err
	}
	held, release, err := at.hold(d.ctx, s, rec.Plan)
	if err != nil {
		s.Close()
		if errors.Is(err, plan.ErrTaken) {
			return "; it goes on where it is carried out", nil
		}
		return "", err
	}
	if rec, err = s.Resume(); err != nil {
		release()
		s.Close()
		return "", err
	}
	d.drive(held, release, s, rec.Plan)
	return "; it goes on here", nil
}

// pauseField offers to pause a workload itself, or to have it go on.
func (d *Desk) pauseField(ctx context.Context, ref cluster.Ref) (*Offer, error) {
	at, said := d.sessions()
	s, err := d.locate(ctx, at, ref)
	if err != nil {
		return nil, err
	}
	if r, err := at.releaseOf(ctx, s); err == nil && r != nil {
		return nil, inHands(ref.String(), r)
	}
	path := pausedPath(s.object)
	on := !tree.Bool(tree.Get(s.object.Node(), path...))
	if err := pausable(s.object, path, on); err != nil {
		return nil, err
	}
	text := "its controller updates no more pods until somebody resumes it"
	if !on {
		text = "its controller goes on updating pods"
	}
	at.sayOwners(s.object)
	means := fmt.Sprintf("pause %t of %s", on, tree.StrAt(s.object.Node(), "metadata", "uid"))
	return &Offer{Effect: append([]string{text}, said.lines()...), Means: means, do: func(ctx context.Context) (string, error) {
		_, err := at.writePause(ctx, s, path, on, metav1.PatchOptions{FieldManager: fieldManager})
		return text, err
	}}, nil
}
