package execute

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/gitops"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	kubeobjects "github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Subsets are a UnitedDeployment whose subsets a rollout has as its members, whatever verb carries it
// out. Its template comes to all of them at once, held back by their partitions; then they follow one
// after the other, each by a plan and a record of its own, so that all verbs work on it.
type Subsets struct {
	*Execution
	goal

	policy planning.Maker
	// Object is the UnitedDeployment as it is.
	Object *united.Object
}

// Subsets reads a UnitedDeployment, which has no goal yet; its subsets follow by a policy.
func (d *Execution) Subsets(ctx context.Context, namespace, name string, policy planning.Maker) (*Subsets, error) {
	client, err := d.Factory.Dynamic()
	if err != nil {
		return nil, err
	}
	u, err := united.Get(ctx, client, namespace, name)
	return &Subsets{Execution: d, policy: policy, Object: u}, err
}

// ref names the UnitedDeployment.
func (s *Subsets) ref() cluster.Ref {
	return cluster.Ref{Group: kruise.Group, Kind: kruise.KindUnitedDeployment, Namespace: s.Object.Namespace, Name: s.Object.Name}
}

// goal is what the rollout of a UnitedDeployment leads to.
type goal struct {
	// template is spec.template, strategy spec.updateStrategy in the end.
	template, strategy map[string]any
	// none indicates that partitions keep no pod in the end, whatever the strategy says.
	none bool
	// firstWrite is the JSON patch that begins it, nil where nothing is left to write. same indicates that it
	// brings no template, only what there was before the rollout.
	firstWrite []any
	same       bool
	// released indicates that it takes away what holds pods back: a subset whose last rollout has failed
	// gets no further by that.
	released bool
	// back is why the subsets are rolled back, the last one first: that one may have failed; "" for
	// a rollout that is no way back.
	back string
}

// keeps is how many pods of a subset its partition keeps in the end.
func (g *goal) keeps(subset string) int64 {
	if g.none {
		return 0
	}
	return united.PartitionIn(g.strategy, subset)
}

// toManifest makes a manifest the goal: the whole spec is written, with every subset held back where
// the template is new.
func (s *Subsets) toManifest(ctx context.Context, final *unstructured.Unstructured, released bool) error {
	to := united.Read(final)
	s.goal = goal{template: to.Template, strategy: to.OwnStrategy(), released: released}
	if !united.SameTemplate(s.Object.Template, to.Template) {
		client, err := s.Factory.Dynamic()
		if err != nil {
			return err
		}
		if err := s.Object.NoteStart(ctx, client); err != nil {
			return err
		}
	}
	s.firstWrite = s.Object.ReleaseSpec(final)
	return nil
}

// ToTemplate is the goal of a verb that changes the template alone; nil is the one that is there,
// which partitions hold back. With all, no pod is kept: a partition would keep the very pods that
// are to go back.
func (s *Subsets) ToTemplate(ctx context.Context, template map[string]any, all bool) error {
	s.goal = goal{template: s.Object.Template, none: all, same: true}
	client, err := s.Factory.Dynamic()
	if err != nil {
		return err
	}
	if template == nil || united.SameTemplate(template, s.Object.Template) {
		s.firstWrite, err = s.Object.BeginPatch(ctx, client)
	} else if err = s.Object.NoteStart(ctx, client); err == nil {
		s.template, s.firstWrite, s.same = template, s.Object.ReleasePatch(template), false
	}
	s.strategy = s.Object.FinalStrategy()
	return err
}

// ToFormer is the goal of a rollback: the revision that the rollout started from.
func (s *Subsets) ToFormer(ctx context.Context, why string) error {
	s.goal = goal{back: why, none: true}
	client, err := s.Factory.Dynamic()
	if err != nil {
		return err
	}
	former, err := s.Object.Former(ctx, client)
	if err != nil {
		return err
	}
	if s.Object.Start == nil { // its annotation was removed
		s.Object.Start = &united.Start{Revision: former.Name, Strategy: s.Object.OwnStrategy()}
	}
	if s.template, s.strategy = former.Template, s.Object.FinalStrategy(); !united.SameTemplate(former.Template, s.Object.Template) {
		s.firstWrite = s.Object.ReleasePatch(former.Template)
	}
	return nil
}

