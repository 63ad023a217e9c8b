package plan

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// addSteps makes the steps: pull, the write of the whole object with what holds pods back, and the
// stages after it.
func (b *builder) addSteps() error {
	for _, text := range b.policy.Warnings {
		b.warning("%s", text)
	}
	for _, step := range decreasingSteps(b.policy.Steps, b.subject.total) {
		b.warning("step %s comes to fewer of %s than the one before: it is left out", step, counted.Of(b.subject.total, "pod"))
	}
	if err := b.addUpdateSteps(); err != nil {
		return err
	}
	b.awaitReplicas()
	if len(b.plan.Steps) == 0 {
		b.plan.Change.Why = "nothing to do: the object and its pods are up to date"
	}
	return nil
}

// addUpdateSteps adds the steps that update the pods.
func (b *builder) addUpdateSteps() error {
	stages := b.stages()
	if !b.templateChanged && !b.specChanged && len(stages) == 0 && !b.partitionMoves() {
		return nil
	}
	b.addPull(len(stages) > 0 && stages[len(stages)-1].updated > b.subject.updated)
	base := b.present
	if len(stages) == 0 || b.plan.Driver == DriverClient && (b.templateChanged || b.specChanged || b.unmarked()) {
		var err error
		if base, err = b.addUpdate(base, nil, nil); err != nil {
			return err
		}
	}
	if b.plan.Driver == DriverClient {
		b.addClientSteps(stages)
		return nil
	}
	for i, r := range stages {
		var err error
		if base, err = b.addStage(base, r, i == 0, i == len(stages)-1); err != nil {
			return err
		}
		b.addChecksAndPause(r, i == len(stages)-1)
	}
	return nil
}

// awaitReplicas has the first write wait for the number of pods that it asks for, and a workload that
// grows end when as many are available. One that shrinks need not have what is left of it
// available: pods that are broken are what a new template may be for. Nor need one whose partition may keep such a pod.
func (b *builder) awaitReplicas() {
	from, to := replicas(b.present), replicas(b.desired)
	first := slices.IndexFunc(b.plan.Steps, func(s Step) bool { return s.Kind == StepUpdate })
	if from == to || first < 0 || b.subject.approximate { // a Deployment that is paused keeps its surge
		return
	}
	b.plan.Steps[first].After = append(b.plan.Steps[first].After, Condition{HoldsReplicas, strconv.Itoa(to)})
	last := first
	for i := range b.plan.Steps {
		if s := &b.plan.Steps[i]; len(s.Patches) > 0 || s.Kind == StepInPlace || s.Kind == StepRecreate {
			last = i
		}
	}
	broken := func(p *cluster.Pod) bool { return rules.Active(p) && b.isOutdated(p) && !p.IsReady() }
	if to > from && (b.plan.Steps[last].Kept == 0 || !b.templateChanged || !slices.ContainsFunc(b.snap.Pods, broken)) {
		b.plan.Steps[last].After = append(b.plan.Steps[last].After, Condition{HoldsAvailable, strconv.Itoa(to)})
	}
}

// addPull adds the step that pulls new images to the nodes before any pod changes. Where the plan updates
// none, that is a step only if it was asked for.
func (b *builder) addPull(updates bool) {
	images := b.newImages()
	nodes := nodesOf(b.snap.Members())
	wanted := b.policy.Pull == PullFirst || b.policy.Pull == PullAuto && updates && b.plan.Change.Mode == rules.ModeInPlace
	if !wanted || len(images) == 0 || nodes == 0 {
		return
	}
	b.addStep(Step{
		Name: "pull", Kind: StepPullImages, Title: fmt.Sprintf("pull %s on %s", counted.Of(len(images), "image"), counted.Of(nodes, "node")),
		Updated: b.subject.updated, Kept: b.subject.total - b.subject.updated,
		Pull:   &Pull{Images: images, Parallel: b.policy.Parallel},
		Before: []Condition{{HoldsTemplate, b.plan.Change.FromHash}},
		After:  []Condition{{HoldsPulled, strconv.Itoa(nodes)}},
	})
}

