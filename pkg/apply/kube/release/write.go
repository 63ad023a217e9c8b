package release

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// manager is the name under which is written.
const manager = "kubectl-kruise"

// RefusedError is a write that would make no sense, in the words that users of
// Kruise's own plugin know (older-plugin 1.1).
type RefusedError struct {
	Rollout, Reason string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("rollouts.%s %q %s", Group, e.Rollout, e.Reason)
}

func (r *Rollout) refuse(reason string) error { return &RefusedError{r.Name, reason} }

// patch is a merge patch of a Rollout, or of its status.
type patch struct {
	body        map[string]any
	subresource string
}

// approval lets the present step end (older-plugin 3.3).
func (r *Rollout) approval() (patch, error) {
	switch {
	case !r.Begun:
		return patch{}, r.refuse("no need to approve: not in canary or blue-green progress")
	case r.State != StepPaused:
		name := "canary"
		if r.Style == BlueGreen {
			name = "blue-green"
		}
		return patch{}, r.refuse(fmt.Sprintf("does not allow to approve, because current %s state is not '%s'", name, StepPaused))
	}
	body := map[string]any{"status": map[string]any{r.statusField(): map[string]any{"currentStepState": StepReady}}}
	return patch{body, "status"}, nil
}

// pausing sets or removes the pause of the whole Rollout.
func (r *Rollout) pausing(on bool) (patch, error) {
	var value any
	switch {
	case on && r.Paused:
		return patch{}, r.refuse("is already paused")
	case !on && !r.Paused:
		return patch{}, r.refuse("is not paused")
	case on:
		value = true
	}
	return patch{body: map[string]any{"spec": map[string]any{"strategy": map[string]any{"paused": value}}}}, nil
}

// Approve lets the step end at which a Rollout stands. A refusal is a RefusedError.
func Approve(ctx context.Context, c dynamic.Interface, r *Rollout) error {
	p, err := r.approval()
	if err != nil {
		return err
	}
	return r.send(ctx, c, p)
}

// Pause puts a Rollout on hold, or has it go on. A refusal is a RefusedError.
func Pause(ctx context.Context, c dynamic.Interface, r *Rollout, on bool) error {
	p, err := r.pausing(on)
	if err != nil {
		return err
	}
	return r.send(ctx, c, p)
}

func (r *Rollout) send(ctx context.Context, c dynamic.Interface, p patch) error {
	p.body["metadata"] = map[string]any{"uid": r.UID} // never its successor
	body, err := json.Marshal(p.body)
	if err != nil {
		return err
	}
	var sub []string
	if p.subresource != "" {
		sub = []string{p.subresource}
	}
	_, err = c.Resource(resourceOf(r.Version)).Namespace(r.Namespace).
		Patch(ctx, r.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: manager}, sub...)
	if err != nil {
		return fmt.Errorf("failed to patch: %w", err)
	}
	return nil
}

// Template is a new template of a workload that a Rollout takes over from there.
type Template struct {
	Workload cluster.Ref
	Resource schema.GroupVersionResource
	// UID is the workload's: its successor is not written to.
	UID string
	// Template takes the place of the whole spec.template.
	Template map[string]any
}

// Hand writes a template and nothing else: what follows is the Rollout's. It returns
// the workload as the server stored it.
func Hand(ctx context.Context, c dynamic.Interface, t Template) (*unstructured.Unstructured, error) {
	body, err := json.Marshal([]any{
		map[string]any{"op": "test", "path": "/metadata/uid", "value": t.UID},
		map[string]any{"op": "replace", "path": "/spec/template", "value": t.Template},
	})
	if err != nil {
		return nil, err
	}
	out, err := c.Resource(t.Resource).Namespace(t.Workload.Namespace).
		Patch(ctx, t.Workload.Name, types.JSONPatchType, body, metav1.PatchOptions{FieldManager: manager})
	if err != nil {
		return nil, fmt.Errorf("failed to patch %s: %w", t.Workload, err)
	}
	return out, nil
}
