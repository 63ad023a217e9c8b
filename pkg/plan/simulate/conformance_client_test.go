package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// TestConformanceClient holds the driver client against the recordings: each update of
// a workload that a native object could carry is rolled out by it, from the recorded
// pods, for the recorded spec. The pods that it takes, their order, the way and how many
// at once have to be those of Kruise's controllers.
func TestConformanceClient(t *testing.T) {
	ran := 0
	conformance.Area(t, "rollout", func(_ *testing.T, c conformance.Case) error {
		steps, err := conformance.RolloutSteps(c)
		if err != nil {
			return err
		}
		script, err := conformance.ReadRolloutScript(c)
		if err != nil {
			return err
		}
		var errs []error
		for i, s := range steps {
			r, why, err := carriedStep(c, script, s, script.Steps[i])
			if err == nil && why == "" {
				ran++
				err = r.compare()
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("step %d (%s):\n%w", s.Number, script.Steps[i].Title, err))
			}
		}
		return errors.Join(errs...)
	})
	t.Logf("%d steps by the client", ran)
}

// carriedRun is a recorded step that the client does.
type carriedRun struct {
	*bed
	step conformance.RolloutStep
	// source is the Kruise workload as the step leaves it, total how many pods it
	// wants, updated how many of them the partition lets be updated.
	source         *cluster.Workload
	total, updated int
}

// carriedStep returns the run of a step, or why the client could not do it.
func carriedStep(c conformance.Case, script conformance.RolloutScript, s conformance.RolloutStep, act conformance.RolloutAct) (*carriedRun, string, error) {
	if _, settles := act.Wait(); !settles || !s.Patched() || len(script.Hooks) > 0 || !updates(act) {
		return nil, "it is no update that is waited for", nil
	}
	for _, p := range s.Before.Pods {
		if p.Labels[kruise.SpecifiedDeleteLabel] != "" || p.Labels[kruise.LifecycleStateLabel] == string(rules.StatePreparingDelete) {
			return nil, "marks, and deletions that a hook holds, are for Kruise's controllers", nil
		}
	}
	b := emptyBed(c, script, s.Before.TakenAt)
	source, err := cluster.ReadWorkload(tree.FromValue(b.placed(s.After.Workload)))
	if err != nil {
		return nil, "", err
	}
	before, err := cluster.ReadWorkload(tree.FromValue(b.placed(s.Before.Workload)))
	if err != nil {
		return nil, "", err
	}
	r := &carriedRun{bed: b, step: s, source: source}
	if why := r.size(before); why != "" {
		return nil, why, nil
	}
	if why := r.strangers(); why != "" {
		return nil, why, nil
	}
	return r, "", r.load()
}

// updates reports whether a step changes what updates are made of, and nothing else.
func updates(act conformance.RolloutAct) bool {
	spec, _ := act.Patch["spec"].(map[string]any)
	for key := range spec {
		if key != "template" && key != "updateStrategy" {
			return false
		}
	}
	return len(spec) > 0 && act.On == nil
}

// size finds out how many pods the step updates, or why no native object could carry the workload
// in it.
func (r *carriedRun) size(before *cluster.Workload) string {
	if rules.PausedOf(r.source.Object) {
		return "nobody updates while it is paused"
	}
	switch o := r.source.Object.(type) {
	case *kruise.CloneSet:
		u, l := o.Spec.UpdateStrategy, rules.LimitsOfCloneSet(&o.Spec)
		if u.Type == kruise.OnDeleteCloneSetStrategyType || u.RollingUpdate == nil {
			return "it is updated on deletion"
		}
		r.total = l.Replicas
		r.updated = r.total - rules.Partition(u.RollingUpdate.Partition, r.total)
		if l.MaxUnavailable == 0 {
			return "nobody may be unavailable, and nobody updates"
		}
		if l.MaxSurge > 0 || u.RollingUpdate.InPlaceUpdateStrategy != nil && u.RollingUpdate.InPlaceUpdateStrategy.GracePeriodSeconds > 0 {
			return "surge and grace are another matter"
		}
		if *before.Object.(*kruise.CloneSet).Spec.Replicas != *o.Spec.Replicas {
			return "it is scaled"
		}
	case *kruise.StatefulSet:
		u := o.Spec.UpdateStrategy
		r.total = int(*o.Spec.Replicas)
		if u.RollingUpdate == nil || *before.Object.(*kruise.StatefulSet).Spec.Replicas != *o.Spec.Replicas || len(o.Spec.ReserveOrdinals) > 0 {
			return "it is scaled, or updated on deletion"
		}
		r.updated = max(rules.LimitsOfStatefulSet(&o.Spec).MaxUpdate(), 0)
	case *kruise.DaemonSet:
		u := o.Spec.UpdateStrategy
		r.total = int(o.Status.DesiredNumberScheduled)
		if u.RollingUpdate == nil || u.RollingUpdate.MaxSurge != nil && u.RollingUpdate.MaxSurge.String() != "0" {
			return "surge, or updated on deletion"
		}
		r.updated = max(r.total-rules.DaemonSetPartition(u.RollingUpdate.Partition, r.total), 0)
	default:
		return "nobody but Kruise updates sidecars"
	}
	switch {
	case r.updated == 0:
		return "nothing is let go"
	case len(r.step.Before.Others) > 0 && r.source.Kind != "CloneSet":
		return "the client asks budgets also where Kruise makes the pod unready first, and so is not held back"
	}
	return ""
}

