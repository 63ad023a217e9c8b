package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// ControllerStop is how a rollout keeps the controller of its workload from updating further pods
// while it is paused, or after it was aborted. What stops which kind is in the kinds'
// files, kind_*.go:
//
//	CloneSet              paused; the partition where it surges, because a paused CloneSet
//	                      deletes surge pods or ready old ones; paused all the same where
//	                      CloneSetPartitionRollback takes pods back
//	Advanced StatefulSet  paused
//	Advanced DaemonSet    paused
//	SidecarSet            paused
//	Deployment            paused
//	StatefulSet           the partition, at the lowest ordinal that is updated or terminating
//	DaemonSet             the update strategy OnDelete
//	ReplicaSet            nothing: it updates no pods
//
// The workload of a subset is stopped by its partition, which its UnitedDeployment passes
// on; a Deployment has none there. With the driver client the program itself updates pods,
// and there is nothing to stop.
//
// The record has the request first, then what is written, then that it was seen: the process that
// continues after a crash knows whether the write is that of the rollout.
type ControllerStop struct {
	// Asked is true from the request until it is withdrawn.
	Asked bool `json:"asked,omitempty"`
	// Field is what was written, or is about to be; empty where nothing must be written.
	Field StopField `json:"field,omitempty"`
	// Was is the value of the field before, and Is the one that stops, as text.
	Was string `json:"was,omitempty"`
	Is  string `json:"is,omitempty"`
	// Done is true when the stop was seen in force.
	Done bool `json:"done,omitempty"`
}

// StopField is a field of a workload that stops its controller.
type StopField string

// The fields.
const (
	StopPaused    StopField = "paused"
	StopPartition StopField = "partition"
	// StopStrategy is the type of the update strategy, which becomes OnDelete.
	StopStrategy StopField = "updateStrategy.type"
)

const (
	onDelete      = "OnDelete"
	rollingUpdate = "RollingUpdate"
)

// Check returns an error for a stop that no rollout has written: records may be edited.
func (s ControllerStop) Check() error {
	ok := func(string) bool { return false }
	switch s.Field {
	case "":
		ok = func(v string) bool { return v == "" }
	case StopPaused:
		ok = func(v string) bool { return v == "true" || v == "false" }
	case StopPartition:
		ok = func(v string) bool { return isPartition(jsonValue(intstr.Parse(v))) }
	case StopStrategy:
		ok = func(v string) bool { return v == onDelete || v == rollingUpdate }
	}
	if !ok(s.Was) || !ok(s.Is) {
		return fmt.Errorf("%q from %q to %q stops no controller", s.Field, s.Was, s.Is)
	}
	return nil
}

// String reports by what the controller is stopped; "" for nothing.
func (s ControllerStop) String() string {
	if s.Field == "" {
		return ""
	}
	return string(s.Field) + ": " + s.Is
}

// hold decides while a pause by a user keeps the present step from starting, after the controller
// was stopped, and while the stop is withdrawn.
func (r *run) hold() (Decision, bool) {
	if r.progress.currentStep(*r.plan) == nil {
		return Decision{}, false
	}
	if !r.progress.holds() {
		return r.withdrawStop()
	}
	if d, more := r.ensureStopped(); more {
		return d, true
	}
	return r.wait(time.Time{}, Blocker{Gate: GateHeld, Why: r.holdReason()}), true
}

// ensureStopped writes the stop of the controller where that is requested and not done. more is false
// where nothing is left to be written.
func (r *run) ensureStopped() (d Decision, more bool) {
	stop, w := &r.progress.Stop, r.object()
	if !stop.Asked || stop.Done || r.progress.currentStep(*r.plan) == nil || w == nil || w.Object == nil {
		return Decision{}, false
	}
	field, value := r.stopValue(w)
	patch := field.patch(r.plan, w, value)
	if patch == nil {
		stop.Done = true
		return Decision{}, false
	}
	if now := field.valueIn(w); field != stop.Field || now != stop.Is {
		stop.Was = now
	}
	stop.Field, stop.Is = field, value
	return r.act("stop the controller: "+stop.String(), Action{Patch: patch, Precondition: Precondition{UID: w.UID}}), true
}