// Rolling opens the workload of each subset, and makes the plan by which its pods come from a
// template to the goal.
func (s *Subsets) Rolling(ctx context.Context, from map[string]any) (*Rolling, error) {
	r := &Rolling{Execution: s.Execution, united: s}
	err := s.each(ctx, func(m *Member) (bool, error) {
		var err error
		switch {
		case s.back != "":
			err = s.planBack(ctx, m)
		case s.released:
			err = m.hasNotFailed()
		}
		if err == nil && s.back == "" {
			policy := s.policy
			policy.Counted = true
			err = m.make(ctx, policy, m.follows(from, &s.goal))
		}
		if err == nil {
			r.AddMember(m)
		}
		return err == nil, err
	})
	if err != nil {
		r.CloseAll()
		return nil, err
	}
	return r, nil
}

// planBack makes the plan by which a subset follows the UnitedDeployment back; a recorded one that is in progress
// continues.
func (s *Subsets) planBack(ctx context.Context, m *Member) error {
	rec, err := m.Session.Rollout()
	if err != nil && !errors.Is(err, plan.ErrNoRollout) {
		return err
	}
	if rec.Plan.RollbackReason != "" && rec.InFlight() {
		m.Plan, m.begun, m.recorded = rec.Plan, true, rec.Describe()
		return nil
	}
	m.before = rec.Begun
	snapshot, err := m.Session.Observe(ctx, m.Ref())
	if err == nil {
		m.Plan, err = plan.RollbackSubset(snapshot, s.back)
	}
	return err
}

