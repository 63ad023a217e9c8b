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

// Subsets are the members of the rollout of a UnitedDeployment, whatever verb carries it out. Its
// template comes to all of them at once, held back by their partitions; then they follow one after
// the other, each by a plan and a record of its own, so that all verbs work on it.
type Subsets struct {
	batch *Batch
	// object is the UnitedDeployment as it is.
	object *united.Object
}

// Subsets reads a UnitedDeployment.
func (b *Batch) Subsets(ctx context.Context, namespace, name string) (*Subsets, error) {
	client, err := b.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	u, err := united.Get(ctx, client, namespace, name)
	return &Subsets{b, u}, err
}

// Goal is what the rollout of a UnitedDeployment leads to.
type Goal struct {
	// template is spec.template, strategy spec.updateStrategy in the end.
	template, strategy map[string]any
	// kept is how many pods of a subset its partition keeps in the end; nil is none of any.
	kept func(subset string) int64
	// first is the JSON patch that begins it, nil where nothing is left to write. same indicates that it
	// brings no template, only what there was before the rollout.
	first []any
	same  bool
	// back is why the subsets are rolled back, the last one first: that one may have failed; "" for
	// a rollout that is no way back.
	back string
}

// keeps is how many pods of a subset its partition keeps in the end.
func (g *Goal) keeps(subset string) int64 {
	if g.kept == nil {
		return 0
	}
	return g.kept(subset)
}

// title says what the first write does.
func (g *Goal) title() string {
	if g.same {
		return "what there was before the rollout"
	}
	return "the template, with all subsets held back"
}

// To is the goal of a manifest: the whole spec is written, with every subset held back where the
// template is new.
func (s *Subsets) To(ctx context.Context, final *unstructured.Unstructured) (Goal, error) {
	to := united.Read(final)
	g := Goal{template: to.Template, strategy: to.OwnStrategy(), kept: to.Kept}
	if !united.SameTemplate(s.object.Template, to.Template) {
		client, err := s.batch.factory.Dynamic()
		if err != nil {
			return g, err
		}
		if err := s.object.NoteStart(ctx, client); err != nil {
			return g, err
		}
	}
	g.first = s.object.ReleaseSpec(final)
	return g, nil
}

// toTemplate is the goal of a verb that changes the template alone; nil is the one that is there,
// which partitions hold back. With all, no pod is kept: a partition would keep the very pods that
// are to go back.
func (s *Subsets) toTemplate(ctx context.Context, template map[string]any, all bool) (Goal, error) {
	g := Goal{template: s.object.Template, same: true}
	client, err := s.batch.factory.Dynamic()
	if err != nil {
		return g, err
	}
	if template == nil || united.SameTemplate(template, s.object.Template) {
		g.first, err = s.object.BeginPatch(ctx, client)
	} else if err = s.object.NoteStart(ctx, client); err == nil {
		g.template, g.first, g.same = template, s.object.ReleasePatch(template), false
	}
	if g.strategy = s.object.FinalStrategy(); !all {
		g.kept = s.object.Final
	}
	return g, err
}

// toFormer is the goal of a rollback: the revision that the rollout started from.
func (s *Subsets) toFormer(ctx context.Context, why string) (Goal, error) {
	g := Goal{back: why}
	client, err := s.batch.factory.Dynamic()
	if err != nil {
		return g, err
	}
	former, err := s.object.Former(ctx, client)
	if err != nil {
		return g, err
	}
	if s.object.Start == nil { // its annotation was removed
		s.object.Start = &united.Start{Revision: former.Name, Strategy: s.object.OwnStrategy()}
	}
	if g.template, g.strategy = former.Template, s.object.FinalStrategy(); !united.SameTemplate(former.Template, s.object.Template) {
		g.first = s.object.ReleasePatch(former.Template)
	}
	return g, nil
}

// each does something for the workload of each subset, in the order given, and stops
// at the first error.
func (s *Subsets) each(ctx context.Context, do func(*member) error) error {
	names, err := s.names(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		m, err := s.open(ctx, name)
		if err != nil {
			return err
		}
		err = do(m)
		m.session.Close()
		if err != nil {
			return fmt.Errorf("subset %s: %w", m.subset(), err)
		}
	}
	return nil
}

// names are the workloads of the subsets, in the order given.
func (s *Subsets) names(ctx context.Context) ([]resourcearg.Name, error) {
	client, err := s.batch.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	return clusterread.SubsetWorkloads(ctx, client, s.object)
}

// open opens the workload of one subset.
func (s *Subsets) open(ctx context.Context, name resourcearg.Name) (*member, error) {
	found, err := s.batch.locateIn(ctx, name, s.object.Namespace)
	if err != nil {
		return nil, err
	}
	return &member{session: found, called: name}, s.batch.watch(ctx, found)
}

// plan makes the plan by which the pods of a subset follow a goal from a template.
func (s *Subsets) plan(ctx context.Context, m *member, from map[string]any, g *Goal) error {
	policy := s.batch.policy
	policy.Counted = true
	return m.make(ctx, policy, m.follows(from, g))
}