// stopValue is the field that keeps the controller from updating further pods as they are now,
// and its value; "" where it updates none.
func (r *rollout) stopValue(w *cluster.Workload) (StopField, string) {
	if _, bad := r.ownershipProblem(); bad || r.plan.Driver == DriverClient || cluster.Of(w.Object).Strategy() == onDelete {
		return "", ""
	}
	return kindOf(w.Object).stop(r)
}

// withdrawStop reverts what stopped the controller, unless another client has changed it since.
func (r *run) withdrawStop() (d Decision, more bool) {
	stop, w := r.progress.Stop, r.object()
	if stop == (ControllerStop{}) {
		return Decision{}, false
	}
	// With the driver client no stop was written, whatever the record says.
	if stop.Field == "" || stop.Was == stop.Is || stop.Field.valueIn(w) != stop.Is || r.plan.Driver == DriverClient {
		r.progress.Stop = ControllerStop{}
		return Decision{}, false
	}
	if known := r.plannedValues(stop.Field); len(known) > 0 && !slices.Contains(known, stop.Was) {
		return r.halt(Blocker{Gate: GatePartition, Why: fmt.Sprintf("the %s was %s before the pause according to the record, but the plan has %s", stop.Field, stop.Was, known[0])}), true
	}
	patch := stop.Field.patch(r.plan, w, stop.Was)
	return r.act(fmt.Sprintf("let the controller continue: %s: %s", stop.Field, stop.Was), Action{Patch: patch, Precondition: Precondition{UID: w.UID}}), true
}

// plannedValues are the values that the plan knows of the field at the present step: a record that
// was edited must not update more pods than the plan does.
func (r *rollout) plannedValues(f StopField) []string {
	switch f {
	case StopPartition:
		return r.expectedValues(r.currentStep(), HoldsPartition)
	case StopPaused:
		return r.expectedValues(r.currentStep(), HoldsPaused)
	}
	return nil
}

// holdReason reports since when a rollout is paused, and what that means for its controller.
func (r *rollout) holdReason() string {
	text, stop, w := r.progress.PausedBy, r.progress.Stop, r.object()
	switch {
	case stop.Field == "":
		return text
	case stop.Done && stop.Field.valueIn(w) != stop.Is:
		return fmt.Sprintf("%s; but its controller updates pods: %s is %s again%s", text, stop.Field, stop.Field.valueIn(w), lastWriter(w, stop.Field.managedFields()))
	}
	return fmt.Sprintf("%s; its controller is stopped (%s)", text, stop)
}

// suffix is the part of a sentence about how a paused or ended rollout stops its controller.
func (s ControllerStop) suffix() string {
	if !s.Asked || s.Field == "" {
		return ""
	}
	return "; its controller is stopped (" + s.String() + ")"
}

// requested is the stop with a request, which is carried out even where one was before.
func (s ControllerStop) requested() ControllerStop {
	s.Asked, s.Done = true, false
	return s
}

// withdrawn is the stop without its request: what was written is reverted.
func (s ControllerStop) withdrawn() ControllerStop {
	s.Asked, s.Done = false, false
	return s
}

// valueIn is the value that a workload has.
func (f StopField) valueIn(w *cluster.Workload) string {
	switch f {
	case StopPaused:
		return strconv.FormatBool(rules.PausedOf(w.Object))
	case StopPartition:
		v, _ := cluster.Of(w.Object).Partition()
		return v.String()
	case StopStrategy:
		return cluster.Of(w.Object).Strategy()
	}
	return ""
}

// set is the workload with another value.
func (f StopField) set(w *cluster.Workload, value string) *cluster.Workload {
	switch f {
	case StopPaused:
		return withPaused(w, value == "true")
	case StopPartition:
		return withPartition(w, intstr.Parse(value))
	case StopStrategy:
		return withObject(w, cluster.Of(w.Object).WithStrategy(value))
	}
	return w
}

// Path is where an object of a kind, as it is served in a version, has the field; nil for
// kinds that have none.
func (f StopField) Path(group, kind, version string) []string {
	switch f {
	case StopPaused:
		return PausedPath(group, kind, version)
	case StopPartition:
		return PartitionPath(group, kind, version)
	case StopStrategy:
		return []string{"spec", "updateStrategy", "type"}
	}
	return nil
}

