// Package release is what there is to do about a workload that Kruise Rollout
// (rollouts.kruise.io) controls: find its Rollout, read its state, and write to
// it the few things that are its users' to write (docs/facts/older-plugin.md#kruise-rollout). It
// decides nothing about pods.
package release

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Group is the API group of Rollouts.
const Group = "rollouts.kruise.io"

// Style is how a Rollout brings new pods out.
type Style string

// The styles; an object of v1alpha1 can only be a canary.
const (
	Canary    Style = "canary"
	BlueGreen Style = "blueGreen"
)

// State of a step (docs/facts/older-plugin.md#status).
const (
	stepPaused = "StepPaused"
	stepReady  = "StepReady"
)

// Phases in which a Rollout controls its workload
// (docs/facts/older-plugin.md#who-owns-the-workload).
var activePhases = []string{"Progressing", "Disabling", "Terminating"}

// Step is one step of a Rollout, as its spec words it.
type Step struct {
	// Replicas is a number or a percentage of pods, Traffic a percentage; either may
	// be empty.
	Replicas, Traffic string
	// Pause is how long the step lasts in seconds, -1 until a user approves.
	Pause int64
	// Matched indicates that requests of some kind go to the new pods, whatever Traffic says.
	Matched bool
}

// Rollout is a Rollout object.
type Rollout struct {
	Namespace, Name, UID string
	// Version is the API version that it was read in.
	Version string
	// Workload is what it rolls out.
	Workload         cluster.Ref
	Style            Style
	Disabled, Paused bool
	Steps            []Step

	// Phase, Message and Reason (of the condition Progressing) are the status.
	Phase, Message, Reason string
	// Seen reports whether the status is of the present spec.
	Seen bool
	// Cancelled indicates that the last release was rolled back.
	Cancelled bool
	// Index is the present step from 1, 0 before there is any; State is what it does.
	Index int
	State string
	// Begun indicates that a status of the style is there: some release has begun.
	Begun bool
	// Stable is the hash of the template before the release.
	Stable string
	// Generation of the workload that the status is about.
	Generation int64
	// Updated and Ready are how many pods are of the new template, and ready.
	Updated, Ready int64

	// object is the Rollout as it was read.
	object *unstructured.Unstructured
}

// Title names the Rollout as kubectl does.
func (r *Rollout) Title() string { return "rollout." + Group + "/" + r.Name }

// Controls reports whether the Rollout controls its workload now.
func (r *Rollout) Controls() bool { return slices.Contains(activePhases, r.Phase) }

// Waits reports whether the Rollout waits for a user: paused, or at a step without
// a duration.
func (r *Rollout) Waits() bool {
	if !r.Controls() {
		return false
	}
	return r.Paused || r.State == stepPaused && r.step().Pause < 0
}

// Done reports whether no release is in progress.
func (r *Rollout) Done() bool { return r.Seen && (r.Phase == "Healthy" || r.Phase == "Disabled") }

// step is the present step.
func (r *Rollout) step() Step {
	if r.Index < 1 || r.Index > len(r.Steps) {
		return Step{Pause: -1}
	}
	return r.Steps[r.Index-1]
}

// Read reads a Rollout of either API version.
func Read(u *unstructured.Unstructured) (*Rollout, error) {
	v := schema.FromAPIVersionAndKind(u.GetAPIVersion(), u.GetKind())
	if v.Group != Group || v.Kind != "Rollout" {
		return nil, fmt.Errorf("%s %s is not a Rollout of %s", v.Kind, u.GetName(), Group)
	}
	r := &Rollout{Namespace: u.GetNamespace(), Name: u.GetName(), UID: string(u.GetUID()), Version: v.Version, object: u}
	r.readSpec(u.Object)
	r.readStatus(u)
	return r, nil
}

func (r *Rollout) readSpec(o map[string]any) {
	ref := mapAt(o, "spec", "workloadRef")
	if r.Version == "v1alpha1" {
		ref = mapAt(o, "spec", "objectRef", "workloadRef")
	}
	group, _ := schema.ParseGroupVersion(text(ref, "apiVersion"))
	r.Workload = cluster.Ref{Group: group.Group, Kind: text(ref, "kind"), Namespace: r.Namespace, Name: text(ref, "name")}
	strategy := mapAt(o, "spec", "strategy")
	r.Style = Canary
	if strategy[string(BlueGreen)] != nil {
		r.Style = BlueGreen
	}
	r.Disabled, r.Paused = flag(mapAt(o, "spec"), "disabled"), flag(strategy, "paused")
	list, _ := mapAt(strategy, string(r.Style))["steps"].([]any)
	for _, item := range list {
		if s, ok := item.(map[string]any); ok {
			r.Steps = append(r.Steps, readStep(s))
		}
	}
}

// readStep reads a step; v1alpha1 has a weight for both traffic and, without
// replicas, pods.
func readStep(s map[string]any) Step {
	out := Step{Replicas: text(s, "replicas"), Traffic: text(s, "traffic"), Pause: -1}
	if weight := text(s, "weight"); weight != "" {
		out.Traffic = weight + "%"
	}
	if out.Replicas == "" {
		out.Replicas = out.Traffic
	}
	matches, _ := s["matches"].([]any)
	out.Matched = len(matches) > 0
	if d, ok := mapAt(s, "pause")["duration"]; ok {
		out.Pause = number(d)
	}
	return out
}

