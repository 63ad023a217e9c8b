package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Do carries out one action. What it wrote is in the mirrors when it returns, and
// what it may have written without an answer is read again before the next write.
func (c *Cluster) Do(ctx context.Context, _ cluster.Ref, a plan.Action) error {
	if err := c.writer.mayWrite(ctx); err != nil {
		return err
	}
	err := c.do(ctx, a)
	if err != nil && ctx.Err() == nil {
		c.writer.noteUnconfirmed(ctx, a, err)
	}
	return err
}

func (c *Cluster) do(ctx context.Context, a plan.Action) error {
	switch {
	case a.Patch != nil:
		return c.lease.send(ctx, func(ctx context.Context) error { return c.writer.patch(ctx, a) })
	case a.Pod != nil:
		return c.lease.send(ctx, func(ctx context.Context) error { return c.writer.changePod(ctx, a.Pod) })
	case a.Evict != nil:
		return c.lease.send(ctx, func(ctx context.Context) error { return c.writer.evict(ctx, a.Evict) })
	case a.Delete != nil:
		return c.lease.send(ctx, func(ctx context.Context) error { return c.writer.delete(ctx, a.Delete) })
	case a.Pull != nil:
		return c.puller.pull(ctx, a.Pull)
	case a.Restart != nil:
		return c.restarter.restart(ctx, a.Restart)
	case a.Verify != nil:
		return c.verifier.verify(ctx, a.Step, a.Verify)
	}
	return fmt.Errorf("step %s has an action without a part", a.Step)
}

// mayWrite reports an error unless this process may write and knows what it writes
// to: after something was read again, the decision must be made again.
func (wr *writer) mayWrite(ctx context.Context) error {
	if err := wr.lease.check(); err != nil {
		return err
	}
	some, err := wr.unconfirmed.reread(ctx)
	if err == nil && some {
		err = fmt.Errorf("it was read again: %w", plan.ErrConflict)
	}
	return err
}

// unconfirmedWrites are objects that may not be what the mirrors show, by name, with how to
// read them again: a write got no answer, or one that leaves it open. Nothing is written
// before that, since the decision would rest on stale data.
type unconfirmedWrites struct {
	mu      sync.Mutex
	objects map[string]rereader
}

// rereader is the record, the workload or a pod.
type rereader interface {
	reread(ctx context.Context) error
}

func (d *unconfirmedWrites) add(name string, o rereader) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.objects == nil {
		d.objects = map[string]rereader{}
	}
	d.objects[name] = o
}

// reread reads all these objects again; some reports whether there was any.
func (d *unconfirmedWrites) reread(ctx context.Context) (some bool, err error) {
	d.mu.Lock()
	open := maps.Clone(d.objects)
	d.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(open)) {
		if err := open[name].reread(ctx); err != nil {
			return true, planError(name, err)
		}
		d.mu.Lock()
		delete(d.objects, name)
		d.mu.Unlock()
	}
	return len(open) > 0, nil
}

// noteUnconfirmed has the object of an action read again, after an error that leaves open
// what its state is.
func (wr *writer) noteUnconfirmed(ctx context.Context, a plan.Action, err error) {
	if !errors.Is(err, plan.ErrUnavailable) && !errors.Is(err, plan.ErrConflict) && !errors.Is(err, plan.ErrNotFound) {
		return
	}
	if p := podOfAction(a); p != nil {
		wr.unconfirmed.add("pod "+p.Name, writtenPod{wr.observer, p})
	} else {
		wr.unconfirmed.add(wr.changedObject().String(), wr.observer)
	}
	_, _ = wr.unconfirmed.reread(ctx) // the next write tries again
}

// podOfAction is the pod that an action is about, nil for none.
func podOfAction(a plan.Action) *plan.PodRef {
	switch {
	case a.Pod != nil:
		return &a.Pod.PodRef
	case a.Evict != nil:
		return a.Evict
	case a.Delete != nil:
		return a.Delete
	case a.Restart != nil:
		return &a.Restart.PodRef
	}
	return nil
}

