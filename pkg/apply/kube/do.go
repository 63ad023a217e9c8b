package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Do carries out one action. What it wrote is in the mirrors when it returns, and
// what it may have written without being told is read again before the next write.
func (c *Cluster) Do(ctx context.Context, _ cluster.Ref, a plan.Action) error {
	if err := c.certain(ctx); err != nil {
		return err
	}
	err := c.do(ctx, a)
	if err != nil && ctx.Err() == nil {
		c.doubt(ctx, a, err)
	}
	return err
}

func (c *Cluster) do(ctx context.Context, a plan.Action) error {
	switch {
	case a.Patch != nil:
		return c.underLease(ctx, func(ctx context.Context) error { return c.patch(ctx, a) })
	case a.Pod != nil:
		return c.underLease(ctx, func(ctx context.Context) error { return c.changePod(ctx, a.Pod) })
	case a.Evict != nil:
		return c.underLease(ctx, func(ctx context.Context) error { return c.evict(ctx, a.Evict) })
	case a.Delete != nil:
		return c.underLease(ctx, func(ctx context.Context) error { return c.delete(ctx, a.Delete) })
	case a.Pull != nil:
		return c.pull(ctx, a.Step, a.Pull)
	case a.Restart != nil:
		return c.restart(ctx, a.Step, a.Restart)
	case a.Verify != nil:
		return c.verify(ctx, a.Step, a.Verify)
	}
	return fmt.Errorf("step %s has an action without a part", a.Step)
}

// patch changes the workload.
func (c *Cluster) patch(ctx context.Context, a plan.Action) error {
	o, err := c.patched(a.Patch)
	if err != nil {
		return err
	}
	body, kind, err := pinned(a)
	if err != nil {
		return err
	}
	got, err := c.dynamic.Resource(o.Resource).Namespace(o.Namespace).
		Patch(ctx, o.Name, kind, body, metav1.PatchOptions{FieldManager: cmp.Or(c.opt.Manager, FieldManager)}, subresources(a.Patch)...)
	if err != nil {
		return told(o.String(), err)
	}
	if a.Patch.Subresource == "scale" {
		return nil
	}
	return c.workloads.put(got)
}

// patched is the workload as a patch names it. A patch of anything else is refused.
func (c *Cluster) patched(p *plan.Patch) (Object, error) {
	o := *c.object()
	t := p.Target
	if t == nil {
		return o, nil
	}
	version, err := schema.ParseGroupVersion(t.APIVersion)
	if err != nil {
		return o, err
	}
	// A plan may come from a file or a record that somebody else can edit.
	if ref := (cluster.Ref{Group: version.Group, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name}); ref != o.Ref {
		return o, fmt.Errorf("a patch changes %s, and this rollout changes %s only", ref, o.Ref)
	}
	return Object{o.Ref, version.WithResource(writable(o.Ref))}, nil
}

// writable is the name in URLs of a kind that rollouts write to; "" of any other.
func writable(r cluster.Ref) string {
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

// pinned writes a patch that only the object takes which it was decided for: the
// precondition is part of the request.
func pinned(a plan.Action) ([]byte, types.PatchType, error) {
	kind, ok := patchTypes[a.Patch.Type]
	if !ok {
		return nil, "", fmt.Errorf("step %s: patches are not of type %q", a.Step, a.Patch.Type)
	}
	body := a.Patch.Body
	body = pin(body, "resourceVersion", a.Precondition.ResourceVersion)
	body = pin(body, "uid", a.Precondition.UID)
	text, err := json.Marshal(body)
	return text, kind, err
}

// pin makes a field of the metadata a condition of the patch, unless v is empty.
func pin(body any, field, v string) any {
	if v == "" {
		return body
	}
	switch b := body.(type) {
	case []any:
		return append([]any{map[string]any{"op": "test", "path": "/metadata/" + field, "value": v}}, b...)
	case map[string]any:
		return withMeta(b, field, v)
	}
	return body
}

// withMeta is a merge patch that also sets a field of the metadata, which is refused
// where it differs.
func withMeta(body map[string]any, field, v string) map[string]any {
	out, meta := map[string]any{}, map[string]any{}
	maps.Copy(out, body)
	given, _ := body["metadata"].(map[string]any)
	maps.Copy(meta, given)
	meta[field] = v
	out["metadata"] = meta
	return out
}

// evict asks for the deletion of a pod; budgets may refuse it.
func (c *Cluster) evict(ctx context.Context, p *plan.PodRef) error {
	return c.leaving(ctx, p, c.core.CoreV1().Pods(p.Namespace).EvictV1(ctx, eviction(p)))
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
func (c *Cluster) delete(ctx context.Context, p *plan.PodRef) error {
	uid := types.UID(p.UID)
	err := c.core.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	return c.leaving(ctx, p, err)
}

// leaving waits until the watch shows that a pod goes: the answer to an eviction
// does not say what became of it. A watch that is behind is not waited for.
func (c *Cluster) leaving(ctx context.Context, p *plan.PodRef, err error) error {
	if err != nil {
		return told("pod "+p.Name, err)
	}
	end := c.Now().Add(watchLag)
	for c.Now().Before(end) {
		version, _ := c.bell.now()
		have, ok := c.pods.one(p.Namespace, p.Name)
		if !ok || have.UID != p.UID || have.Deleting {
			return nil
		}
		if err := c.bell.wait(ctx, version, end); err != nil {
			return told("pod "+p.Name, err)
		}
	}
	if err := c.rereadPod(ctx, p); err != nil {
		return told("pod "+p.Name, err)
	}
	return nil
}

// told sorts an answer of the server into what plan.Next's executor knows.
func told(what string, err error) error {
	kind := kindOf(err)
	if kind == nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s: %w: %s", what, kind, reasonOf(err))
}

// kindOf is the error of plan that an answer of the server means; nil for one that
// will not change.
func kindOf(err error) error {
	switch {
	case apierrors.IsNotFound(err), apierrors.IsGone(err):
		return plan.ErrNotFound
	case apierrors.IsConflict(err), isFailedTest(err):
		return plan.ErrConflict
	case apierrors.IsTooManyRequests(err) && apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause):
		return plan.ErrRefused
	case refusedByBudget(err):
		return plan.ErrRefused
	case isHopeless(err):
		return nil
	case unavailable(err):
		return plan.ErrUnavailable
	}
	return nil
}

// reasonOf is what the server says, without our own words around it.
func reasonOf(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Message != "" {
		return status.Status().Message
	}
	return err.Error()
}