func (r *Rollout) readStatus(u *unstructured.Unstructured) {
	status := mapAt(u.Object, "status")
	r.Phase, r.Message = text(status, "phase"), text(status, "message")
	r.Seen = number(status["observedGeneration"]) >= u.GetGeneration()
	conditions, _ := status["conditions"].([]any)
	for _, item := range conditions {
		c, _ := item.(map[string]any)
		switch text(c, "type") {
		case "Progressing":
			r.Reason = text(c, "reason")
		case "Succeeded":
			r.Cancelled = text(c, "status") == "False"
		}
	}
	sub := mapAt(status, r.statusField())
	r.Begun = len(sub) > 0
	r.Index, r.State, r.Stable = int(number(sub["currentStepIndex"])), text(sub, "currentStepState"), text(sub, "stableRevision")
	r.Generation = number(sub["observedWorkloadGeneration"])
	prefix := "canary"
	if r.Style == BlueGreen {
		prefix = "updated"
	}
	r.Updated, r.Ready = number(sub[prefix+"Replicas"]), number(sub[prefix+"ReadyReplicas"])
}

func (r *Rollout) statusField() string { return string(r.Style) + "Status" }

// versions are those in which Rollouts are served, the newest first.
var versions = []string{"v1beta1", "v1alpha1"}

func resourceOf(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: Group, Version: version, Resource: "rollouts"}
}

// Get reads a Rollout by its name; the error is the server's NotFound where it is not there.
func Get(ctx context.Context, c dynamic.Interface, namespace, name string) (*Rollout, error) {
	for _, version := range versions {
		u, err := c.Resource(resourceOf(version)).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			return Read(u)
		case !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("cannot read rollout/%s: %w", name, err)
		}
	}
	return nil, apierrors.NewNotFound(resourceOf(versions[0]).GroupResource(), name)
}

// kinds are what a Rollout can be for (docs/facts/older-plugin.md#spec).
var kinds = map[string][]string{
	"apps":           {kruise.KindDeployment, kruise.KindStatefulSet, kruise.KindDaemonSet},
	"apps.kruise.io": {kruise.KindCloneSet, kruise.KindStatefulSet, kruise.KindDaemonSet},
}

// Of finds the Rollout that controls a workload; nil where there is none,
// where none could be, or where they may not be read: a workload in the middle of a
// release names it itself.
func Of(ctx context.Context, c dynamic.Interface, w cluster.Ref) (*Rollout, error) {
	if !slices.Contains(kinds[w.Group], w.Kind) {
		return nil, nil //nolint:nilnil // that there is none is no error
	}
	list, err := List(ctx, c, w.Namespace)
	return list[w], err
}

// List are the Rollouts of a namespace, or of all for "", by the workloads that they
// drive; none where they may not be read. A Rollout that is disabled controls nothing.
func List(ctx context.Context, c dynamic.Interface, namespace string) (map[cluster.Ref]*Rollout, error) {
	for _, version := range versions {
		out := map[cluster.Ref]*Rollout{}
		err := objects.Pages(ctx, c.Resource(resourceOf(version)).Namespace(namespace), metav1.ListOptions{}, func(u *unstructured.Unstructured) error {
			addControlling(out, u)
			return nil
		})
		switch {
		case apierrors.IsNotFound(err):
			continue
		case apierrors.IsForbidden(err):
			return nil, nil //nolint:nilnil // as in Of
		case err != nil:
			return nil, fmt.Errorf("cannot read Rollouts: %w", err)
		}
		return out, nil
	}
	return nil, nil //nolint:nilnil // that there are none is no error
}

// addControlling adds a Rollout that controls a workload; the first of two counts.
func addControlling(out map[cluster.Ref]*Rollout, u *unstructured.Unstructured) {
	r, err := Read(u)
	if err == nil && out[r.Workload] == nil && (!r.Disabled || r.Controls()) {
		out[r.Workload] = r
	}
}

// Describe describes the state of a Rollout in a few words.
func (r *Rollout) Describe() string {
	switch {
	case r.Done() && r.Cancelled:
		return "the last release was rolled back"
	case r.Done():
		return "no release is in progress"
	case !r.Controls() || r.Index == 0:
		return "phase " + orUnknown(r.Phase)
	}
	text := fmt.Sprintf("step %d of %d, %s", r.Index, len(r.Steps), r.State)
	switch {
	case r.Paused:
		text += "; paused"
	case r.Waits():
		text += ": waits to be approved"
	case r.Reason != "" && r.Reason != "InRolling":
		text += "; " + r.Reason
	}
	return text
}

// Next is the verb of this program with which a Rollout continues that waits for a user, "" for
// one that does not.
func (r *Rollout) Next() string {
	switch {
	case !r.Waits():
		return ""
	case r.Paused:
		return "resume"
	}
	return "approve"
}

func orUnknown(phase string) string {
	if phase == "" {
		return "unknown: its controller has not seen it yet"
	}
	return phase
}