// newImages are images that the new template asks for and the old did not, in the
// order of the fields.
func (b *builder) newImages() []string {
	var out []string
	for _, f := range b.plan.Change.Fields {
		image, ok := f.New.(string)
		if ok && f.Effect == rules.EffectImage && !slices.Contains(out, image) {
			out = append(out, image)
		}
	}
	return out
}

// nodesOf counts the nodes that pods are on.
func nodesOf(list []*cluster.Pod) int {
	seen := map[string]bool{}
	for _, p := range list {
		if p.Node != "" && rules.Active(p) {
			seen[p.Node] = true
		}
	}
	return len(seen)
}

// addClientSteps makes the steps that change named pods, after the template has been
// written: no controller updates them by itself.
func (b *builder) addClientSteps(stages []stage) {
	kind, verb := StepInPlace, "update in place"
	if b.plan.Change.Mode == rules.ModeRecreate || b.unmarked() {
		kind, verb = StepRecreate, "recreate"
	}
	for i, r := range stages {
		r.updated = max(r.updated, b.updatedSoFar()) // pods that the parent creates have the template
		n := r.updated - b.updatedSoFar()
		b.addStep(Step{
			Name: "step-" + r.To.String(), Kind: kind,
			Title: fmt.Sprintf("%s %s: %d of %d", verb, counted.Of(n, "pod"), r.updated, b.subject.total),
			Pods:  b.podsUntil(r.updated), Updated: r.updated, Kept: b.subject.total - r.updated,
			Before: []Condition{{HoldsTemplate, b.plan.Change.ToHash}},
			After:  []Condition{{HoldsTemplate, b.plan.Change.ToHash}, {HoldsUpdatedAvailable, strconv.Itoa(r.updated)}},
		})
		b.addChecksAndPause(r, i == len(stages)-1)
	}
}

// addStage adds one step: the first writes the template, all of them the partition.
func (b *builder) addStage(base *cluster.Workload, r stage, first, last bool) (*cluster.Workload, error) {
	if b.subject.approximate {
		return b.addDeploymentStage(base, r, first, last)
	}
	var v *intstr.IntOrString
	if b.subject.partition != nil {
		v = new(b.partitionFor(r, last))
	}
	if first && (b.templateChanged || b.specChanged) {
		return b.addUpdate(base, &r, v)
	}
	n := r.updated - b.updatedSoFar()
	step := Step{
		Name: "step-" + r.To.String(), Kind: StepPartition,
		Title:   fmt.Sprintf("update %s: %d of %d", counted.Of(n, "more pod"), r.updated, b.subject.total),
		Patches: []Patch{b.partitionPatch(*v)},
		Pods:    b.podsUntil(r.updated), Updated: r.updated, Kept: b.subject.total - r.updated,
		Before: []Condition{{HoldsTemplate, b.plan.Change.ToHash}, b.partitionHolds(base)},
		After:  b.holdsAfter(r.updated, v),
	}
	b.addStep(step)
	return withPartition(base, *v), nil
}

// addDeploymentStage lets a Deployment run until the stage's number of pods is updated, and pauses
// it there.
func (b *builder) addDeploymentStage(base *cluster.Workload, r stage, first, last bool) (*cluster.Workload, error) {
	paused := !last || rules.PausedOf(b.desired.Object)
	step := Step{
		Name: "step-" + r.To.String(), Kind: StepPartition,
		Title:   fmt.Sprintf("continue until %d of %s updated", r.updated, counted.PodsAre(b.subject.total)),
		Patches: []Patch{b.mergePatch(specBody(false, "paused"))},
		Before:  []Condition{{HoldsTemplate, b.plan.Change.ToHash}},
		After:   []Condition{{HoldsTemplate, b.plan.Change.ToHash}, {HoldsPaused, strconv.FormatBool(paused)}, {HoldsUpdatedAvailable, strconv.Itoa(r.updated)}},
	}
	if first {
		ops, err := b.specOps(base, withPaused(b.desired, false))
		if err != nil {
			return nil, err
		}
		step.Name, step.Kind, step.Title = "update", StepUpdate, b.updateTitle(&r)
		step.Patches = []Patch{{Target: b.patchTarget(), Type: PatchJSON, Body: ops}}
		step.Before = []Condition{{HoldsTemplate, b.plan.Change.FromHash}}
	}
	if paused {
		stop := b.mergePatch(specBody(true, "paused"))
		if stop.Reached = r.updated; last {
			stop.Reached = 0
		}
		step.Patches = append(step.Patches, stop)
	} else {
		step.After = append(step.After, Condition{HoldsComplete, ""})
	}
	step.Pods, step.Updated, step.Kept = b.podsUntil(r.updated), r.updated, b.subject.total-r.updated
	b.addStep(step)
	return withPaused(b.desired, paused), nil
}