// Show shows the plan of each subset, and returns them. One that has another rollout in progress
// is refused; so is one whose last rollout has failed, where released says that the goal takes away
// what holds pods back.
func (s *Subsets) Show(ctx context.Context, g Goal, released bool) (plans []plan.Plan, err error) {
	if released {
		if err := s.each(ctx, func(m *member) error { return m.hasNotFailed() }); err != nil {
			return nil, err
		}
	}
	_, _ = fmt.Fprintf(s.batch.factory.Streams.Err, "UnitedDeployment %s rolls out its subsets one after the other: %s\n\n", s.object.Name, strings.Join(s.object.Subsets, ", "))
	err = s.each(ctx, func(m *member) error {
		if err := s.plan(ctx, m, s.object.Template, &g); err != nil || m.idle() {
			return err
		}
		plans = append(plans, m.plan)
		s.batch.warnOfOwners(m.session.object)
		return s.batch.alone(m).showPlans()
	})
	return plans, err
}

// Requests are the writes of Run, if pods behave: the first one, the partition of each subset step by
// step, and the strategy that the object has in the end.
func (s *Subsets) Requests(ctx context.Context, g Goal) ([]event.Request, error) {
	u := s.object
	var out []event.Request
	if g.first != nil {
		ref := cluster.Ref{Group: kruise.Group, Kind: kruise.KindUnitedDeployment, Namespace: u.Namespace, Name: u.Name}
		out = append(out, jsonPatch(united.Resource(u.Version), ref, g.title(), g.first))
	}
	first := len(out)
	switch {
	case g.back == "":
		more, err := s.moves(ctx, g)
		if out = append(out, more...); err != nil {
			return out, err
		}
	case u.Paced():
		for _, subset := range slices.Backward(u.Subsets) {
			out = append(out, partitionRequest(u, subset, 0, "all pods that do not have the template"))
		}
	}
	if !u.Paced() || len(out) == 0 || len(out) == first && g.same {
		return out, nil
	}
	return append(out, event.Request{
		Method: http.MethodPatch, Path: kubeobjects.Path(united.Resource(u.Version), u.Namespace, u.Name), ContentType: string(types.MergePatchType),
		Why: "the update strategy as before, once all subsets have the template", Body: u.SettlePatch(g.strategy, nil),
	}), nil
}

// moves are the partitions of the steps of each subset.
func (s *Subsets) moves(ctx context.Context, g Goal) (out []event.Request, err error) {
	err = s.each(ctx, func(m *member) error {
		err := s.plan(ctx, m, s.object.Template, &g)
		for i := range m.plan.Steps {
			if step := &m.plan.Steps[i]; len(step.Patches) > 0 {
				out = append(out, partitionRequest(s.object, m.subset(), int32(step.Kept), step.Title))
			}
		}
		return err
	})
	return out, err
}

// partitionRequest is the write of the partition of a subset, and why it is written.
func partitionRequest(o *united.Object, subset string, n int32, why string) event.Request {
	return event.Request{
		Method: http.MethodPatch, Path: kubeobjects.Path(united.Resource(o.Version), o.Namespace, o.Name),
		ContentType: string(types.MergePatchType), Body: o.PartitionPatch(subset, n), Why: "subset " + subset + ": " + why,
	}
}

// Run writes what begins the rollout, has the subsets follow one after the other, and gives the
// object the strategy that it has in the end.
func (s *Subsets) Run(ctx context.Context, g Goal) error {
	client, err := s.batch.factory.Dynamic()
	if err != nil {
		return err
	}
	if g.first != nil {
		if err := s.object.Write(ctx, client, g.first); err != nil {
			return err
		}
	}
	after, err := s.batch.Subsets(ctx, s.object.Namespace, s.object.Name) // the write may have added some
	if err != nil {
		return err
	}
	s.batch.whole = true
	if after.object.Paced() {
		err = after.follow(ctx, &g)
	} else {
		err = after.each(ctx, func(m *member) error { return after.followUnpaced(ctx, m, &g) })
	}
	if err != nil {
		return err
	}
	return after.end(ctx, g.strategy)
}