// strangers returns why revisions of a ReplicaSet's pods are unknown: only its current template
// and the one before are stored.
func (r *carriedRun) strangers() string {
	if r.source.Kind != "CloneSet" {
		return ""
	}
	spec, _ := r.native(r.step.Before.Workload)["spec"].(map[string]any)
	present, _ := spec["template"].(map[string]any)
	hash := plan.TemplateHash(present)
	known, before := map[string]bool{}, ""
	for _, revision := range r.revisions(r.step.Before) {
		name := cluster.Hash(revision.Name)
		if known[name] = plan.TemplateHash(ungated(revision.Template)) == hash; !known[name] {
			before = name
		}
	}
	known[before] = true
	for _, p := range r.step.Before.Pods {
		if !known[cluster.Hash(p.Labels["controller-revision-hash"])] {
			return "a ReplicaSet keeps no history"
		}
	}
	return ""
}

// native is the object that carries a recorded workload for the client.
func (r *carriedRun) native(workload map[string]any) map[string]any {
	workload = r.placed(workload)
	spec, _ := workload["spec"].(map[string]any)
	meta, _ := workload["metadata"].(map[string]any)
	template, _ := spec["template"].(map[string]any)
	out := map[string]any{"selector": spec["selector"], "template": ungated(template), "minReadySeconds": spec["minReadySeconds"]}
	kind := fmt.Sprint(workload["kind"])
	switch kind {
	case "CloneSet":
		kind, out["replicas"] = "ReplicaSet", spec["replicas"]
	case "StatefulSet":
		out["replicas"], out["podManagementPolicy"], out["volumeClaimTemplates"] = spec["replicas"], spec["podManagementPolicy"], spec["volumeClaimTemplates"]
		out["updateStrategy"] = map[string]any{"type": "OnDelete"}
	case "DaemonSet":
		out["updateStrategy"] = map[string]any{"type": "OnDelete"}
	}
	for k, v := range out {
		if v == nil {
			delete(out, k)
		}
	}
	return map[string]any{
		"apiVersion": "apps/v1", "kind": kind, "spec": out,
		"metadata": map[string]any{"name": meta["name"], "namespace": meta["namespace"], "generation": 1},
	}
}

