package standin

import (
	"context"
	"encoding/json"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// guard is the webhook that asks the PodUnavailableBudget of a pod that is
// changed, deleted or evicted.
func (s *standIns) guard(ctx context.Context, r *admissionv1.AdmissionRequest) ([]byte, error) {
	dryRun := r.DryRun != nil && *r.DryRun
	if r.SubResource == "eviction" {
		p := s.store.pod(r.Namespace, r.Name)
		if p == nil {
			return nil, nil
		}
		return nil, s.permit(ctx, cluster.ReadPod(p), kruise.PubEvictOperation, false, dryRun)
	}
	before, err := podIn(r.OldObject.Raw)
	if err != nil {
		return nil, err
	}
	if r.Operation == admissionv1.Delete {
		return nil, s.permit(ctx, before, kruise.PubDeleteOperation, false, dryRun)
	}
	after, err := podIn(r.Object.Raw)
	if err != nil {
		return nil, err
	}
	return nil, s.permit(ctx, before, kruise.PubUpdateOperation, controller.Harmless(before, after), dryRun)
}

func podIn(raw []byte) (*cluster.Pod, error) {
	var p corev1.Pod
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, err
	}
	return cluster.ReadPod(&p), nil
}

// permit asks the pod's budget, and records what it says unless it is only
// asked for. The error is its refusal.
func (s *standIns) permit(ctx context.Context, p *cluster.Pod, op kruise.PubOperation, harmless, dryRun bool) error {
	name := p.Annotations[kruise.RelatedBudgetAnnotation]
	if name == "" || harmless {
		return nil
	}
	s.permits.Lock()
	defer s.permits.Unlock()
	return retry.OnError(retry.DefaultBackoff, apierrors.IsConflict, func() error {
		return s.ask(ctx, p, name, op, dryRun)
	})
}

// ask decides by the budget as it is stored now, and stores the permit.
func (s *standIns) ask(ctx context.Context, p *cluster.Pod, name string, op kruise.PubOperation, dryRun bool) error {
	client := s.dynamic.Resource(acted[kruise.KindPodUnavailableBudget]).Namespace(p.Namespace)
	o, err := client.Get(ctx, name, metav1.GetOptions{})
	var view *controller.BudgetView
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return err
	default:
		b := &kruise.PodUnavailableBudget{}
		if _, err := kruise.Decode(nodeOf(o.Object), b); err != nil {
			return err
		}
		view = s.budgetView(b)
	}
	verdict, permit := view.Decide(rules.Request{Pod: p, Operation: op})
	if !verdict.Allowed {
		return forbid("podunavailablebudget.policy.kruise.io %q is forbidden: %s", name, verdict.Why)
	}
	if permit == nil || dryRun {
		return nil
	}
	permit.Record(&view.Budget.Status)
	return s.replaceStatus(ctx, o, &view.Budget.Status)
}

// replaceStatus writes the status of an object that has not changed since.
func (s *standIns) replaceStatus(ctx context.Context, o *unstructured.Unstructured, status any) error {
	value, err := plain(status)
	if err != nil {
		return err
	}
	o = o.DeepCopy()
	o.Object["status"] = value
	_, err = s.dynamic.Resource(acted[o.GetKind()]).Namespace(o.GetNamespace()).UpdateStatus(ctx, o, metav1.UpdateOptions{})
	return err
}

// plain is a typed value as JSON has it.
func plain(v any) (map[string]any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(text, &out)
}

// budgetView is what the caches show of the pods of a budget.
func (s *standIns) budgetView(b *kruise.PodUnavailableBudget) *controller.BudgetView {
	v := &controller.BudgetView{
		Now: time.Now(), Budget: b, Workloads: s.workload, SidecarSets: s.sidecarSets(), VerticalScaling: true,
	}
	pods := inNamespace[*corev1.Pod](s.store.pods, b.Namespace)
	for _, p := range pods {
		v.Pods = append(v.Pods, cluster.ReadPod(p))
	}
	v.Reports = s.restarts.reports(pods)
	return v
}

// workload finds the workload that a pod ends up with.
func (s *standIns) workload(namespace string, owner cluster.Owner) *cluster.Workload {
	key := types.NamespacedName{Namespace: namespace, Name: owner.Name}
	if i := s.store.kruise[owner.Kind]; i != nil {
		if o := s.store.object(owner.Kind, key); o != nil && (owner.UID == "" || string(o.GetUID()) == owner.UID) {
			w, err := s.store.workload(o)
			if err == nil {
				return w
			}
		}
	}
	native := map[string]cache.SharedIndexInformer{
		kruise.KindDeployment: s.store.deployments, kruise.KindReplicaSet: s.store.replicaSets, kruise.KindStatefulSet: s.store.statefulSets,
	}[owner.Kind]
	if native == nil {
		return nil
	}
	o, ok := find[metav1.Object](native, key)
	if !ok || owner.UID != "" && string(o.GetUID()) != owner.UID {
		return nil
	}
	if rs, ok := o.(*appsv1.ReplicaSet); ok && metav1.GetControllerOf(rs) != nil {
		ref := metav1.GetControllerOf(rs)
		return s.workload(namespace, cluster.Owner{Kind: ref.Kind, Name: ref.Name, UID: string(ref.UID)})
	}
	u, err := generic(o, "apps/v1", owner.Kind)
	if err != nil {
		return nil
	}
	w, err := s.store.workload(u)
	if err != nil {
		return nil
	}
	return w
}