// addUpdate writes the object as it is desired, with the partition of the first stage in the
// same patch, so that no pod is updated too early. Without a stage no existing pod is to be
// updated.
func (b *builder) addUpdate(base *cluster.Workload, r *stage, v *intstr.IntOrString) (*cluster.Workload, error) {
	next := b.desired
	if v != nil {
		next = withPartition(next, *v)
	}
	if b.plan.Driver == DriverClient {
		next = withRevisionLabel(next, b.plan.Change.ToHash)
	}
	ops, err := b.specOps(base, next)
	if err != nil {
		return nil, err
	}
	step := Step{
		Name: "update", Kind: StepUpdate, Title: b.updateTitle(r),
		Patches: []Patch{{Target: b.patchTarget(), Type: PatchJSON, Body: ops}},
		Before:  []Condition{{HoldsTemplate, b.plan.Change.FromHash}},
		After:   []Condition{{HoldsTemplate, b.plan.Change.ToHash}},
	}
	if _, ok := cluster.Of(base.Object).Partition(); ok {
		step.Before = append(step.Before, b.partitionHolds(base))
	}
	if _, ok := cluster.Of(next.Object).Partition(); ok {
		step.After = append(step.After, b.partitionHolds(next))
	}
	n := b.updatedUnheld(next)
	if r != nil {
		n, step.After = r.updated, b.holdsAfter(r.updated, v)
	}
	step.Pods, step.Updated, step.Kept = b.podsUntil(n), n, b.subject.total-n
	b.addStep(step)
	return next, nil
}

// revisionLabel is the label with the revision of a pod's template. StatefulSets and DaemonSets
// set it themselves; a ReplicaSet knows nothing of revisions, so there the client puts it into the
// template, and new pods carry it as well as those that it updates.
const revisionLabel = appsv1.ControllerRevisionHashLabelKey

// unmarked reports whether the client has yet to name the revision in the template of a ReplicaSet that has the new
// template already: another program has written it.
func (b *comparison) unmarked() bool {
	o, ok := b.present.Object.(*appsv1.ReplicaSet)
	return ok && b.plan.Driver == DriverClient && !b.templateChanged && o.Spec.Template.Labels[revisionLabel] == ""
}

// withRevisionLabel is a ReplicaSet whose template names the revision.
func withRevisionLabel(w *cluster.Workload, revision string) *cluster.Workload {
	o, ok := w.Object.(*appsv1.ReplicaSet)
	if !ok {
		return w
	}
	out, rs := *w, *o
	rs.Spec.Template.Labels = map[string]string{revisionLabel: revision}
	for k, v := range o.Spec.Template.Labels {
		if k != revisionLabel {
			rs.Spec.Template.Labels[k] = v
		}
	}
	out.Object = &rs
	return &out
}

func replicas(w *cluster.Workload) int {
	n, _ := cluster.Of(w.Object).Replicas()
	return n
}

func (b *builder) specOps(base, next *cluster.Workload) ([]any, error) {
	version := versionOf(b.present)
	old, err := specOf(base, version)
	if err != nil {
		return nil, err
	}
	updated, err := specOf(next, version)
	if err != nil {
		return nil, err
	}
	return specPatch(old, updated), nil
}