// writer sends the changes of the workload and its pods.
type writer struct {
	*connection
	observer    *observer
	lease       *leaseHolder
	unconfirmed unconfirmedWrites
}

// patch changes the workload.
func (wr *writer) patch(ctx context.Context, a plan.Action) error {
	o, err := wr.patchTarget(a.Patch)
	if err != nil {
		return err
	}
	seen, err := wr.observer.current()
	if err != nil {
		return err
	}
	if seen.workload != nil {
		a.Patch = a.Patch.WithMark(a.Mark, seen.workload.Annotations)
	}
	body, kind, err := withPrecondition(a)
	if err != nil {
		return err
	}
	got, err := wr.dynamic.Resource(o.Resource).Namespace(o.Namespace).
		Patch(ctx, o.Name, kind, body, metav1.PatchOptions{FieldManager: cmp.Or(wr.opt.Manager, FieldManager)}, subresources(a.Patch)...)
	if err != nil {
		return planError(o.String(), err)
	}
	if a.Patch.Subresource == "scale" {
		return nil
	}
	return wr.observer.workloads.put(got)
}

// patchTarget is the workload as a patch names it. A patch of anything else is refused.
func (wr *writer) patchTarget(p *plan.Patch) (Object, error) {
	o := *wr.changedObject()
	t := p.Target
	if t == nil {
		return o, nil
	}
	version, err := schema.ParseGroupVersion(t.APIVersion)
	if err != nil {
		return o, err
	}
	// A plan may come from a file or a record that other users can edit.
	if ref := (cluster.Ref{Group: version.Group, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name}); ref != o.Ref {
		return o, fmt.Errorf("a patch changes %s, and this rollout changes %s only", ref, o.Ref)
	}
	return Object{o.Ref, version.WithResource(resourceOfWritable(o.Ref))}, nil
}

// resourceOfWritable is the resource of a kind that rollouts write to; "" of any other.
func resourceOfWritable(r cluster.Ref) string {
	if !cluster.IsWorkload(r.Group, r.Kind) && (r.Group != kruise.Group || r.Kind != kruise.KindUnitedDeployment) {
		return ""
	}
	return kruise.ResourceOf(r.Kind)
}

func subresources(p *plan.Patch) []string {
	if p.Subresource == "" {
		return nil
	}
	return []string{p.Subresource}
}

var patchTypes = map[string]types.PatchType{
	plan.PatchMerge: types.MergePatchType, plan.PatchJSON: types.JSONPatchType, plan.PatchStrategic: types.StrategicMergePatchType,
	"": types.MergePatchType,
}

// withPrecondition is the body of a patch that is refused by any object but the one it was
// decided for: the precondition is part of the request.
func withPrecondition(a plan.Action) ([]byte, types.PatchType, error) {
	kind, ok := patchTypes[a.Patch.Type]
	if !ok {
		return nil, "", fmt.Errorf("step %s: patches are not of type %q", a.Step, a.Patch.Type)
	}
	body := a.Patch.Body
	body = withTest(body, "resourceVersion", a.Precondition.ResourceVersion)
	body = withTest(body, "uid", a.Precondition.UID)
	text, err := json.Marshal(body)
	return text, kind, err
}

// withTest makes a field of the metadata a condition of the patch, unless v is empty.
func withTest(body any, field, v string) any {
	if v == "" {
		return body
	}
	switch b := body.(type) {
	case []any:
		return append([]any{map[string]any{"op": "test", "path": "/metadata/" + field, "value": v}}, b...)
	case map[string]any:
		return withMetadata(b, field, v)
	}
	return body
}

// withMetadata is a merge patch that also sets a field of the metadata, which is refused
// where it differs.
func withMetadata(body map[string]any, field, v string) map[string]any {
	out, meta := map[string]any{}, map[string]any{}
	maps.Copy(out, body)
	given, _ := body["metadata"].(map[string]any)
	maps.Copy(meta, given)
	meta[field] = v
	out["metadata"] = meta
	return out
}

