package standin

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// recreateAgent is in whose name a request holds its pod not ready.
const recreateAgent = kruise.KindContainerRecreateRequest

// recreates runs the controller of ContainerRecreateRequests; the part of the
// node's agent is the modelled nodes' (docs/kruise/jobs.md#containerrecreaterequest).
func (s *standIns) recreates(ctx context.Context) error {
	l := s.newLoop(s.recreate)
	l.start(ctx)
	return errors.Join(
		l.wake(s.store.kruise[recreateAgent], itself),
		l.wake(s.store.pods, func(before, after metav1.Object) []types.NamespacedName {
			var out []types.NamespacedName
			p := either(before, after)
			for _, o := range inNamespace[*unstructured.Unstructured](s.store.kruise[recreateAgent], p.GetNamespace()) {
				if name, _, _ := unstructured.NestedString(o.Object, "spec", "podName"); name == p.GetName() {
					out = append(out, types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()})
				}
			}
			return out
		}),
	)
}

// recreate makes one pass over a request.
func (s *standIns) recreate(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	o := s.store.object(recreateAgent, key)
	if o == nil {
		return 0, nil
	}
	o = o.DeepCopy() // writes raise its version
	r := &kruise.ContainerRecreateRequest{}
	if _, err := kruise.Decode(nodeOf(o.Object), r); err != nil {
		return 0, err
	}
	pod := s.store.pod(r.Namespace, r.Spec.PodName)
	if pod != nil && string(pod.UID) != r.Labels[kruise.ContainerRecreatePodUIDLabel] {
		pod = nil
	}
	var read *cluster.Pod
	if pod != nil {
		read = cluster.ReadPod(pod)
	}
	if r.DeletionTimestamp != nil {
		return 0, s.release(ctx, o, r, read)
	}
	if r.Status.Phase == kruise.ContainerRecreateRequestCompleted {
		return s.recreated(ctx, o, r, read)
	}
	if r.Status.Phase == kruise.ContainerRecreateRequestRecreating && holds(r) {
		if err := s.hold(ctx, o, r, read); err != nil {
			return 0, err
		}
	}
	status, again := recreateStatus(time.Now(), r, pod)
	if status == nil {
		return again, nil
	}
	return again, s.replaceStatus(ctx, o, status)
}

// holds reports whether the pod is to be held not ready before its containers are
// stopped.
func holds(r *kruise.ContainerRecreateRequest) bool {
	return r.Spec.Strategy != nil && r.Spec.Strategy.UnreadyGracePeriodSeconds != nil && *r.Spec.Strategy.UnreadyGracePeriodSeconds > 0
}

// hold makes the pod not ready in the name of the request, which gets a finalizer
// first, so that it is let go whatever happens.
func (s *standIns) hold(ctx context.Context, o *unstructured.Unstructured, r *kruise.ContainerRecreateRequest, p *cluster.Pod) error {
	if p == nil || !slices.Contains(p.ReadinessGates, kruise.KruisePodReady) {
		return nil
	}
	if !slices.Contains(r.Finalizers, kruise.ContainerRecreateFinalizer) {
		if err := s.editRequest(ctx, o, map[string]any{"finalizers": append(r.Finalizers, kruise.ContainerRecreateFinalizer)}); err != nil {
			return err
		}
	}
	change := controller.HoldNotReady(p, recreateAgent, r.Namespace+"/"+r.Name)
	if len(change.Conditions) == 0 {
		return nil
	}
	_, err := s.sendPod(ctx, p, plan.ConditionsPatch(p, change.Conditions, time.Now()), "status")
	return err
}

// release lets the pod go, and then the request.
func (s *standIns) release(ctx context.Context, o *unstructured.Unstructured, r *kruise.ContainerRecreateRequest, p *cluster.Pod) error {
	if !slices.Contains(r.Finalizers, kruise.ContainerRecreateFinalizer) {
		return nil
	}
	if p != nil {
		change := controller.LetReady(p, recreateAgent, r.Namespace+"/"+r.Name)
		if len(change.Conditions) > 0 {
			if _, err := s.sendPod(ctx, p, plan.ConditionsPatch(p, change.Conditions, time.Now()), "status"); err != nil {
				return err
			}
		}
	}
	left := slices.DeleteFunc(slices.Clone(r.Finalizers), func(f string) bool { return f == kruise.ContainerRecreateFinalizer })
	return gone(s.editRequest(ctx, o, map[string]any{"finalizers": left}))
}

// recreated is what is left to do for a request that is over.
func (s *standIns) recreated(ctx context.Context, o *unstructured.Unstructured, r *kruise.ContainerRecreateRequest, p *cluster.Pod) (time.Duration, error) {
	if err := s.release(ctx, o, r, p); err != nil {
		return 0, err
	}
	if _, active := r.Labels[kruise.ContainerRecreateActiveLabel]; active {
		if err := s.editRequest(ctx, o, map[string]any{"labels": map[string]any{kruise.ContainerRecreateActiveLabel: nil}}); err != nil {
			return 0, gone(err)
		}
	}
	if r.Spec.TTLSecondsAfterFinished == nil || r.Status.CompletionTime == nil {
		return 0, nil
	}
	left := time.Until(r.Status.CompletionTime.Add(time.Duration(*r.Spec.TTLSecondsAfterFinished) * time.Second))
	if left > 0 {
		return left, nil
	}
	return 0, gone(s.dynamic.Resource(acted[recreateAgent]).Namespace(r.Namespace).Delete(ctx, r.Name, metav1.DeleteOptions{}))
}

// editRequest merges into the metadata of the request as it was read.
func (s *standIns) editRequest(ctx context.Context, o *unstructured.Unstructured, metadata map[string]any) error {
	metadata["resourceVersion"] = o.GetResourceVersion()
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	stored, err := s.dynamic.Resource(acted[recreateAgent]).Namespace(o.GetNamespace()).
		Patch(ctx, o.GetName(), types.MergePatchType, body, metav1.PatchOptions{})
	if err == nil {
		o.SetResourceVersion(stored.GetResourceVersion())
	}
	return err
}