// updatedUnheld is how many pods are up to date when an object is written without a stage: those
// that are, and those that it creates, as far as its partition lets them be.
func (b *builder) updatedUnheld(next *cluster.Workload) int {
	n := b.subject.updated
	if b.startsEmpty() {
		n = b.subject.total
	}
	if v, ok := cluster.Of(next.Object).Partition(); ok && b.subject.partition != nil && n > b.updatedPods() {
		n = max(min(n, b.subject.partition.allowed(v)), min(b.updatedPods(), b.subject.total))
	}
	return n
}

// podsUntil are the present pods that change until so many are up to date; of the first write, also
// those that it takes away. Where the template changes, pods that the write creates are the
// first that have it.
func (b *builder) podsUntil(updated int) []PodStep {
	s, from := &b.subject, b.updatedSoFar()
	n := updated - from
	if b.templateChanged && b.plan.Driver != DriverClient {
		n -= max(min(updated, s.updated+s.created)-max(from, s.updated), 0)
	}
	var out []PodStep
	if !slices.ContainsFunc(b.plan.Steps, func(s Step) bool { return s.Kind == StepUpdate }) {
		for _, p := range slices.Backward(s.leaving) {
			out = append(out, PodStep{Name: p.Name, UID: p.UID, Node: p.Node, Mode: rules.ModeDelete, Why: leavingReason})
		}
	}
	if s.order == nil {
		return out
	}
	for _, p := range s.order.Take(max(n, 0)) {
		mode, why := b.modes.of(p)
		if mode == b.plan.Change.Mode {
			why = s.order.Why(p)
		}
		out = append(out, PodStep{Name: p.Name, UID: p.UID, Node: p.Node, Mode: mode, Tie: s.order.Tie(p), Why: why})
	}
	return out
}

func (b *builder) updateTitle(r *stage) string {
	var parts []string
	if from, to := replicas(b.present), replicas(b.desired); to < from {
		parts = append(parts, fmt.Sprintf("shrink from %d to %s", from, counted.Of(to, "pod")))
	} else if to > from {
		parts = append(parts, fmt.Sprintf("grow from %d to %s", from, counted.Of(to, "pod")))
	}
	switch {
	case b.templateChanged:
		parts = append(parts, "update the template")
	case b.unmarked():
		parts = append(parts, "name the revision in the template")
	case b.strategyChanged || len(parts) == 0:
		parts = append(parts, "update the strategy")
	}
	what := strings.Join(parts, ", ")
	switch {
	case r == nil && b.subject.created+len(b.subject.leaving) > 0, r == nil && replicas(b.present) != replicas(b.desired):
		return what
	case r == nil && b.hasRun:
		return what // the run tells whether pods change
	case r == nil:
		return what + noPodChanges
	case r.updated <= b.subject.updated:
		return fmt.Sprintf("%s; %d of %s up to date already", what, b.subject.updated, counted.PodsAre(b.subject.total))
	case r.updated == b.subject.total && b.subject.updated == 0:
		return what + " and " + allPods(b.subject.total)
	}
	return fmt.Sprintf("%s and %d of %s", what, r.updated, counted.Of(b.subject.total, "pod"))
}

// allPods names all of a number of pods.
func allPods(n int) string {
	if n == 1 {
		return "the only pod"
	}
	return "all " + counted.Of(n, "pod")
}

// partitionHolds is the condition that the partition is the one that base has.
func (b *builder) partitionHolds(base *cluster.Workload) Condition {
	v, _ := cluster.Of(base.Object).Partition()
	return Condition{HoldsPartition, v.String()}
}

// holdsAfter is what holds when a number of pods is updated.
func (b *builder) holdsAfter(updated int, v *intstr.IntOrString) []Condition {
	out := []Condition{{HoldsTemplate, b.plan.Change.ToHash}}
	if v != nil {
		out = append(out, Condition{HoldsPartition, v.String()}, Condition{HoldsPaused, strconv.FormatBool(rules.PausedOf(b.desired.Object))})
	}
	out = append(out, Condition{HoldsUpdatedAvailable, strconv.Itoa(updated)}, Condition{HoldsSettled, ""})
	if updated == b.subject.total && b.plan.Target.Kind != kruise.KindSidecarSet {
		out = append(out, Condition{HoldsComplete, ""})
	}
	return out
}

