package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Requests are the writes of an action that was decided for a snapshot, real or of a
// model, as they would be sent. Resource versions and the ends of generated names are
// not in them, since they are known only when they are sent. Verify steps write nothing.
func (c *Cluster) Requests(s plan.Snapshot, a plan.Action) ([]event.Request, error) {
	switch {
	case a.Patch != nil:
		return c.writer.patchRequest(a.Patch)
	case a.Pod != nil:
		return c.writer.podRequests(s, a.Pod)
	case a.Evict != nil:
		return createRequest(podPath(*a.Evict, "eviction"), eviction(a.Evict))
	case a.Delete != nil:
		return []event.Request{{Method: http.MethodDelete, Path: podPath(*a.Delete)}}, nil
	case a.Pull != nil:
		return c.puller.requests(a.Pull)
	case a.Restart != nil:
		return c.restarter.requests(s, a.Restart)
	}
	return nil, nil
}

func (wr *writer) patchRequest(p *plan.Patch) ([]event.Request, error) {
	o, err := wr.patchTarget(p)
	return []event.Request{{
		Method: http.MethodPatch, Path: objects.Path(o.Resource, o.Namespace, o.Name, subresources(p)...),
		ContentType: string(patchTypes[p.Type]), Body: p.Body,
	}}, err
}

func (wr *writer) podRequests(s plan.Snapshot, a *plan.PodAction) ([]event.Request, error) {
	p, err := podInSnapshot(s, a.PodRef)
	if err != nil {
		return nil, err
	}
	var out []event.Request
	for _, patch := range plan.PodPatches(p, a.Change, resourcesIn(s, p, a.Change), wr.Now()) {
		out = append(out, podPatchRequest(a.PodRef, patch.Subresource, patch.Body))
	}
	return out, nil
}

// podInSnapshot is a pod of a snapshot.
func podInSnapshot(s plan.Snapshot, ref plan.PodRef) (*cluster.Pod, error) {
	i := slices.IndexFunc(s.Pods, func(p *cluster.Pod) bool { return p.Namespace == ref.Namespace && p.Name == ref.Name })
	if i < 0 {
		return nil, fmt.Errorf("pod %s: %w", ref.Name, plan.ErrNotFound)
	}
	return s.Pods[i], nil
}

func podPatchRequest(ref plan.PodRef, subresource string, body any) event.Request {
	return event.Request{Method: http.MethodPatch, Path: podPath(ref, subresource), ContentType: string(types.StrategicMergePatchType), Body: body}
}

// createRequest is a request that creates an object.
func createRequest(at string, object any) ([]event.Request, error) {
	body, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	delete(body, "status")
	return []event.Request{{Method: http.MethodPost, Path: at, ContentType: runtime.ContentTypeJSON, Body: body}}, err
}

var podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

func podPath(p plan.PodRef, sub ...string) string {
	return objects.Path(podResource, p.Namespace, p.Name, sub...)
}

// ServerDryRun sends a request as a dry run on the server, and returns why it would be refused now;
// manager is the field manager, "" for [FieldManager]. A failed test of a JSON patch is no
// error, since it is about a moment. A request without a body, such as an exec, is not sent.
func ServerDryRun(ctx context.Context, c rest.Interface, manager string, r event.Request) error {
	if r.Body == nil {
		return nil
	}
	body, err := json.Marshal(r.Body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	to := c.Verb(r.Method).AbsPath(r.Path).
		Param("dryRun", metav1.DryRunAll).Param("fieldManager", cmp.Or(manager, FieldManager)).
		SetHeader("Content-Type", r.ContentType).Body(body)
	if r.ContentType == string(types.ApplyPatchType) {
		to = to.Param("force", "true")
	}
	if err := to.Do(ctx).Error(); err != nil && (r.Method != http.MethodPatch || !isFailedPatchTest(err)) {
		return fmt.Errorf("%s %s: %s", r.Method, r.Path, serverMessage(err))
	}
	return nil
}