// load puts the recorded pods into a world without Kruise.
func (r *carriedRun) load() error {
	s := r.step
	before := r.native(s.Before.Workload)
	r.target, r.owner = refOfDoc(before), refOfDoc(before)
	for name, labels := range s.Before.NodeLabels {
		r.label(name, labels)
	}
	templates := map[string]string{}
	snap := plan.Snapshot{Workload: r.source, Gates: r.opt.Gates}
	present, _ := before["spec"].(map[string]any)["template"].(map[string]any)
	for _, revision := range r.revisions(s.Before) {
		revision.Template = ungated(revision.Template)
		templates[cluster.Hash(revision.Name)] = plan.TemplateHash(revision.Template)
		if plan.TemplateHash(revision.Template) != plan.TemplateHash(present) {
			snap.Base = revision.Template // the last is what a rollout to the present one has recorded
		}
		snap.Revisions = append(snap.Revisions, revision)
	}
	if r.owner.Kind == "ReplicaSet" {
		snap.Revisions = nil
		r.mark(before)
	}
	carrier, err := cluster.ReadWorkload(tree.FromValue(before))
	if err != nil {
		return err
	}
	snap.Carrier = carrier
	for _, recorded := range s.Before.Pods {
		p := r.recorded(recorded)
		p.Owner = cluster.Owner{Kind: r.owner.Kind, Name: r.owner.Name}
		if r.owner.Kind == "ReplicaSet" {
			p = p.With(cluster.PodChange{Labels: map[string]*string{"controller-revision-hash": new(templates[hashOf(p)])}}, r.Now())
		}
		snap.Pods = append(snap.Pods, p)
	}
	r.remember(s.Before.Pods)
	l := &loader{r.World}
	if err := l.storeObserved(snap); err != nil {
		return err
	}
	for _, p := range snap.Pods {
		l.loadPod(p)
	}
	for _, other := range s.Before.Others {
		if err := r.api.write(refOfDoc(r.placed(other)), tree.FromValue(r.placed(other))); err != nil {
			return err
		}
	}
	r.budgets.tallyLater()
	l.start()
	return r.Run(r.Now().Add(time.Second))
}

// ungated is a template of a native object: without Kruise's readiness gates, and with
// what its API server fills in.
func ungated(template map[string]any) map[string]any {
	spec, _ := template["spec"].(map[string]any)
	spec = maps.Clone(spec)
	delete(spec, "readinessGates")
	out := cluster.WithKey(template, "spec", spec)
	text, err := json.Marshal(out)
	var typed corev1.PodTemplateSpec
	if err != nil || json.Unmarshal(text, &typed) != nil {
		return out
	}
	kruise.DefaultTemplate(&typed)
	if text, err = json.Marshal(typed); err == nil {
		out = map[string]any{}
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return template
	}
	return out
}

// mark names the revision in the template of a ReplicaSet, as the client does.
func (r *carriedRun) mark(doc map[string]any) {
	spec, _ := doc["spec"].(map[string]any)
	template, _ := spec["template"].(map[string]any)
	meta, _ := template["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	labels = cluster.WithKey(labels, "controller-revision-hash", plan.TemplateHash(template))
	spec["template"] = cluster.WithKey(template, "metadata", cluster.WithKey(meta, "labels", labels))
}

// compare rolls the step out, and compares who was taken.
func (r *carriedRun) compare() error {
	ref := r.source.Ref
	snap, err := r.Snapshot(ref)
	if err != nil {
		return err
	}
	desired, err := cluster.ReadWorkload(tree.FromValue(r.native(r.step.After.Workload)))
	if err != nil {
		return err
	}
	to := plan.Amount{Value: float64(r.updated)}
	p, err := plan.Build(desired, snap, plan.Policy{Driver: plan.DriverClient, Steps: []plan.PolicyStep{{To: to}}, Pull: plan.PullNever, Drain: plan.DrainNone})
	if err != nil {
		return err
	}
	before := r.pods()
	line, err := Rollout(r.World, p, RolloutOptions{Patience: time.Minute})
	if err != nil {
		return err
	}
	ours, theirs := taken(line.Records), []act(nil)
	for _, a := range recordedActs(r.step) {
		if a.op == OpInPlace || a.op == OpDelete {
			theirs = append(theirs, a)
		}
	}
	classes := ties(r.step, before)
	if p.Change.Mode == rules.ModeMetadataOnly { // nothing restarts: only their order matters
		theirs, ours = spaced(theirs), spaced(ours)
	}
	if err := differentGroups(waves(theirs), waves(ours), classes); err != nil {
		return fmt.Errorf("%w\n  recorded: %s\n  ours:     %s\n  it ended %s: %s", err, text(waves(theirs)), text(waves(ours)), line.Summary.Outcome, line.Summary.Reason)
	}
	return nil
}

// taken are the pods that were updated or deleted.
func taken(list []Record) (out []act) {
	for _, r := range list {
		if r.Op == OpInPlace || r.Op == OpDelete {
			out = append(out, act{at: r.At.Seconds(), op: r.Op, uid: r.UID})
		}
	}
	return out
}

// spaced has one act a second.
func spaced(list []act) []act {
	for i := range list {
		list[i].at = float64(i)
	}
	return list
}
