package rollout

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

// subsets are a UnitedDeployment whose subsets a rollout has as its members, whatever verb carries it
// out. Its template comes to all of them at once, held back by their partitions; then they follow one
// after the other, each by a plan and a record of its own, so that all verbs work on it.
type subsets struct {
	*execution
	goal

	policy planning.Maker
	// object is the UnitedDeployment as it is.
	object *united.Object
}

// subsets reads a UnitedDeployment, which has no goal yet; its subsets follow by a policy.
func (d *execution) subsets(ctx context.Context, namespace, name string, policy planning.Maker) (*subsets, error) {
	client, err := d.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	u, err := united.Get(ctx, client, namespace, name)
	return &subsets{execution: d, policy: policy, object: u}, err
}

// ref names the UnitedDeployment.
func (s *subsets) ref() cluster.Ref {
	return cluster.Ref{Group: kruise.Group, Kind: kruise.KindUnitedDeployment, Namespace: s.object.Namespace, Name: s.object.Name}
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
func (s *subsets) toManifest(ctx context.Context, final *unstructured.Unstructured, released bool) error {
	to := united.Read(final)
	s.goal = goal{template: to.Template, strategy: to.OwnStrategy(), released: released}
	if !united.SameTemplate(s.object.Template, to.Template) {
		client, err := s.factory.Dynamic()
		if err != nil {
			return err
		}
		if err := s.object.NoteStart(ctx, client); err != nil {
			return err
		}
	}
	s.firstWrite = s.object.ReleaseSpec(final)
	return nil
}

// toTemplate is the goal of a verb that changes the template alone; nil is the one that is there,
// which partitions hold back. With all, no pod is kept: a partition would keep the very pods that
// are to go back.
func (s *subsets) toTemplate(ctx context.Context, template map[string]any, all bool) error {
	s.goal = goal{template: s.object.Template, none: all, same: true}
	client, err := s.factory.Dynamic()
	if err != nil {
		return err
	}
	if template == nil || united.SameTemplate(template, s.object.Template) {
		s.firstWrite, err = s.object.BeginPatch(ctx, client)
	} else if err = s.object.NoteStart(ctx, client); err == nil {
		s.template, s.firstWrite, s.same = template, s.object.ReleasePatch(template), false
	}
	s.strategy = s.object.FinalStrategy()
	return err
}

// toFormer is the goal of a rollback: the revision that the rollout started from.
func (s *subsets) toFormer(ctx context.Context, why string) error {
	s.goal = goal{back: why, none: true}
	client, err := s.factory.Dynamic()
	if err != nil {
		return err
	}
	former, err := s.object.Former(ctx, client)
	if err != nil {
		return err
	}
	if s.object.Start == nil { // its annotation was removed
		s.object.Start = &united.Start{Revision: former.Name, Strategy: s.object.OwnStrategy()}
	}
	if s.template, s.strategy = former.Template, s.object.FinalStrategy(); !united.SameTemplate(former.Template, s.object.Template) {
		s.firstWrite = s.object.ReleasePatch(former.Template)
	}
	return nil
}

// members opens the workload of each subset, and makes the plan by which its pods come from a
// template to the goal.
func (s *subsets) members(ctx context.Context, from map[string]any) (*rolling, error) {
	r := &rolling{execution: s.execution, united: s}
	err := s.each(ctx, func(m *member) (bool, error) {
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
			r.add(m)
		}
		return err == nil, err
	})
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// planBack makes the plan by which a subset follows the UnitedDeployment back; a recorded one that is in progress
// continues.
func (s *subsets) planBack(ctx context.Context, m *member) error {
	rec, err := m.session.Rollout()
	if err != nil && !errors.Is(err, plan.ErrNoRollout) {
		return err
	}
	if rec.Plan.RollbackReason != "" && rec.InFlight() {
		m.plan, m.begun, m.recorded = rec.Plan, true, rec.Describe()
		return nil
	}
	m.before = rec.Begun
	snapshot, err := m.session.Observe(ctx, m.ref())
	if err == nil {
		m.plan, err = plan.RollbackSubset(snapshot, s.back)
	}
	return err
}

// each does something for the workload of each subset, which is open, in the order given or, on the way
// back, in reverse, and stops at the first error. kept has it stay open.
func (s *subsets) each(ctx context.Context, do func(*member) (kept bool, err error)) error {
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
			m.session.Close()
		}
		if err != nil {
			return fmt.Errorf("subset %s: %w", m.subset(), err)
		}
	}
	return nil
}

// names are the workloads of the subsets, in the order given.
func (s *subsets) names(ctx context.Context) ([]resourcearg.Name, error) {
	client, err := s.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	return clusterread.SubsetWorkloads(ctx, client, s.object)
}