// patch writes a value. It is a patch of the plan's own object.
func (f StopField) patch(p *Plan, w *cluster.Workload, value string) *Patch {
	path := f.Path(w.Group, w.Kind, versionOf(w))
	if path == nil {
		return nil
	}
	var v any = value
	switch f {
	case StopPaused:
		v = value == "true"
	case StopPartition:
		v = jsonValue(intstr.Parse(value))
	}
	return &Patch{Target: p.Target.Carrier, Type: PatchMerge, Body: specBody(v, path[1:]...)}
}

// managedFields is the field in the managed fields of an object.
func (f StopField) managedFields() []string {
	switch f {
	case StopPaused:
		return fieldsOf[HoldsPaused]
	case StopPartition:
		return fieldsOf[HoldsPartition]
	}
	return []string{"f:type"}
}

// reverted is a workload as it is without the stop.
func (s ControllerStop) reverted(w *cluster.Workload) *cluster.Workload {
	if s.Field == "" || s.Field.valueIn(w) != s.Is {
		return w
	}
	return s.Field.set(w, s.Was)
}

// withStopOf is a workload with the pause and the strategy of another one.
func withStopOf(w, other *cluster.Workload) *cluster.Workload {
	for _, f := range []StopField{StopPaused, StopStrategy} {
		w = f.set(w, f.valueIn(other))
	}
	return w
}

// stopByPause is the pause of a kind that has one.
func stopByPause(obj any) (StopField, string) {
	if rules.PausedOf(obj) {
		return "", ""
	}
	return StopPaused, "true"
}

// stopByPartition is a partition that keeps a number of pods, "" where the one in force keeps as many.
func stopByPartition(obj any, kept, total int) (StopField, string) {
	v, ok := cluster.Of(obj).Partition()
	if !ok || rules.Partition(&v, total) >= kept {
		return "", ""
	}
	return StopPartition, strconv.Itoa(kept)
}

// ordinalsBelowUpdated is how many ordinals are below the lowest one with an updated or terminating pod.
func (r *rollout) ordinalsBelowUpdated(ordinals []int, updated func(*cluster.Pod) bool) int {
	kept := len(ordinals)
	for _, p := range r.snap.Pods {
		if i, ok := slices.BinarySearch(ordinals, rules.OrdinalOf(p)); ok && (p.Deleting || updated(p)) {
			kept = min(kept, i)
		}
	}
	return kept
}

// outdatedPods counts the active pods that have another template.
func (r *rollout) outdatedPods(updated func(*cluster.Pod) bool) int {
	n := 0
	for _, p := range r.snap.Pods {
		if rules.Active(p) && !updated(p) {
			n++
		}
	}
	return n
}

// atObservedRevision returns a function that selects the pods at a revision of the status; none
// before the controller has observed the current spec.
func atObservedRevision(obj any, revision string) func(*cluster.Pod) bool {
	if !rules.Observed(obj) {
		return func(*cluster.Pod) bool { return false }
	}
	return atRevision(revision)
}

// isSubset reports whether a UnitedDeployment controls the workload and writes it again
// all the time, except for the partition.
func isSubset(o metav1.Object) bool {
	owner := metav1.GetControllerOf(o)
	return owner != nil && owner.Kind == kruise.KindUnitedDeployment
}

// subsetOf names the UnitedDeployment that controls a workload; "" for none.
func subsetOf(w *cluster.Workload) string {
	if w == nil || w.Object == nil || !isSubset(metaOf(w)) {
		return ""
	}
	return metav1.GetControllerOf(metaOf(w)).Name
}

// isPartition reports a number of pods or a percentage.
func isPartition(v any) bool {
	if s, ok := v.(string); ok {
		digits, percent := strings.CutSuffix(s, "%")
		return percent && digits != "" && len(digits) <= 3 && strings.Trim(digits, "0123456789") == ""
	}
	n, ok := wholeNumber(v)
	return ok && n >= 0
}

// wholeNumber is a number as any decoder of JSON or YAML makes it.
func wholeNumber(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), int64(v) <= math.MaxInt32
	case int64:
		return v, v <= math.MaxInt32
	case float64:
		return int64(v), v == math.Trunc(v) && math.Abs(v) <= math.MaxInt32
	}
	return 0, false
}

// jsonValue is a value as decoded JSON.
func jsonValue(v intstr.IntOrString) any {
	if v.Type == intstr.String {
		return v.StrVal
	}
	return int(v.IntVal)
}
