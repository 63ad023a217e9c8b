package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Rollback makes the plan that takes a rollout back: to the template that it started
// from, with what the rollout wrote beside it, in one step within the budgets, in place where that is
// possible, and then to the partition that the workload had. Only pods that were updated are touched.
// why is what ended the rollout. It fails where the cluster has not kept that template, and wraps
// [ErrSubset] for a subset of a UnitedDeployment.
func Rollback(p Plan, s Snapshot, why string) (Plan, error) {
	r := &rollout{plan: &p, snap: &s}
	present := r.object()
	if owner := subsetOf(present); owner != "" {
		return Plan{}, fmt.Errorf("%w: %w", ErrSubset, &tree.Error{
			Msg:  "it has the template of UnitedDeployment " + owner,
			Hint: fmt.Sprintf("'kubectl kruise rollout abort uniteddeployment/%s --rollback' rolls all subsets back", owner),
		})
	}
	template := formerTemplate(&p, &s, present)
	if template == nil {
		return Plan{}, &tree.Error{Msg: "the revision before this rollout is no longer stored", Hint: "apply the old manifest"}
	}
	before, back, stays, err := p.withSpecBefore(present, s.Pods)
	if err != nil {
		return Plan{}, err
	}
	desired, err := WithTemplate(before, template)
	if err != nil {
		return Plan{}, err
	}
	// The stored template is in a record that others may be able to edit.
	if p.Change.FromHash != p.Change.ToHash && hashOf(desired) != p.Change.FromHash {
		return Plan{}, &tree.Error{Msg: "the template that is stored is not the one that the workload had before this rollout", Hint: "apply the old manifest"}
	}
	out, err := buildRollback(desired, &s, p, why)
	if len(back) > 0 {
		out.Warnings = append(out.Warnings, "with the template "+strings.Join(back, ", ")+counted.Word(len(back), " goes", " go")+" back to what was there before")
	}
	if len(stays) > 0 {
		out.Warnings = append(out.Warnings, strings.Join(stays, ", ")+counted.Word(len(stays), " stays: it was", " stay: they were")+" changed after this rollout wrote it")
	}
	return out, err
}

// ErrSubset indicates that a workload is not rolled back by itself.
var ErrSubset = errors.New("a subset is rolled back with its UnitedDeployment")

// RollbackSubset makes the plan by which the pods of a subset follow the template that its
// UnitedDeployment was rolled back to, and that the workload has already. why is what ended the
// rollout. It has no steps where all pods have that template.
func RollbackSubset(s Snapshot, why string) (Plan, error) {
	present := s.Object()
	if present == nil || present.Object == nil {
		return Plan{}, &tree.Error{Msg: "the object is gone"}
	}
	return buildRollback(present, &s, Plan{}, why)
}

// formerTemplate is the template that a rollout started from; nil where it is no longer known. A
// rollout that found its template written started from what the pods had.
func formerTemplate(p *Plan, s *Snapshot, present *cluster.Workload) map[string]any {
	template := s.Base
	unwritten := p.Change.FromHash == p.Change.ToHash // what is recorded is older than this rollout
	if unwritten {
		template = templateOf(present)
	}
	for _, revision := range s.Revisions {
		if unwritten && revision.Name == p.Change.FromRevision || !unwritten && TemplateHash(revision.Template) == p.Change.FromHash {
			template = revision.Template
		}
	}
	return template
}

// buildRollback is the way back to a state from a rollout of a plan.
func buildRollback(desired *cluster.Workload, s *Snapshot, of Plan, why string) (Plan, error) {
	if _, ok := cluster.Of(desired.Object).Partition(); ok { // that of the rollout keeps the very pods that are to go back
		desired = withPartition(desired, intstr.FromInt32(0))
	}
	b := newBuilder(desired, s.Object(), *s, Policy{
		Steps:  []PolicyStep{{To: Amount{Value: 100, Percent: true}}},
		Pull:   PullNever, // the old image is where the old pods ran
		Driver: of.Driver, Drain: of.Drain, Grace: of.Grace, HookAnswer: of.HookAnswer, OnFailure: FailPause,
	})
	back, err := b.build(nil)
	back.RollbackReason = why
	if err != nil || len(back.Steps) == 0 {
		return back, err
	}
	b.addFormerPartition(&of)
	back.Steps = b.plan.Steps
	return back, nil
}

