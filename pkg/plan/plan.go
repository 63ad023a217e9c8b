// Package plan computes what a change of a workload will do, step by step, before anything is
// changed, and what to do next while it is carried out. It is the pure core that preview,
// simulator, executor and TUI share: data in, data out. It knows no client, no file and no clock;
// now is an argument.
//
// [Build] returns a [Plan], complete data that a reviewer can read and apply by hand. [Next]
// compares a plan with the observed cluster and decides: act, wait, done or halt, always with a
// reason.
package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// The type of a written plan.
const (
	APIVersion = "kubectl-kruise.dev/v1alpha1"
	Kind       = "RolloutPlan"
)

// Driver defines who replaces a workload's pods (docs/drivers.md).
type Driver string

// The drivers.
const (
	// DriverKruise leaves pods to Kruise's controllers.
	DriverKruise Driver = "kruise"
	// DriverNative leaves pods to Kubernetes' own controllers.
	DriverNative Driver = "native"
	// DriverClient changes pod by pod, in Kruise's order and within its budgets.
	DriverClient Driver = "client"
)

// Plan is a rollout of one workload, complete: what changes, why pods are
// updated as they are, and every step with the patches it sends. It is pinned to
// the object's uid and to the template it was made for.
type Plan struct {
	Target Target
	Driver Driver
	Change Change
	Limits Limits
	// Drain and Grace are how the driver client takes a pod out of service before its containers
	// change, and for how long; empty for other drivers.
	Drain Drain
	Grace time.Duration
	// HookAnswer is after how long a lifecycle hook of the workload is taken to be
	// answered; [HookNever] where it is taken to be never, 0 where there is no hook.
	HookAnswer time.Duration
	Steps      []Step
	// Paused is true where the desired spec has the workload's controller update no pod.
	// It is not written to files: it is about how the plan was made.
	Paused bool
	// Warnings are for reviewers of the plan.
	Warnings []string
	// RollbackReason is why a rollout was ended whose work this plan undoes; empty in
	// plans that go forward.
	RollbackReason string
}

// Target is the object that a plan is for.
type Target struct {
	APIVersion, Kind, Namespace, Name string
	// UID is empty in a plan made from files alone.
	UID string
	// Carrier is the native object that was rendered from a Kruise workload, in a cluster without
	// Kruise; nil when the target itself exists.
	Carrier *Target
}

// Object is what is in the cluster: the carrier if there is one.
func (t Target) Object() Target {
	if t.Carrier != nil {
		return *t.Carrier
	}
	return t
}

// Ref names the target without its version.
func (t Target) Ref() cluster.Ref {
	group, _, grouped := strings.Cut(t.APIVersion, "/")
	if !grouped {
		group = ""
	}
	return cluster.Ref{Group: group, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name}
}

// Change is what the rollout brings about.
type Change struct {
	// FromRevision and ToRevision are names of revisions; ToRevision is empty
	// while it is not stored.
	FromRevision, ToRevision string
	// FromHash and ToHash pin the templates, see [TemplateHash].
	FromHash, ToHash string
	// Mode is what most pods go through; Steps name each pod's own.
	Mode rules.UpdateMode
	// Fields are all differences, and Why names what decides.
	Fields []rules.FieldChange
	Why    string
	// Restarts are containers that restart in place.
	Restarts []string
	// Spec are the fields outside of the pod template that change, beside partition and
	// pause; nil where the object was not compared, as in a plan that was read from a file.
	Spec []SpecWrite
}

// Limits are the numbers that the spec comes to, in pods.
type Limits struct {
	Replicas, MaxUnavailable, MaxSurge int
	MinReady                           time.Duration
}

// Resizes reports whether the plan changes how many pods there are to be.
func (p *Plan) Resizes() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool {
		_, ok := conditionValue(s.After, HoldsReplicas)
		return ok
	})
}

// StepKind defines what a step does.
type StepKind string

// The kinds of steps.
const (
	// StepPullImages has new images on the nodes before any pod changes.
	StepPullImages StepKind = "pullImages"
	// StepUpdate writes the object as it is desired, as far as the partition in force lets
	// pods follow.
	StepUpdate StepKind = "update"
	// StepPartition lets more pods follow.
	StepPartition StepKind = "partition"
	// StepPause waits: for a time, or for approval.
	StepPause StepKind = "pause"
	// StepInPlace changes named pods, one by one, by the client.
	StepInPlace StepKind = "inPlace"
	// StepRecreate evicts or deletes named pods, one by one, by the client.
	StepRecreate StepKind = "recreate"
	// StepRecreateContainers restarts containers inside their pods.
	StepRecreateContainers StepKind = "recreateContainers"
	// StepVerify asks whether the new pods are good.
	StepVerify StepKind = "verify"
)

// OnFailure defines what a failed step leads to.
type OnFailure string

// What a failed step leads to.
const (
	// FailPause stops and waits for a user.
	FailPause OnFailure = "pause"
	// FailRollback goes back to the old template.
	FailRollback OnFailure = "rollback"
	// FailAbort ends the rollout and leaves pods as they are.
	FailAbort OnFailure = "abort"
)

// Step is one step of a plan.
type Step struct {
	// Name is unique in the plan: letters, digits, "-", ".", "%".
	Name string
	Kind StepKind
	// Title describes in one line what happens.
	Title string
	// Patches are sent in order, each exactly as kubectl patch would.
	Patches []Patch
	// Pods are those that the step is expected to touch, in order.
	Pods []PodStep
	// Updated is how many pods have the new template when the step is
	// done, Kept how many the old.
	Updated, Kept int
	// Before and After are the conditions before and after the step.
	Before, After []Condition
	// Timeout is how long the step may take; 0 is no limit. Pauses have no timeout.
	Timeout   time.Duration
	OnFailure OnFailure

	// One of these belongs to the kind of the same name.
	Pause      *Pause
	Verify     *Verify
	Pull       *Pull
	Containers *Containers
}