// open opens the workload of one subset.
func (s *subsets) open(ctx context.Context, name resourcearg.Name) (*member, error) {
	found, err := s.locateIn(ctx, name, s.object.Namespace)
	if err != nil {
		return nil, err
	}
	found.whole = true
	return &member{session: found, called: name}, s.watch(ctx, found)
}

// describe says what is rolled out in which order, before the plans are shown.
func (s *subsets) describe(members []*member) {
	w := s.factory.Streams.Err
	_, _ = fmt.Fprintf(w, "UnitedDeployment %s rolls out its subsets one after the other: %s\n\n", s.object.Name, strings.Join(s.object.Subsets, ", "))
	for _, m := range members {
		s.warnOfOwners(m.session.object)
	}
	if !s.object.Paced() {
		_, _ = fmt.Fprintln(w, "warning: its subsets are Deployments, which have no partition: all of them are updated at once, and neither pause nor abort stops them")
	}
}

// isReached reports whether there is nothing to roll out.
func (s *subsets) isReached(members []*member) bool {
	return len(members) == 0 && united.SameTemplate(s.template, s.object.Template)
}

// requests are the writes of run, if pods behave: the first one, the partition of each subset step by
// step, and the strategy that the object has in the end.
func (s *subsets) requests(members []*member) []event.Request {
	u := s.object
	var out []event.Request
	if s.firstWrite != nil {
		why := "the template, with all subsets held back"
		if s.same {
			why = "what there was before the rollout"
		}
		out = append(out, jsonPatch(united.Resource(u.Version), s.ref(), why, s.firstWrite))
	}
	first := len(out)
	switch {
	case s.back == "":
		for _, m := range members {
			for i := range m.plan.Steps {
				if step := &m.plan.Steps[i]; len(step.Patches) > 0 {
					out = append(out, partitionRequest(u, m.subset(), int32(step.Kept), step.Title))
				}
			}
		}
	case u.Paced():
		for _, subset := range slices.Backward(u.Subsets) {
			out = append(out, partitionRequest(u, subset, 0, "all pods that do not have the template"))
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

// partitionRequest is the write of the partition of a subset, and why it is written.
func partitionRequest(o *united.Object, subset string, n int32, why string) event.Request {
	return event.Request{
		Method: http.MethodPatch, Path: kubeobjects.Path(united.Resource(o.Version), o.Namespace, o.Name),
		ContentType: string(types.MergePatchType), Body: o.PartitionPatch(subset, n), Why: "subset " + subset + ": " + why,
	}
}

// run writes what begins the rollout, has the subsets follow one after the other, and gives the
// object the strategy that it has in the end. It returns the members that were rolled out, and how far
// these and the whole have come.
func (s *subsets) run(ctx context.Context) (members []*member, phases map[cluster.Ref]plan.Phase, err error) {
	client, err := s.factory.Dynamic()
	if err != nil {
		return nil, nil, err
	}
	if s.firstWrite != nil {
		if err := s.object.Write(ctx, client, s.firstWrite); err != nil {
			return nil, nil, err
		}
	}
	after, err := s.subsets(ctx, s.object.Namespace, s.object.Name, s.policy) // the write may have added some
	if err != nil {
		return nil, nil, err
	}
	if after.goal = s.goal; after.object.Paced() {
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
func (s *subsets) follow(ctx context.Context) ([]*member, map[cluster.Ref]plan.Phase, error) {
	s.released = false // it was asked before
	r, err := s.members(ctx, s.template)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	if s.back == "" {
		r.printSame()
	}
	r.united = nil // what is left are workloads
	if err := r.assemble(&groupFlags{}); err != nil || len(r.members) == 0 {
		return nil, map[cluster.Ref]plan.Phase{}, err
	}
	r.record.Bounds.PassWaiting = false
	rollouts, err := s.rollouts()
	if err != nil {
		return nil, nil, err
	}
	phases, err := r.run(ctx)
	for _, m := range r.members {
		rec, none := rollouts.Get(ctx, m.ref())
		if s.back == "" && errors.Is(err, command.ErrFailed) && rollsBack(m.plan, rec, none) {
			err = errors.Join(err, s.rollBack(ctx, rec.Progress.Failed))
		}
	}
	return r.members, phases, err
}

// followUnpaced waits for the pods of Deployments, which have no partition, and takes all subsets back
// where that fails and the policy asks for it.
func (s *subsets) followUnpaced(ctx context.Context) (members []*member, phases map[cluster.Ref]plan.Phase, err error) {
	policy, err := s.policy.Policy()
	if err != nil {
		return nil, nil, err
	}
	phases = map[cluster.Ref]plan.Phase{}
	err = s.each(ctx, func(m *member) (bool, error) {
		res, err := s.settle(ctx, m.session, s.policy)
		if err == nil && res.Outcome == event.Failed && s.back == "" && policy.OnFailure == plan.FailRollback {
			res, err = s.rollBackUnited(ctx, m.session, res)
		}
		if err == nil {
			err = s.end(res)
		}
		if err == nil {
			members, phases[m.ref()] = append(members, m), plan.PhaseCompleted
		}
		return false, err
	})
	return members, phases, err
}

// settleAll waits for the pods of all subsets.
func (s *subsets) settleAll(ctx context.Context) error {
	client, err := s.factory.Dynamic()
	if err != nil {
		return err
	}
	if err := s.object.Await(ctx, client, s.object.Generation); err != nil {
		return err
	}
	return s.each(ctx, func(m *member) (bool, error) {
		res, err := s.settle(ctx, m.session, s.policy)
		if err == nil {
			err = s.end(res)
		}
		return false, err
	})
}

// subset is the name of the subset whose workload it is.
func (m *member) subset() string { return m.session.object.Labels()[kruise.SubsetNameLabel] }

// follows is what a subset's workload becomes when its UnitedDeployment changes from a template to
// that of a goal. What the controller puts into a subset's template besides stays.
func (m *member) follows(from map[string]any, g *goal) *resource.Resource {
	object := m.session.object
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

// afterSubset does what follows from the end of a subset's rollout for its UnitedDeployment: a
// failure that asks for it takes all subsets back, and the last subset ends the rollout of the whole.
func (d *execution) afterSubset(ctx context.Context, s *session, res apply.Result) (apply.Result, error) {
	rec, none := s.Rollout()
	switch {
	case s.parent == nil:
		return res, nil
	case res.Outcome == event.Failed && rollsBack(res.Plan, rec, none):
		if s.whole { // the caller rolls back
			res.Outcome = event.RolledBack
			return res, nil
		}
		return d.rollBackUnited(ctx, s, res)
	case (res.Outcome == event.Completed || res.Outcome == event.RolledBack) && !s.whole:
		return res, d.endUnited(ctx, s.parent.object.Namespace, s.parent.object.Name)
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
func (d *execution) rollBackUnited(ctx context.Context, s *session, res apply.Result) (apply.Result, error) {
	err := d.rollBackSubsets(ctx, s.parent.object.Namespace, s.parent.object.Name, res.Reason)
	if err == nil {
		res.Outcome = event.RolledBack
	}
	return res, err
}

// rollBackSubsets takes a UnitedDeployment back to the revision that its rollout started from.
func (d *execution) rollBackSubsets(ctx context.Context, namespace, name, why string) error {
	s, err := d.subsets(ctx, namespace, name, planning.Maker{})
	if err != nil {
		return err
	}
	return s.rollBack(ctx, why)
}

// endUnited ends the rollout of a UnitedDeployment as far as its subsets have followed.
func (d *execution) endUnited(ctx context.Context, namespace, name string) error {
	s, err := d.subsets(ctx, namespace, name, planning.Maker{})
	if err != nil {
		return err
	}
	return s.finish(ctx, s.object.FinalStrategy())
}

// rollBack takes the UnitedDeployment back to the revision that its rollout started from.
func (s *subsets) rollBack(ctx context.Context, why string) error {
	back := &subsets{execution: s.execution, policy: s.policy, object: s.object}
	if err := back.toFormer(ctx, why); err != nil {
		return err
	}
	if back.firstWrite != nil {
		_, _ = fmt.Fprintf(s.factory.Streams.Err, "UnitedDeployment %s is rolled back to revision %s: %s\n", s.object.Name, s.object.Start.Revision, why)
	}
	_, _, err := back.run(ctx)
	return err
}

// finish gives the UnitedDeployment the strategy that it has when the rollout has ended. Subsets that
// keep more pods of an earlier template than the strategy says are named, and stay held.
func (s *subsets) finish(ctx context.Context, strategy map[string]any) error {
	fresh, err := s.subsets(ctx, s.object.Namespace, s.object.Name, s.policy)
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
	client, err := s.factory.Dynamic()
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
func (s *subsets) left(ctx context.Context, strategy map[string]any) (kept, text []string, err error) {
	err = s.each(ctx, func(m *member) (bool, error) {
		snapshot, err := m.session.Observe(ctx, m.session.target.Ref)
		if err != nil {
			return false, err
		}
		rec, err := m.session.Rollout()
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
func (d *execution) warnOfLeft(name string, left []string) {
	if len(left) == 0 {
		return
	}
	w := d.factory.Streams.Err
	_, _ = fmt.Fprintf(w, "UnitedDeployment %s is not rolled out, and later changes do not reach all of its pods: %s\n", name, strings.Join(left, "; "))
	_, _ = fmt.Fprintf(w, "hint: '%s' continues, '%s' rolls all subsets back\n",
		d.factory.WithConnection("kubectl kruise rollout run uniteddeployment/"+name), d.factory.WithConnection("kubectl kruise rollout abort uniteddeployment/"+name+" --rollback"))
}