// addFormerPartition adds the step that writes the partition which the workload had before a
// rollout. It kept none of the pods that are rolled back, or else they would not be now: it is for
// later changes.
func (b *builder) addFormerPartition(of *Plan) {
	if len(of.Steps) == 0 {
		return
	}
	last := b.plan.Steps[len(b.plan.Steps)-1]
	was, known := conditionValue(of.Steps[0].Before, HoldsPartition)
	for i := 1; i < len(of.Steps) && !known; i++ {
		was, known = conditionValue(of.Steps[i].Before, HoldsPartition)
	}
	now, ok := conditionValue(last.After, HoldsPartition)
	if v := intstr.Parse(was); known && ok && was != now && isPartition(jsonValue(v)) {
		b.addStep(Step{
			Name: "partition-" + was, Kind: StepPartition, Title: "partition " + was + ", as before the rollout; no pod changes",
			Patches: []Patch{b.partitionPatch(v)}, Updated: last.Updated, Kept: last.Kept,
			Before: []Condition{{HoldsTemplate, b.plan.Change.ToHash}, {HoldsPartition, now}},
			After:  []Condition{{HoldsTemplate, b.plan.Change.ToHash}, {HoldsPartition, was}},
		})
	}
}

// OutdatedPods is how many pods do not have the present template, of how many.
func OutdatedPods(s Snapshot) (outdated, total int) {
	b, ok := presentBuilder(s)
	if !ok {
		return 0, 0
	}
	for _, p := range s.Members() {
		if rules.Active(p) {
			total++
			if !b.isUpdated(p) {
				outdated++
			}
		}
	}
	return outdated, total
}

// Left is what an ended rollout leaves that later changes meet: pods that do not have the present
// template, and the partition that keeps them; "" for nothing.
func Left(s Snapshot) string {
	outdated, total := OutdatedPods(s)
	if outdated == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %s %s an earlier template", outdated, counted.Of(total, "pod"), counted.Word(outdated, "has", "have"))
	if partition := PartitionOf(s.Object()); partition != "" && partition != "0" {
		text += " (partition " + partition + ")"
	}
	return text
}

// podsToDelete is the field that names pods to delete; a webhook refuses names of pods that are gone.
const podsToDelete = "spec.scaleStrategy.podsToDelete"

// withSpecBefore is a workload with the fields outside of the template as they were before the plan
// wrote them. back names those that differ, and stays those that others have changed since,
// such as the number of pods by a later scaling.
func (p *Plan) withSpecBefore(w *cluster.Workload, pods []*cluster.Pod) (_ *cluster.Workload, back, stays []string, err error) {
	if len(p.Change.Spec) == 0 {
		return w, nil, nil, nil
	}
	text, err := p.document(w)
	if err != nil {
		return nil, nil, nil, err
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, nil, nil, err
	}
	partition := PartitionPath(w.Group, w.Kind, w.Version) // has a step of its own
	for _, f := range p.Change.Spec {
		path, old := strings.Split(f.Path, "."), f.Old
		if f.Path == podsToDelete {
			old = namesOf(old, pods)
		}
		now := tree.Lookup(doc, path)
		switch {
		case len(path) < 2 || path[0] != "spec" || slices.Equal(path, partition) || equivalentJSON(now, old):
		case !equivalentJSON(now, f.New):
			stays = append(stays, f.Path)
		default:
			setAt(doc, path, old)
			back = append(back, f.Path)
		}
	}
	if text, err = json.Marshal(doc); err != nil {
		return nil, nil, nil, err
	}
	read, err := workloadOf(text)
	if err != nil {
		return nil, nil, nil, err
	}
	out := *w
	out.Object, out.Template = read.Object, read.Template
	return &out, back, stays, nil
}

// namesOf are the names of a list that pods have; nil for none.
func namesOf(list any, pods []*cluster.Pod) any {
	names, _ := list.([]any)
	var out []any
	for _, name := range names {
		if slices.ContainsFunc(pods, func(p *cluster.Pod) bool { return p.Name == name && !p.Deleting }) {
			out = append(out, name)
		}
	}
	if out == nil {
		return nil
	}
	return out
}

