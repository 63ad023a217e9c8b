package rollout

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// afterSubset does what follows from the end of a subset's rollout for its UnitedDeployment: a
// failure that asks for it takes all subsets back, and the last subset ends the rollout of the whole.
func (d *driving) afterSubset(ctx context.Context, s *session, res apply.Result) (apply.Result, error) {
	switch {
	case s.parent == nil:
		return res, nil
	case res.Outcome == event.Failed && rollsBack(s):
		return d.rollBackUnited(ctx, s, res)
	case res.Outcome == event.Completed && !d.whole:
		return res, d.endUnited(ctx, s.parent.object.Namespace, s.parent.object.Name)
	}
	return res, nil
}

// rollsBack reports whether a rollout has failed at a step that asks for a rollback.
func rollsBack(s *session) bool {
	rec, err := s.Rollout()
	if err != nil || rec.Progress.Aborted || rec.Plan.RollbackReason != "" {
		return false
	}
	step := rec.Present()
	return step != nil && step.OnFailure == plan.FailRollback
}

// rollBackUnited takes the UnitedDeployment of a subset back whose rollout has failed.
func (d *driving) rollBackUnited(ctx context.Context, s *session, res apply.Result) (apply.Result, error) {
	subsets, err := d.subsets(ctx, s.parent.object.Namespace, s.parent.object.Name)
	if err == nil {
		err = subsets.rollBack(ctx, res.Reason)
	}
	if err == nil {
		res.Outcome = event.RolledBack
	}
	return res, err
}

// endUnited ends the rollout of a UnitedDeployment as far as its subsets have followed.
func (d *driving) endUnited(ctx context.Context, namespace, name string) error {
	subsets, err := d.subsets(ctx, namespace, name)
	if err != nil {
		return err
	}
	return subsets.end(ctx, subsets.object.FinalStrategy())
}

// subsets reads a UnitedDeployment whose rollout this verb ends.
func (d *driving) subsets(ctx context.Context, namespace, name string) (*Subsets, error) {
	b := &Batch{driving: *d}
	b.whole = true
	return b.Subsets(ctx, namespace, name)
}

// rollBack takes the UnitedDeployment back to the revision that its rollout started from, and then
// its subsets one after the other, the last one first: that one may have failed.
func (s *Subsets) rollBack(ctx context.Context, why string) error {
	client, err := s.batch.factory.Dynamic()
	if err != nil {
		return err
	}
	former, err := s.object.Former(ctx, client)
	if err != nil {
		return err
	}
	if !united.SameTemplate(former.Template, s.object.Template) {
		_, _ = fmt.Fprintf(s.batch.factory.Streams.Err, "UnitedDeployment %s is rolled back to revision %s: %s\n", s.object.Name, former.Name, why)
		if s.object.Start == nil { // an earlier version of this program has begun it
			s.object.Start = &united.Start{Revision: former.Name, Strategy: s.object.OwnStrategy()}
		}
		if err := s.object.Release(ctx, client, former.Template); err != nil {
			return err
		}
	}
	names, err := s.names(ctx)
	if err != nil {
		return err
	}
	slices.Reverse(names)
	if err := s.each(ctx, names, func(p *Part) error { return p.rollBack(ctx, why) }); err != nil {
		return err
	}
	after, err := s.batch.Subsets(ctx, s.object.Namespace, s.object.Name)
	if err != nil {
		return err
	}
	return after.end(ctx, after.object.FinalStrategy())
}

// rollBack has the pods of a subset follow the template that the workload has again.
func (p *Part) rollBack(ctx context.Context, why string) error {
	if p.session.object.Is("apps", kruise.KindDeployment) {
		return p.Settle(ctx)
	}
	snapshot, err := p.session.Observe(ctx, p.session.target.Ref)
	if err != nil {
		return err
	}
	back, err := plan.RollbackSubset(snapshot, why)
	if err != nil || len(back.Steps) == 0 {
		return err
	}
	res, err := p.batch.start(ctx, p.session, back)
	if err != nil || res.Outcome == event.RolledBack {
		return err
	}
	return p.batch.end(res)
}

// end gives the UnitedDeployment the strategy that it has when the rollout has ended. Subsets that
// keep more pods of an earlier template than the strategy says are named, and stay held.
func (s *Subsets) end(ctx context.Context, strategy map[string]any) error {
	fresh, err := s.batch.Subsets(ctx, s.object.Namespace, s.object.Name)
	if err != nil {
		return err
	}
	u := fresh.object
	if u.Start == nil && !u.Held() {
		return nil
	}
	kept, left, err := fresh.left(ctx, strategy)
	if err != nil {
		return err
	}
	client, err := s.batch.factory.Dynamic()
	if err != nil {
		return err
	}
	if err := u.Settle(ctx, client, strategy, kept); err != nil {
		return err
	}
	s.batch.warnOfLeft(u.Name, left)
	return nil
}

// left names the subsets that keep more pods of an earlier template than a strategy says, or that
// are being rolled out, and says what they keep.
func (s *Subsets) left(ctx context.Context, strategy map[string]any) (kept, text []string, err error) {
	err = s.Each(ctx, func(p *Part) error {
		snapshot, err := p.session.Observe(ctx, p.session.target.Ref)
		if err != nil {
			return err
		}
		rec, err := p.session.Rollout()
		outdated, _ := plan.OutdatedPods(snapshot)
		more := int64(outdated) > united.PartitionIn(strategy, p.subset())
		if more || err == nil && rec.InFlight() {
			kept = append(kept, p.subset())
		}
		if more {
			text = append(text, fmt.Sprintf("subset %s: %s", p.subset(), plan.Left(snapshot)))
		}
		return nil
	})
	return kept, text, err
}

// warnOfLeft names what an ended rollout of a UnitedDeployment leaves, and which commands continue it or roll it back.
func (d *driving) warnOfLeft(name string, left []string) {
	if len(left) == 0 {
		return
	}
	w := d.factory.Streams.Err
	_, _ = fmt.Fprintf(w, "UnitedDeployment %s is not rolled out, and later changes do not reach all of its pods: %s\n", name, strings.Join(left, "; "))
	_, _ = fmt.Fprintf(w, "hint: '%s' continues, '%s' rolls all subsets back\n",
		d.factory.WithConnection("kubectl kruise rollout run uniteddeployment/"+name), d.factory.WithConnection("kubectl kruise rollout abort uniteddeployment/"+name+" --rollback"))
}