// evict asks for the deletion of a pod; budgets may refuse it.
func (wr *writer) evict(ctx context.Context, p *plan.PodRef) error {
	return wr.awaitDeletion(ctx, p, wr.core.CoreV1().Pods(p.Namespace).EvictV1(ctx, eviction(p)))
}

func eviction(p *plan.PodRef) *policyv1.Eviction {
	uid := types.UID(p.UID)
	return &policyv1.Eviction{
		TypeMeta:      metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "Eviction"},
		ObjectMeta:    metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}},
	}
}

// delete deletes a pod without asking budgets.
func (wr *writer) delete(ctx context.Context, p *plan.PodRef) error {
	uid := types.UID(p.UID)
	err := wr.core.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	return wr.awaitDeletion(ctx, p, err)
}

// awaitDeletion waits until the watch shows that a pod is terminating: the answer to an
// eviction does not say so. A watch that is behind is not waited for.
func (wr *writer) awaitDeletion(ctx context.Context, p *plan.PodRef, err error) error {
	if err != nil {
		return planError("pod "+p.Name, err)
	}
	end := time.Now().Add(watchLagLimit)
	for time.Now().Before(end) {
		version, _ := wr.changes.current()
		have, ok := wr.observer.pods.get(p.Namespace, p.Name)
		if !ok || have.UID != p.UID || have.Deleting {
			return nil
		}
		if err := wr.changes.wait(ctx, version, end); err != nil {
			return planError("pod "+p.Name, err)
		}
	}
	if err := (writtenPod{wr.observer, p}).reread(ctx); err != nil {
		return planError("pod "+p.Name, err)
	}
	return nil
}

// watchLagLimit is how long a watch that is behind is waited for.
const watchLagLimit = time.Second

// changePod carries out a change of a pod.
func (wr *writer) changePod(ctx context.Context, a *plan.PodAction) error {
	p, ok := wr.observer.pods.get(a.Namespace, a.Name)
	if !ok || p.UID != a.UID {
		return plan.ErrNotFound
	}
	for _, patch := range plan.PodPatches(p.Pod, a.Change, wr.resources(p.Pod, a.Change), time.Now()) {
		if err := wr.sendPod(ctx, a.PodRef, patch); err != nil {
			return err
		}
	}
	return nil
}

// sendPod sends one patch of a pod, whose body names the uid.
func (wr *writer) sendPod(ctx context.Context, p plan.PodRef, patch plan.Patch) error {
	text, err := json.Marshal(patch.Body)
	if err != nil {
		return err
	}
	var sub []string
	if patch.Subresource != "" {
		sub = append(sub, patch.Subresource)
	}
	got, err := wr.core.CoreV1().Pods(p.Namespace).
		Patch(ctx, p.Name, types.StrategicMergePatchType, text, metav1.PatchOptions{FieldManager: FieldManager}, sub...)
	if err != nil {
		return planError("pod "+p.Name, err)
	}
	return wr.observer.pods.put(got)
}

// resources are those that containers have in the pod's new revision.
func (wr *writer) resources(p *cluster.Pod, change cluster.PodChange) map[string]any {
	if len(change.Resources) == 0 {
		return nil
	}
	s, err := wr.observer.templates()
	if err != nil {
		return nil
	}
	return resourcesIn(s, p, change)
}

// resourcesIn are those by a snapshot.
func resourcesIn(s plan.Snapshot, p *cluster.Pod, change cluster.PodChange) map[string]any {
	if len(change.Resources) == 0 || s.Workload == nil {
		return nil
	}
	revision := p.Labels[cluster.RevisionLabel]
	if now := change.Labels[cluster.RevisionLabel]; now != nil {
		revision = *now
	}
	template := s.Workload.Template
	for _, r := range s.Revisions {
		if cluster.Hash(r.Name) == cluster.Hash(revision) {
			template = r.Template
		}
	}
	return plan.ResourcesOf(template)
}