// Patch is one request, as kubectl patch would send it.
type Patch struct {
	// Target is the object; nil for the plan's own.
	Target *Target
	// Type is merge, json or strategic.
	Type string
	// Body is the patch as decoded JSON.
	Body any
	// Subresource is empty, status or scale.
	Subresource string
	// Reached is how many updated pods there must be before it is sent; 0 sends
	// it at once.
	Reached int
}

// PodStep is one pod that a step is expected to touch.
type PodStep struct {
	Name, UID, Node string
	Mode            rules.UpdateMode
	// Tie is the same positive number on pods that Kruise treats alike: any of
	// them may come in the place of any other. 0 is a pod without such a group.
	Tie int
	Why string
}

// Condition is something that must hold, with what it is about, so that a
// program can check it and a reviewer can read it.
type Condition struct {
	// Type is one of the constants below.
	Type ConditionType
	// Value is a revision, a hash, a number or a name, depending on the type.
	Value string
}

// ConditionsText is what must hold, in words: "7 updated and available, spec observed, no surge left".
func ConditionsText(list []Condition) string {
	var out []string
	for _, c := range list {
		out = append(out, c.text())
	}
	return strings.Join(out, ", ")
}

func (c Condition) text() string {
	switch c.Type {
	case HoldsUID:
		return "same object (uid " + c.Value + ")"
	case HoldsTemplate:
		return "template hash " + c.Value
	case HoldsPaused:
		if c.Value == "false" {
			return "not paused"
		}
		return "paused"
	case HoldsReplicas:
		return c.Value + " replicas"
	case HoldsAvailable:
		return c.Value + " available"
	case HoldsUpdatedAvailable:
		return c.Value + " updated and available"
	case HoldsSettled:
		return "spec observed, no surge left"
	case HoldsPulled:
		return "images on " + c.Value + " nodes"
	case HoldsComplete:
		return "rollout complete"
	case HoldsPartition:
	}
	return string(c.Type) + " " + c.Value
}

// ConditionType names a condition.
type ConditionType string

// The conditions.
const (
	// HoldsUID: the object is the one with this uid.
	HoldsUID ConditionType = "uid"
	// HoldsTemplate: the object's template has this hash.
	HoldsTemplate ConditionType = "template"
	// HoldsPartition: the partition in force is this.
	HoldsPartition ConditionType = "partition"
	// HoldsPaused: spec.paused of a Deployment is true, or false.
	HoldsPaused ConditionType = "paused"
	// HoldsReplicas: this many pods are wanted, and exist.
	HoldsReplicas ConditionType = "replicas"
	// HoldsAvailable: this many pods are available, whatever their revision.
	HoldsAvailable ConditionType = "available"
	// HoldsUpdatedAvailable: this many pods are updated and available.
	HoldsUpdatedAvailable ConditionType = "updatedAvailable"
	// HoldsSettled: the controller has seen the spec, and no surge is left.
	HoldsSettled ConditionType = "settled"
	// HoldsPulled: the images are on this many nodes.
	HoldsPulled ConditionType = "pulled"
	// HoldsComplete: the whole rollout is complete.
	HoldsComplete ConditionType = "complete"
)

// Pause is what a pause waits for.
type Pause struct {
	// For is how long; 0 waits for approval.
	For time.Duration
}

// Verify is a check whose result decides whether the rollout continues. One of
// Command, URL, Prometheus and Job is set.
type Verify struct {
	// Command is run on the operator's machine; exit code 0 is good.
	Command []string
	// URL is fetched; Status (default any 2xx) and, when JSONPath is set, Value
	// must agree.
	URL      string
	Status   int
	JSONPath string
	Value    string
	// Prometheus is the address of a server; Query must give a vector or a
	// scalar of which every value is true under Condition, such as "< 0.01".
	Prometheus, Query, Threshold string
	// Job is a batch/v1 Job, created in the workload's namespace; its success is
	// good.
	Job map[string]any
	// Every is the interval between attempts, 10 s by default; the answer is bad when
	// all Attempts have failed, one by default.
	Every    time.Duration
	Attempts int
}

// Pull names images that nodes pull in advance.
type Pull struct {
	Images []string
	// Parallel is how many nodes at a time; 0 is the default of the puller.
	Parallel int
}

// Containers is which containers restart inside their pods.
type Containers struct {
	Names []string
	// Method is one of the constants below; empty chooses by what the cluster can
	// do.
	Method string
	RestartStrategy
}

// The methods of restarting containers.
const (
	// RestartCRR has Kruise's node agent do it, by a ContainerRecreateRequest.
	RestartCRR = "crr"
	// RestartAlias names the image in another way, which has the kubelet start the
	// container again (docs/facts/kubelet.md#restart-by-alias).
	RestartAlias = "image-alias"
	// RestartSignal asks the first process of the container to end
	// (docs/facts/kubelet.md#kill-from-inside).
	RestartSignal = "signal"
)

// RestartStrategy is what only [RestartCRR] can do (docs/kruise/jobs.md#containerrecreaterequest).
type RestartStrategy struct {
	// Ordered waits for one container before the next.
	Ordered bool
	// Unready is for how long the pod is not ready before its containers stop.
	Unready time.Duration
}