// setAt sets a field of nested mappings, which are made where they are missing; nil removes it.
func setAt(m map[string]any, path []string, v any) {
	for _, key := range path[:len(path)-1] {
		below, ok := m[key].(map[string]any)
		if !ok {
			below = map[string]any{}
			m[key] = below
		}
		m = below
	}
	if m[path[len(path)-1]] = v; v == nil {
		delete(m, path[len(path)-1])
	}
}

// WithTemplate returns the workload with another template: what a revision holds,
// as decoded JSON. Of a SidecarSet it is the fields that come into pods.
func WithTemplate(w *cluster.Workload, template map[string]any) (*cluster.Workload, error) {
	out := *w
	var err error
	out.Template, out.Object, err = kindOf(w.Object).withTemplate(w.Template, template)
	if err != nil {
		return nil, fmt.Errorf("the stored template of %s: %w", title(w.Ref), err)
	}
	return &out, nil
}

func decodedTemplate(template map[string]any) (t corev1.PodTemplateSpec, err error) {
	text, err := json.Marshal(template)
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(text, &t)
}

// OlderRevision returns the revision of a number or, for 0, the newest that is not the current
// one. For kinds without revisions, such as a ReplicaSet, it is the template that the last rollout
// started from. It is an error if there is none.
func OlderRevision(s Snapshot, number int64) (cluster.Revision, error) {
	list := Revisions(s)
	now, _ := rules.FindRevision(list, s.Object().Template)
	if number > 0 {
		i := slices.IndexFunc(list, func(r cluster.Revision) bool { return r.Number == number })
		if i < 0 {
			return cluster.Revision{}, &tree.Error{Msg: fmt.Sprintf("has no revision %d", number), Hint: "'kubectl kruise rollout history " + s.Workload.String() + "' lists those there are"}
		}
		return list[i], nil
	}
	for _, r := range slices.Backward(list) {
		if r.Name != now.Name {
			return r, nil
		}
	}
	if s.Base != nil {
		return cluster.Revision{Template: s.Base}, nil
	}
	return cluster.Revision{}, &tree.Error{Msg: "has no older revision", Hint: "apply the old manifest: 'kubectl kruise rollout run -f FILE'"}
}

// Revision is one stored template of a workload.
type Revision struct {
	cluster.Revision
	// Present is the one that the workload has now.
	Present bool
	// First is the oldest stored one: what it changed is not known.
	First bool
	// Pods is how many carry it.
	Pods int
	// Changed is what it changed of the one before.
	Changed rules.Eligibility
}

// Revisions are the stored templates of a workload, the oldest first.
func Revisions(s Snapshot) []cluster.Revision {
	list := slices.Clone(s.Revisions)
	slices.SortStableFunc(list, func(a, b cluster.Revision) int { return cmp.Compare(a.Number, b.Number) })
	return list
}

// History are the stored templates, the oldest first, each with what it changed.
func History(s Snapshot) []Revision {
	w, list := s.Object(), Revisions(s)
	present, _ := rules.FindRevision(list, w.Template)
	out, pods := make([]Revision, len(list)), s.Members()
	for i, r := range list {
		out[i] = Revision{Revision: r, Present: r.Name == present.Name, First: i == 0}
		for _, p := range pods {
			if rules.Active(p) && MadeFrom(w, p, r) {
				out[i].Pods++
			}
		}
		if i > 0 {
			out[i].Changed = Between(s, list[i-1], r)
		}
	}
	return out
}

// Between reports what a change from one stored template to another does to pods.
func Between(s Snapshot, from, to cluster.Revision) rules.Eligibility {
	o := s.Object().Object
	return rules.Change(
		&cluster.Workload{Object: o, Template: from.Template}, &cluster.Workload{Object: o, Template: to.Template},
		rules.PolicyOf(o), s.Gates,
	)
}

// MadeFrom reports whether a pod was made from, or updated to, a revision.
func MadeFrom(w *cluster.Workload, p *cluster.Pod, r cluster.Revision) bool {
	if w.Kind == kruise.KindDeployment {
		return p.Owner.Name == r.Name
	}
	return rules.AtRevision(p, r.Name)
}
