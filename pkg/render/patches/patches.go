// Package patches writes a change as patches that a user can
// send by hand: ordered steps, each with the exact patch and the kubectl command
// that sends it, what must hold before it and what before the next.
//
// [Files] writes a [Set] as a folder of patches with a README and an index.
//
// What a workload's steps are comes from plan.Build, and what a step of the client driver does to a
// pod from plan.Next; [Requests] has the steps of requests to running pods. It is data in, data out:
// the package knows no file and no cluster.
package patches

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Set is all that leads from an old state to a new one.
type Set struct {
	// From and To name the states, as they were given.
	From      string     `json:"from,omitempty"`
	To        string     `json:"to,omitempty"`
	Sequences []Sequence `json:"sequences"`
	// Created, Changed and Deleted are objects that no sequence is for: a user
	// applies or deletes them as a whole.
	Created []Target `json:"created,omitempty"`
	Changed []Target `json:"changed,omitempty"`
	Deleted []Target `json:"deleted,omitempty"`
}

// Sequence are the steps that lead one object from its old state to its new one.
type Sequence struct {
	// Directory is the folder of its files, unique among all sequences.
	Directory string `json:"-"`
	// Object is what the steps are for; where a native object replaces a Kruise
	// workload it is the native one.
	Object Target `json:"object"`
	// For is the Kruise object that Object was rendered from; nil without one.
	For *Target `json:"for,omitempty"`
	// Driver is who replaces pods: kruise, native or client; empty where no
	// workload is rolled out.
	Driver string `json:"driver,omitempty"`
	// What describes in one or two lines what changes and what that does to pods.
	What []string `json:"what,omitempty"`
	// Method is how it is done if there is a choice, with the reason; otherwise empty.
	Method string `json:"method,omitempty"`
	// Warnings are for users who send the patches.
	Warnings []string `json:"warnings,omitempty"`
	// Steps are taken in order. A sequence without steps has the reason in What.
	Steps []Step `json:"steps"`
}

// Target is an object that is patched.
type Target = plan.Target

// podTarget is a pod.
func podTarget(namespace, name string) Target {
	return Target{APIVersion: "v1", Kind: "Pod", Namespace: namespace, Name: name}
}

// Step is one step. It sends a patch, or has a command to run instead, or only waits.
type Step struct {
	// Name is unique in the sequence: letters, digits, "-", "." and "%". The file
	// of the step is named after it.
	Name string `json:"name"`
	// Title describes in one line what happens.
	Title string `json:"title"`
	// File is where [Files] writes the step; empty before.
	File string `json:"file"`
	// Patch is what is sent; nil for a step that sends none.
	*Patch
	// Commands are for a step without a patch: what to run by hand, in order. A
	// step without either is done by a controller, or waits. [Files] has the command that
	// sends the patch here.
	Commands []string `json:"commands,omitempty"`
	// Before must hold when the step begins, After before the next one does.
	Before []Condition `json:"before,omitempty"`
	After  []Condition `json:"after,omitempty"`
	// Notes are what else to know, a line each.
	Notes []string `json:"notes,omitempty"`
}

// Patch is one request, as kubectl patch sends it.
type Patch struct {
	Target Target `json:"target"`
	// Type is merge, json or strategic.
	Type string `json:"type,omitempty"`
	// Subresource is empty, or such as status, scale, resize, ephemeralcontainers.
	Subresource string `json:"subresource,omitempty"`
	// Body is the patch as decoded JSON. In a folder it is the file of the step.
	Body any `json:"-"`
}

// Condition is something that must hold.
type Condition struct {
	// Text is the condition as a sentence.
	Text string `json:"text"`
	// Check is a command that ends well when it holds, and waits for that where it
	// can; empty where no command can check it.
	Check string `json:"check,omitempty"`
}

// Metadata is the step that brings the labels and annotations of an object itself
// to those of the new state; nil where they do not change. No pod changes by it. It
// comes first: the rules that the client driver keeps are in an annotation.
func Metadata(t Target, old, updated *tree.Node) *Step {
	body := map[string]any{}
	for _, field := range []string{"labels", "annotations"} {
		if change := changes(tree.Strings(tree.Get(old, "metadata", field)), tree.Strings(tree.Get(updated, "metadata", field))); len(change) > 0 {
			body[field] = change
		}
	}
	if len(body) == 0 {
		return nil
	}
	return &Step{
		Name: "metadata", Title: "change labels and annotations of the object; no pod changes by it",
		Patch: &Patch{Target: t, Type: plan.PatchMerge, Body: map[string]any{"metadata": body}},
	}
}

// changes is the merge patch from one map to the other: a null removes.
func changes(old, updated map[string]string) map[string]any {
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(old)) {
		if _, stays := updated[key]; !stays && key != corev1.LastAppliedConfigAnnotation {
			out[key] = nil
		}
	}
	for key, value := range updated {
		if have, ok := old[key]; (!ok || have != value) && key != corev1.LastAppliedConfigAnnotation {
			out[key] = value
		}
	}
	return out
}