// each does something for the workload of each subset, which is open, in the order given or, on the way
// back, in reverse, and stops at the first error. kept has it stay open.
func (s *Subsets) each(ctx context.Context, do func(*Member) (kept bool, err error)) error {
	names, err := s.names(ctx)
	if err != nil {
		return err
	}
	if s.back != "" {
		slices.Reverse(names)
	}
	for _, name := range names {
		m, err := s.open(ctx, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		kept, err := do(m)
		if !kept {
			m.Session.Close()
		}
		if err != nil {
			return fmt.Errorf("subset %s: %w", m.subset(), err)
		}
	}
	return nil
}

// names are the workloads of the subsets, in the order given.
func (s *Subsets) names(ctx context.Context) ([]resourcearg.Name, error) {
	client, err := s.Factory.Dynamic()
	if err != nil {
		return nil, err
	}
	return clusterread.SubsetWorkloads(ctx, client, s.Object)
}

// open opens the workload of one subset.
func (s *Subsets) open(ctx context.Context, name resourcearg.Name) (*Member, error) {
	found, err := s.LocateIn(ctx, name, s.Object.Namespace)
	if err != nil {
		return nil, err
	}
	found.RolledOutAsWhole = true
	return &Member{Session: found, Called: name}, s.Watch(ctx, found)
}

// describe says what is rolled out in which order, before the plans are shown.
func (s *Subsets) describe(members []*Member) {
	w := s.Factory.Streams.Err
	_, _ = fmt.Fprintf(w, "UnitedDeployment %s rolls out its subsets one after the other: %s\n\n", s.Object.Name, strings.Join(s.Object.Subsets, ", "))
	for _, m := range members {
		s.WarnOfOwners(m.Session.Object)
	}
	if !s.Object.Paced() {
		_, _ = fmt.Fprintln(w, "warning: its subsets are Deployments, which have no partition: all of them are updated at once, and neither pause nor abort stops them")
	}
}

// isReached reports whether there is nothing to roll out.
func (s *Subsets) isReached(members []*Member) bool {
	return len(members) == 0 && united.SameTemplate(s.template, s.Object.Template)
}

// Requests are the writes of run, if pods behave: the first one, the partition of each subset step by
// step, and the strategy that the object has in the end.
func (s *Subsets) Requests(members []*Member) []event.Request {
	u := s.Object
	var out []event.Request
	if s.firstWrite != nil {
		why := "the template, with all subsets held back"
		if s.same {
			why = "what there was before the rollout"
		}
		out = append(out, session.JSONPatch(united.Resource(u.Version), s.ref(), why, s.firstWrite))
	}
	first := len(out)
	switch {
	case s.back == "":
		for _, m := range members {
			for i := range m.Plan.Steps {
				if step := &m.Plan.Steps[i]; len(step.Patches) > 0 {
					out = append(out, session.PartitionRequest(u, m.subset(), int32(step.Kept), step.Title))
				}
			}
		}
	case u.Paced():
		for _, subset := range slices.Backward(u.Subsets) {
			out = append(out, session.PartitionRequest(u, subset, 0, "all pods that do not have the template"))
		}
	}
	if !u.Paced() || len(out) == 0 || len(out) == first && s.same {
		return out
	}
	return append(out, event.Request{
		Method: http.MethodPatch, Path: kubeobjects.Path(united.Resource(u.Version), u.Namespace, u.Name), ContentType: string(types.MergePatchType),
		Why: "the update strategy as before, once all subsets have the template", Body: u.SettlePatch(s.strategy, nil),
	})
}

// run writes what begins the rollout, has the subsets follow one after the other, and gives the
// object the strategy that it has in the end. It returns the members that were rolled out, and how far
// these and the whole have come.
func (s *Subsets) run(ctx context.Context) (members []*Member, phases map[cluster.Ref]plan.Phase, err error) {
	client, err := s.Factory.Dynamic()
	if err != nil {
		return nil, nil, err
	}
	if s.firstWrite != nil {
		if err := s.Object.Write(ctx, client, s.firstWrite); err != nil {
			return nil, nil, err
		}
	}
	after, err := s.Subsets(ctx, s.Object.Namespace, s.Object.Name, s.policy) // the write may have added some
	if err != nil {
		return nil, nil, err
	}
	if after.goal = s.goal; after.Object.Paced() {
		members, phases, err = after.follow(ctx)
	} else {
		members, phases, err = after.followUnpaced(ctx)
	}
	if err == nil {
		err = after.finish(ctx, s.strategy)
	}
	if err == nil {
		phases[s.ref()] = plan.PhaseCompleted
	}
	return members, phases, err
}

// follow has the pods of the subsets follow the template that their workloads have, one subset after
// the other: by the recorded plan where one is in progress, by a new one otherwise.
func (s *Subsets) follow(ctx context.Context) ([]*Member, map[cluster.Ref]plan.Phase, error) {
	s.released = false // it was asked before
	r, err := s.Rolling(ctx, s.template)
	if err != nil {
		return nil, nil, err
	}
	defer r.CloseAll()
	if s.back == "" {
		r.printSame()
	}
	r.united = nil // what is left are workloads
	if err := r.Assemble(&GroupFlags{}); err != nil || len(r.Members) == 0 {
		return nil, map[cluster.Ref]plan.Phase{}, err
	}
	r.Record.Bounds.PassWaiting = false
	rollouts, err := s.Rollouts()
	if err != nil {
		return nil, nil, err
	}
	phases, err := r.RunAll(ctx)
	for _, m := range r.Members {
		rec, none := rollouts.Get(ctx, m.Ref())
		if s.back == "" && errors.Is(err, command.ErrFailed) && rollsBack(m.Plan, rec, none) {
			err = errors.Join(err, s.rollBack(ctx, rec.Progress.Failed))
		}
	}
	return r.Members, phases, err
}

// followUnpaced waits for the pods of Deployments, which have no partition, and takes all subsets back
// where that fails and the policy asks for it.
func (s *Subsets) followUnpaced(ctx context.Context) (members []*Member, phases map[cluster.Ref]plan.Phase, err error) {
	policy, err := s.policy.Policy()
	if err != nil {
		return nil, nil, err
	}
	phases = map[cluster.Ref]plan.Phase{}
	err = s.each(ctx, func(m *Member) (bool, error) {
		res, err := s.settle(ctx, m.Session, s.policy)
		if err == nil && res.Outcome == event.Failed && s.back == "" && policy.OnFailure == plan.FailRollback {
			res, err = s.rollBackUnited(ctx, m.Session, res)
		}
		if err == nil {
			err = s.Ending(res)
		}
		if err == nil {
			members, phases[m.Ref()] = append(members, m), plan.PhaseCompleted
		}
		return false, err
	})
	return members, phases, err
}

// settleAll waits for the pods of all subsets.
func (s *Subsets) settleAll(ctx context.Context) error {
	client, err := s.Factory.Dynamic()
	if err != nil {
		return err
	}
	if err := s.Object.Await(ctx, client, s.Object.Generation); err != nil {
		return err
	}
	return s.each(ctx, func(m *Member) (bool, error) {
		res, err := s.settle(ctx, m.Session, s.policy)
		if err == nil {
			err = s.Ending(res)
		}
		return false, err
	})
}

// subset is the name of the subset whose workload it is.
func (m *Member) subset() string { return m.Session.Object.Labels()[kruise.SubsetNameLabel] }

// follows is what a subset's workload becomes when its UnitedDeployment changes from a template to
// that of a goal. What the controller puts into a subset's template besides stays.
func (m *Member) follows(from map[string]any, g *goal) *resource.Resource {
	object := m.Session.Object
	out := resource.Parsed(tree.Clone(object.Node()), nil, object.Origin)
	n := out.Edit()
	before, after := tree.FromValue(united.PodTemplate(from)), tree.FromValue(united.PodTemplate(g.template))
	if v := gitops.CarryChange(before, after, tree.Get(n, "spec", "template")); v != nil {
		tree.SetAt(n, v, "spec", "template")
	}
	if path := plan.PartitionPath(object.Group(), object.Kind(), object.Version()); path != nil {
		tree.SetAt(n, tree.Int64(g.keeps(m.subset())), path...)
	}
	return out
}

// AfterSubset does what follows from the end of a subset's rollout for its UnitedDeployment: a
// failure that asks for it takes all subsets back, and the last subset ends the rollout of the whole.
func (d *Execution) AfterSubset(ctx context.Context, s *session.Session, res apply.Result) (apply.Result, error) {
	rec, none := s.Rollout()
	switch {
	case s.Parent == nil:
		return res, nil
	case res.Outcome == event.Failed && rollsBack(res.Plan, rec, none):
		if s.RolledOutAsWhole { // the caller rolls back
			res.Outcome = event.RolledBack
			return res, nil
		}
		return d.rollBackUnited(ctx, s, res)
	case (res.Outcome == event.Completed || res.Outcome == event.RolledBack) && !s.RolledOutAsWhole:
		return res, d.EndUnited(ctx, s.Parent.Object.Namespace, s.Parent.Object.Name)
	}
	return res, nil
}

// rollsBack reports whether a plan has failed at a step that asks for a rollback. It is the one that was
// carried out: others may have edited that of the record.
func rollsBack(of plan.Plan, rec plan.Record, err error) bool {
	if rec.Plan = of; err != nil || rec.Progress.Aborted || rec.Plan.RollbackReason != "" {
		return false
	}
	step := rec.Present()
	return step != nil && step.OnFailure == plan.FailRollback
}

// rollBackUnited takes the UnitedDeployment of a subset back whose rollout has failed.
func (d *Execution) rollBackUnited(ctx context.Context, s *session.Session, res apply.Result) (apply.Result, error) {
	err := d.RollBackSubsets(ctx, s.Parent.Object.Namespace, s.Parent.Object.Name, res.Reason)
	if err == nil {
		res.Outcome = event.RolledBack
	}
	return res, err
}

// RollBackSubsets takes a UnitedDeployment back to the revision that its rollout started from.
func (d *Execution) RollBackSubsets(ctx context.Context, namespace, name, why string) error {
	s, err := d.Subsets(ctx, namespace, name, planning.Maker{})
	if err != nil {
		return err
	}
	return s.rollBack(ctx, why)
}

// EndUnited ends the rollout of a UnitedDeployment as far as its subsets have followed.
func (d *Execution) EndUnited(ctx context.Context, namespace, name string) error {
	s, err := d.Subsets(ctx, namespace, name, planning.Maker{})
	if err != nil {
		return err
	}
	return s.finish(ctx, s.Object.FinalStrategy())
}

// rollBack takes the UnitedDeployment back to the revision that its rollout started from.
func (s *Subsets) rollBack(ctx context.Context, why string) error {
	back := &Subsets{Execution: s.Execution, policy: s.policy, Object: s.Object}
	if err := back.ToFormer(ctx, why); err != nil {
		return err
	}
	if back.firstWrite != nil {
		_, _ = fmt.Fprintf(s.Factory.Streams.Err, "UnitedDeployment %s is rolled back to revision %s: %s\n", s.Object.Name, s.Object.Start.Revision, why)
	}
	_, _, err := back.run(ctx)
	return err
}

// finish gives the UnitedDeployment the strategy that it has when the rollout has ended. Subsets that
// keep more pods of an earlier template than the strategy says are named, and stay held.
func (s *Subsets) finish(ctx context.Context, strategy map[string]any) error {
	fresh, err := s.Subsets(ctx, s.Object.Namespace, s.Object.Name, s.policy)
	if err != nil {
		return err
	}
	u := fresh.Object
	if u.Start == nil && !u.Held() {
		return nil
	}
	kept, left, err := fresh.left(ctx, strategy)
	if err != nil {
		return err
	}
	client, err := s.Factory.Dynamic()
	if err != nil {
		return err
	}
	if err := u.Settle(ctx, client, strategy, kept); err != nil {
		return err
	}
	s.warnOfLeft(u.Name, left)
	return nil
}

// left names the subsets that keep more pods of an earlier template than a strategy says, or that
// are being rolled out, and says what they keep.
func (s *Subsets) left(ctx context.Context, strategy map[string]any) (kept, text []string, err error) {
	err = s.each(ctx, func(m *Member) (bool, error) {
		snapshot, err := m.Session.Observe(ctx, m.Session.Target.Ref)
		if err != nil {
			return false, err
		}
		rec, err := m.Session.Rollout()
		outdated, _ := plan.OutdatedPods(snapshot)
		more := int64(outdated) > united.PartitionIn(strategy, m.subset())
		if more || err == nil && rec.InFlight() {
			kept = append(kept, m.subset())
		}
		if more {
			text = append(text, fmt.Sprintf("subset %s: %s", m.subset(), plan.Left(snapshot)))
		}
		return false, nil
	})
	return kept, text, err
}

// warnOfLeft names what an ended rollout of a UnitedDeployment leaves, and which commands continue it or roll it back.
func (d *Execution) warnOfLeft(name string, left []string) {
	if len(left) == 0 {
		return
	}
	w := d.Factory.Streams.Err
	_, _ = fmt.Fprintf(w, "UnitedDeployment %s is not rolled out, and later changes do not reach all of its pods: %s\n", name, strings.Join(left, "; "))
	_, _ = fmt.Fprintf(w, "hint: '%s' continues, '%s' rolls all subsets back\n",
		d.Factory.WithConnection("kubectl kruise rollout run uniteddeployment/"+name), d.Factory.WithConnection("kubectl kruise rollout abort uniteddeployment/"+name+" --rollback"))
}