// follow has the pods of the subsets follow the template that their workloads have, one subset after
// the other: by the recorded plan where one is in progress, by a new one otherwise.
func (s *Subsets) follow(ctx context.Context, g *Goal) error {
	names, err := s.names(ctx)
	if err != nil {
		return err
	}
	if g.back != "" {
		slices.Reverse(names)
	}
	r := &rolling{execution: &s.batch.execution}
	defer r.close()
	for _, name := range names {
		m, err := s.open(ctx, name)
		if err == nil {
			err = s.followPlan(ctx, m, g)
		}
		if err != nil {
			return fmt.Errorf("subset %s: %w", name, err)
		}
		if m.idle() && g.back == "" {
			_, _ = fmt.Fprintln(s.batch.eventsTo(), m.plan.Change.Why)
		}
		r.add(m)
	}
	if err := r.assemble(&groupFlags{}); err != nil || len(r.members) == 0 {
		return err
	}
	r.record.Bounds.PassWaiting = false
	rollouts, err := s.batch.rollouts()
	if err != nil {
		return err
	}
	phases, err := r.run(ctx)
	for _, m := range r.members {
		rec, none := rollouts.Get(ctx, m.ref())
		if g.back == "" && errors.Is(err, command.ErrFailed) && rollsBack(m.plan, rec, none) {
			err = errors.Join(err, s.rollBack(ctx, rec.Progress.Failed))
		}
		if g.back == "" && s.batch.printer != nil && phases[m.ref()] == plan.PhaseCompleted {
			ref := objectOf(m.session.object)
			err = errors.Join(err, s.batch.printer.fetch(ctx, s.batch.common, ref.Resource, ref.Namespace, ref.Name))
		}
	}
	return err
}

// followPlan makes the plan by which the pods of a subset follow the template that its workload has.
func (s *Subsets) followPlan(ctx context.Context, m *member, g *Goal) error {
	if g.back == "" {
		return s.plan(ctx, m, g.template, g)
	}
	rec, err := m.session.Rollout()
	if err != nil && !errors.Is(err, plan.ErrNoRollout) {
		return err
	}
	m.before = rec.Begun
	snapshot, err := m.session.Observe(ctx, m.ref())
	if err == nil {
		m.plan, err = plan.RollbackSubset(snapshot, g.back)
	}
	return err
}

// Settle waits for the pods of all subsets.
func (s *Subsets) Settle(ctx context.Context) error {
	client, err := s.batch.factory.Dynamic()
	if err != nil {
		return err
	}
	if err := s.object.Await(ctx, client, s.object.Generation); err != nil {
		return err
	}
	return s.each(ctx, func(m *member) error {
		res, err := s.batch.settle(ctx, m.session)
		if err != nil {
			return err
		}
		return s.batch.end(res)
	})
}

// subset is the name of the subset whose workload it is.
func (m *member) subset() string { return m.session.object.Labels()[kruise.SubsetNameLabel] }

// follows is what a subset's workload becomes when its UnitedDeployment changes from a template to
// that of a goal. What the controller puts into a subset's template besides stays.
func (m *member) follows(from map[string]any, g *Goal) *resource.Resource {
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

// followUnpaced waits for the pods of a Deployment, which has no partition, and takes all subsets back
// where that fails and the policy asks for it.
func (s *Subsets) followUnpaced(ctx context.Context, m *member, g *Goal) error {
	res, err := s.batch.settle(ctx, m.session)
	if err != nil {
		return err
	}
	policy, err := s.batch.policy.Policy()
	if err != nil {
		return err
	}
	if res.Outcome == event.Failed && g.back == "" && policy.OnFailure == plan.FailRollback {
		if res, err = s.batch.rollBackUnited(ctx, m.session, res); err != nil {
			return err
		}
	}
	return s.batch.end(res)
}

// afterSubset does what follows from the end of a subset's rollout for its UnitedDeployment: a
// failure that asks for it takes all subsets back, and the last subset ends the rollout of the whole.
func (d *execution) afterSubset(ctx context.Context, s *session, res apply.Result) (apply.Result, error) {
	rec, none := s.Rollout()
	switch {
	case s.parent == nil:
		return res, nil
	case res.Outcome == event.Failed && rollsBack(res.Plan, rec, none):
		if d.whole { // the caller rolls back
			res.Outcome = event.RolledBack
			return res, nil
		}
		return d.rollBackUnited(ctx, s, res)
	case res.Outcome == event.Completed && !d.whole:
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
func (d *execution) endUnited(ctx context.Context, namespace, name string) error {
	subsets, err := d.subsets(ctx, namespace, name)
	if err != nil {
		return err
	}
	return subsets.end(ctx, subsets.object.FinalStrategy())
}

// subsets reads a UnitedDeployment whose rollout this verb ends.
func (d *execution) subsets(ctx context.Context, namespace, name string) (*Subsets, error) {
	b := &Batch{execution: *d}
	return b.Subsets(ctx, namespace, name)
}

// rollBack takes the UnitedDeployment back to the revision that its rollout started from.
func (s *Subsets) rollBack(ctx context.Context, why string) error {
	g, err := s.toFormer(ctx, why)
	if err != nil {
		return err
	}
	if g.first != nil {
		_, _ = fmt.Fprintf(s.batch.factory.Streams.Err, "UnitedDeployment %s is rolled back to revision %s: %s\n", s.object.Name, s.object.Start.Revision, why)
	}
	return s.Run(ctx, g)
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
	err = s.each(ctx, func(m *member) error {
		snapshot, err := m.session.Observe(ctx, m.session.target.Ref)
		if err != nil {
			return err
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
		return nil
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
