package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Request describes how a Rollout or its workload is written to.
type Request struct {
	// Manager is who writes.
	Manager string
	// Only has nothing sent; DryRun has the server answer without writing.
	Only, DryRun bool
}

func (q Request) options() metav1.PatchOptions {
	o := metav1.PatchOptions{FieldManager: q.Manager}
	if q.DryRun {
		o.DryRun = []string{metav1.DryRunAll}
	}
	return o
}

// refusedError is a write that would make no sense, in the words that users of
// Kruise's own plugin know (docs/facts/older-plugin.md#rollout).
type refusedError struct {
	Rollout, Reason string
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("rollouts.%s %q %s", Group, e.Rollout, e.Reason)
}

func (r *Rollout) refuse(reason string) error { return &refusedError{r.Name, reason} }

// patch is a merge patch of a Rollout, or of its status.
type patch struct {
	body        map[string]any
	subresource string
}

// approval lets the present step end (docs/facts/older-plugin.md#client-writes).
func (r *Rollout) approval() (patch, error) {
	switch {
	case !r.Begun:
		return patch{}, r.refuse("no need to approve: not in canary or blue-green progress")
	case r.State != stepPaused:
		name := "canary"
		if r.Style == BlueGreen {
			name = "blue-green"
		}
		return patch{}, r.refuse(fmt.Sprintf("does not allow to approve, because current %s state is not '%s'", name, stepPaused))
	}
	body := map[string]any{"status": map[string]any{r.statusField(): map[string]any{"currentStepState": stepReady}}}
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

// rollbackPatch has the Rollout go back to the last step before the present one at which no
// traffic goes to new pods. Replicas never fall from one step to the next, so that is
// the one with the most pods (docs/facts/older-plugin.md#rollout and
// docs/facts/older-plugin.md#client-writes).
func (r *Rollout) rollbackPatch() (patch, error) {
	switch {
	case !r.Begun || !r.Controls():
		return patch{}, r.refuse("no need to roll back: not in canary or blue-green progress")
	case r.Index <= 1:
		return patch{}, r.refuse("already at the first step")
	case r.Index > len(r.Steps):
		return patch{}, r.refuse(fmt.Sprintf("has %s, but current step is too large %d", counted.Of(len(r.Steps), "step"), r.Index))
	}
	for i := r.Index - 2; i >= 0; i-- {
		if s := r.Steps[i]; !s.Matched && (s.Traffic == "" || s.Traffic == "0%") {
			body := map[string]any{"status": map[string]any{r.statusField(): map[string]any{"nextStepIndex": i + 1}}}
			return patch{body, "status"}, nil
		}
	}
	return patch{}, r.refuse("no previous step with no traffic found")
}

// Approve ends the present step of a Rollout. It returns the Rollout as it is
// then; a refusal is a RefusedError.
func Approve(ctx context.Context, c dynamic.Interface, r *Rollout, q Request) (*unstructured.Unstructured, error) {
	p, err := r.approval()
	if err != nil {
		return nil, err
	}
	return r.send(ctx, c, p, q)
}

// Pause pauses a Rollout, or resumes it. It returns the Rollout as it is then;
// a refusal is a RefusedError.
func Pause(ctx context.Context, c dynamic.Interface, r *Rollout, on bool, q Request) (*unstructured.Unstructured, error) {
	p, err := r.pausing(on)
	if err != nil {
		return nil, err
	}
	return r.send(ctx, c, p, q)
}

// Fast takes the traffic of a Rollout's new pods back at once: it goes to an earlier
// step, and pods stay. It returns the Rollout as it is then; a refusal is a
// RefusedError.
func Fast(ctx context.Context, c dynamic.Interface, r *Rollout, q Request) (*unstructured.Unstructured, error) {
	p, err := r.rollbackPatch()
	if err != nil {
		return nil, err
	}
	return r.send(ctx, c, p, q)
}

func (r *Rollout) send(ctx context.Context, c dynamic.Interface, p patch, q Request) (*unstructured.Unstructured, error) {
	if q.Only {
		return r.object, nil
	}
	p.body["metadata"] = map[string]any{"uid": r.UID} // never its successor
	body, err := json.Marshal(p.body)
	if err != nil {
		return nil, err
	}
	var sub []string
	if p.subresource != "" {
		sub = []string{p.subresource}
	}
	u, err := c.Resource(resourceOf(r.Version)).Namespace(r.Namespace).Patch(ctx, r.Name, types.MergePatchType, body, q.options(), sub...)
	if err != nil {
		return nil, fmt.Errorf("failed to patch: %w", err)
	}
	return u, nil
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

// Patch is the JSON patch of [Hand].
func (t Template) Patch() []any {
	return []any{
		map[string]any{"op": "test", "path": "/metadata/uid", "value": t.UID},
		map[string]any{"op": "replace", "path": "/spec/template", "value": t.Template},
	}
}

// Hand writes a template and nothing else: what follows is the Rollout's. It returns
// the workload as the server stored it.
func Hand(ctx context.Context, c dynamic.Interface, t Template, q Request) (*unstructured.Unstructured, error) {
	body, err := json.Marshal(t.Patch())
	if err != nil {
		return nil, err
	}
	out, err := c.Resource(t.Resource).Namespace(t.Workload.Namespace).
		Patch(ctx, t.Workload.Name, types.JSONPatchType, body, q.options())
	if err != nil {
		return nil, fmt.Errorf("failed to patch %s: %w", t.Workload, err)
	}
	return out, nil
}

// mapAt is a map below an object, nil where there is none.
func mapAt(o map[string]any, path ...string) map[string]any {
	for _, key := range path {
		o, _ = o[key].(map[string]any)
	}
	return o
}

// text is a string or a number as text, "" for anything else.
func text(o map[string]any, key string) string {
	switch v := o[key].(type) {
	case string:
		return v
	case int64, float64:
		return fmt.Sprint(v)
	}
	return ""
}

func flag(o map[string]any, key string) bool {
	v, _ := o[key].(bool)
	return v
}

func number(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}

// Watch hands every state of a Rollout to each, the present one first, until that
// returns true or ctx ends; then the error is ctx's cause.
func Watch(ctx context.Context, c dynamic.Interface, r *Rollout, each func(*Rollout) (over bool)) error {
	client := c.Resource(resourceOf(r.Version)).Namespace(r.Namespace)
	only := fields.OneTermEqualSelector("metadata.name", r.Name).String()
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = only
			return client.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = only
			return client.Watch(ctx, o)
		},
	}
	_, err := watchtools.UntilWithSync(ctx, cache.ToListWatcherWithWatchListSemantics(source, c), &unstructured.Unstructured{}, nil, func(e watch.Event) (bool, error) {
		u, ok := e.Object.(*unstructured.Unstructured)
		if !ok || u.GetName() != r.Name {
			return false, nil
		}
		if e.Type == watch.Deleted || string(u.GetUID()) != r.UID {
			return true, fmt.Errorf("%s was deleted: its workload was let go", r.Title())
		}
		now, err := Read(u)
		if err != nil {
			return true, err
		}
		return each(now), nil
	})
	if errors.Is(err, watchtools.ErrWatchClosed) || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