// partitionPatch is the patch of the partition and nothing else.
func (b *builder) partitionPatch(v intstr.IntOrString) Patch {
	return b.mergePatch(specBody(jsonValue(v), append(strategyPath(b.present), "partition")...))
}

// mergePatch is a merge patch of the object in the cluster.
func (b *builder) mergePatch(body map[string]any) Patch {
	return Patch{Target: b.patchTarget(), Type: PatchMerge, Body: body}
}

// patchTarget names the object that patches are for; nil is the plan's own.
func (b *builder) patchTarget() *Target {
	return b.plan.Target.Carrier
}

// addChecksAndPause adds the checks that follow a step, then its pause.
func (b *builder) addChecksAndPause(r stage, last bool) {
	at := r.To.String()
	questions := slices.Concat(b.policy.Verify, r.Verify)
	for i := range questions {
		name := "verify-" + at
		if len(questions) > 1 {
			name = fmt.Sprintf("%s-%d", name, i+1)
		}
		b.addStep(b.unchanging(Step{Name: name, Kind: StepVerify, Title: questionTitle(&questions[i]), Verify: &questions[i]}))
	}
	switch {
	case r.Pause != nil && last:
		b.warning("the pause after %s is left out: no step follows it", at)
	case r.Pause != nil:
		b.addStep(b.unchanging(Step{Name: "pause-" + at, Kind: StepPause, Title: pauseText(r.Pause), Pause: r.Pause}))
	}
}

// unchanging fills in the counts of a step that changes nothing.
func (b *builder) unchanging(s Step) Step {
	s.Updated = b.updatedSoFar()
	s.Kept = max(b.subject.total-s.Updated, 0)
	s.Before = []Condition{{HoldsTemplate, b.plan.Change.ToHash}}
	return s
}

func pauseText(p *Pause) string {
	if p.For == 0 {
		return "wait for approval"
	}
	return "wait for " + p.For.String()
}

// questionTitle is the title of a verify step.
func questionTitle(v *Verify) string { return "ask: " + questionText(v) }

func questionText(v *Verify) string {
	switch {
	case v.URL != "":
		return address(v.URL)
	case v.Prometheus != "":
		return fmt.Sprintf("%s %s at %s", v.Query, v.Threshold, address(v.Prometheus))
	case v.Job != nil:
		return "a Job in the cluster"
	}
	return fmt.Sprint(v.Command)
}

// address is a URL without the password that may be in it, and without its query.
func address(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "an address that cannot be read"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// updatedSoFar is how many pods are updated after the steps so far.
func (b *builder) updatedSoFar() int {
	if n := len(b.plan.Steps); n > 0 {
		return b.plan.Steps[n-1].Updated
	}
	return b.subject.updated
}

// addStep appends a step with the conditions and limits that all steps have.
func (b *builder) addStep(s Step) {
	s.OnFailure = b.policy.OnFailure
	if s.OnFailure == "" {
		s.OnFailure = FailPause
	}
	if s.Kind != StepPause && s.Timeout == 0 {
		s.Timeout = b.timeout(len(s.Pods))
	}
	if uid := b.present.UID; uid != "" {
		s.Before = append([]Condition{{HoldsUID, uid}}, s.Before...)
	}
	b.plan.Steps = append(b.plan.Steps, s)
}

// The default time limit of a step: long enough for a slow start, and
// for as many rounds as the budget makes of it. Reaching it means that something
// is stuck, not that it is slow.
const (
	baseTimeout  = Duration(10 * time.Minute)
	roundTimeout = Duration(time.Minute)
)

func (b *builder) timeout(pods int) Duration {
	if b.policy.Timeout > 0 {
		return b.policy.Timeout
	}
	l := b.subject.limits
	at := max(l.MaxUnavailable+l.MaxSurge, 1)
	rounds := (pods + at - 1) / at
	return baseTimeout + Duration(rounds)*(roundTimeout+l.MinReady+2*Duration(max(b.plan.HookAnswer, 0)))
}
