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
	Target Target `json:"target"`
	Driver Driver `json:"driver"`
	Change Change `json:"change"`
	Limits Limits `json:"limits"`
	// Drain and Grace are how the driver client takes a pod out of service before its containers
	// change, and for how long; empty for other drivers.
	Drain Drain    `json:"drain,omitempty"`
	Grace Duration `json:"grace,omitzero"`
	// HookAnswer is after how long a lifecycle hook of the workload is taken to be
	// answered; [HookNever] where it is taken to be never, 0 where there is no hook.
	HookAnswer HookAnswer `json:"hookAnswer,omitzero"`
	// Warnings are for reviewers of the plan.
	Warnings []string `json:"warnings,omitempty"`
	// RollbackReason is why a rollout was ended whose work this plan undoes; empty in
	// plans that go forward.
	RollbackReason string `json:"rollsBack,omitempty"`
	Steps          []Step `json:"steps"`
	// Paused is true where the desired spec has the workload's controller update no pod.
	// It is not written to files: it is about how the plan was made.
	Paused bool `json:"-"`
}

// Target is the object that a plan is for.
type Target struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	// UID is empty in a plan made from files alone.
	UID string `json:"uid,omitempty"`
	// Carrier is the native object that was rendered from a Kruise workload, in a cluster without
	// Kruise; nil when the target itself exists.
	Carrier *Target `json:"carrier,omitempty"`
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
	// Mode is what most pods go through; Steps name each pod's own. Why names what decides.
	Mode rules.UpdateMode `json:"mode"`
	Why  string           `json:"why"`
	// FromRevision and ToRevision are names of revisions; ToRevision is empty
	// while it is not stored.
	FromRevision string `json:"fromRevision,omitempty"`
	ToRevision   string `json:"toRevision,omitempty"`
	// FromHash and ToHash pin the templates, see [TemplateHash].
	FromHash string `json:"fromHash"`
	ToHash   string `json:"toHash"`
	// Restarts are containers that restart in place.
	Restarts []string `json:"restarts,omitempty"`
	// Fields are all differences.
	Fields []rules.FieldChange `json:"fields,omitempty"`
	// Spec are the fields outside of the pod template that change, beside partition and
	// pause; nil where the object was not compared, as in a plan that was read from a file.
	Spec []SpecWrite `json:"spec,omitempty"`
}

// Limits are the numbers that the spec comes to, in pods.
type Limits struct {
	Replicas       int      `json:"replicas"`
	MaxUnavailable int      `json:"maxUnavailable"`
	MaxSurge       int      `json:"maxSurge,omitempty"`
	MinReady       Duration `json:"minReady,omitzero"`
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
	Name string   `json:"name"`
	Kind StepKind `json:"kind"`
	// Title describes in one line what happens.
	Title string `json:"title"`
	// Patches are sent in order, each exactly as kubectl patch would.
	Patches []Patch `json:"patches,omitempty"`

	// One of these belongs to the kind of the same name.
	Pause      *Pause      `json:"pause,omitempty"`
	Verify     *Verify     `json:"verify,omitempty"`
	Pull       *Pull       `json:"pull,omitempty"`
	Containers *Containers `json:"containers,omitempty"`

	// Updated is how many pods have the new template when the step is
	// done, Kept how many the old.
	Updated int `json:"updated"`
	Kept    int `json:"kept"`
	// Before and After are the conditions before and after the step.
	Before []Condition `json:"before,omitempty"`
	After  []Condition `json:"after,omitempty"`
	// Timeout is how long the step may take; 0 is no limit. Pauses have no timeout.
	Timeout   Duration  `json:"timeout,omitzero"`
	OnFailure OnFailure `json:"onFailure"`
	// Pods are those that the step is expected to touch, in order.
	Pods []PodStep `json:"pods,omitempty"`
}

// Patch is one request, as kubectl patch would send it.
type Patch struct {
	// Target is the object; nil for the plan's own.
	Target *Target `json:"target,omitempty"`
	// Type is merge, json or strategic.
	Type string `json:"type"`
	// Subresource is empty, status or scale.
	Subresource string `json:"subresource,omitempty"`
	// Reached is how many updated pods there must be before it is sent; 0 sends
	// it at once.
	Reached int `json:"reached,omitempty"`
	// Body is the patch as decoded JSON.
	Body any `json:"patch"`
}

// PodStep is one pod that a step is expected to touch.
type PodStep struct {
	Name string           `json:"name"`
	UID  string           `json:"uid,omitempty"`
	Node string           `json:"node,omitempty"`
	Mode rules.UpdateMode `json:"mode"`
	// Tie is the same positive number on pods that Kruise treats alike: any of
	// them may come in the place of any other. 0 is a pod without such a group.
	Tie int    `json:"tie,omitempty"`
	Why string `json:"why,omitempty"`
}

// Condition is something that must hold, with what it is about, so that a
// program can check it and a reviewer can read it.
type Condition struct {
	// Type is one of the constants below.
	Type ConditionType `json:"type"`
	// Value is a revision, a hash, a number or a name, depending on the type.
	Value string `json:"value,omitempty"`
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
	For Duration `json:"for,omitzero"`
}

// Verify is a check whose result decides whether the rollout continues. One of
// Command, URL, Prometheus and Job is set.
type Verify struct {
	// Command is run on the operator's machine; exit code 0 is good.
	Command []string `json:"command,omitempty"`
	// URL is fetched; Status (default any 2xx) and, when JSONPath is set, Value
	// must agree.
	URL      string `json:"url,omitempty"`
	Status   int    `json:"status,omitempty"`
	JSONPath string `json:"jsonPath,omitempty"`
	Value    string `json:"value,omitempty"`
	// Prometheus is the address of a server; Query must give a vector or a
	// scalar of which every value is true under Condition, such as "< 0.01".
	Prometheus string `json:"prometheus,omitempty"`
	Query      string `json:"query,omitempty"`
	Threshold  string `json:"threshold,omitempty"`
	// Job is a batch/v1 Job, created in the workload's namespace; its success is
	// good.
	Job map[string]any `json:"job,omitempty"`
	// Every is the interval between attempts, 10 s by default; the answer is bad when
	// all Attempts have failed, one by default.
	Every    Duration `json:"every,omitzero"`
	Attempts int      `json:"attempts,omitempty"`
}

// Pull names images that nodes pull in advance.
type Pull struct {
	Images []string `json:"images"`
	// Parallel is how many nodes at a time; 0 is the default of the puller.
	Parallel int `json:"parallel,omitempty"`
}

// Containers is which containers restart inside their pods.
type Containers struct {
	Names []string `json:"names"`
	// Method is one of the constants below; empty chooses by what the cluster can
	// do.
	Method string `json:"method,omitempty"`
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
	Ordered bool `json:"ordered,omitempty"`
	// Unready is for how long the pod is not ready before its containers stop.
	Unready Duration `json:"unready,omitzero"`
}
