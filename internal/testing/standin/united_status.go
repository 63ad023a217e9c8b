package standin

import (
	"context"
	"encoding/json"
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// syncRevision returns the name of the revision of the present template; one that
// was used before gets the newest number again.
func (u *united) syncRevision(ctx context.Context) (string, error) {
	data, err := u.revisionData()
	if err != nil {
		return "", err
	}
	revisions := u.client.AppsV1().ControllerRevisions(u.object.GetNamespace())
	var found *appsv1.ControllerRevision
	newest := int64(0)
	for _, r := range owned[*appsv1.ControllerRevision](u.store.revisions, u.object.GetUID()) {
		newest = max(newest, r.Revision)
		if sameJSON(r.Data.Raw, data) {
			found = r
		}
	}
	switch {
	case found == nil:
		found = &appsv1.ControllerRevision{
			ObjectMeta: metav1.ObjectMeta{
				Name: controller.NameRevision(u.object.GetName(), data, 0), OwnerReferences: []metav1.OwnerReference{controlledBy(u.object)},
			},
			Revision: newest + 1, Data: runtime.RawExtension{Raw: data},
		}
		found, err = revisions.Create(ctx, found, metav1.CreateOptions{})
	case found.Revision == newest:
		return found.Name, nil
	default:
		found = found.DeepCopy()
		found.Revision = newest + 1
		found, err = revisions.Update(ctx, found, metav1.UpdateOptions{})
	}
	if err != nil {
		return "", err
	}
	u.seen.note(u.object.GetUID(), u.store.revisions, found)
	return found.Name, nil
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// status counts over the subsets (docs/kruise/distribution.md#status-and-scale).
func (u *united) status(wanted []subsetWorkload) kruise.UnitedDeploymentStatus {
	out := kruise.UnitedDeploymentStatus{
		ObservedGeneration: u.object.GetGeneration(), UpdatedRevision: u.revision, CurrentRevision: u.typed.Status.CurrentRevision,
		CollisionCount: u.typed.Status.CollisionCount, LabelSelector: metav1.FormatLabelSelector(u.typed.Spec.Selector),
	}
	for _, w := range wanted {
		one := kruise.UnitedDeploymentSubsetStatus{Name: w.subset(), Replicas: number(w.Unstructured, "spec", "replicas")}
		one.Partition = number(w.Unstructured, "spec", "updateStrategy", "rollingUpdate", "partition")
		if mark, ok := u.marks[w.subset()]; ok {
			one.Conditions = []kruise.UnitedDeploymentCondition{mark}
		}
		if have, ok := u.present(w); ok {
			one.ReadyReplicas = number(have.Unstructured, "status", "readyReplicas")
			out.Replicas += number(have.Unstructured, "status", "replicas")
		}
		out.ReadyReplicas += one.ReadyReplicas
		out.SubsetStatuses = append(out.SubsetStatuses, one)
	}
	for _, p := range inNamespace[*corev1.Pod](u.store.pods, u.object.GetNamespace()) {
		if p.Labels[kruise.ControllerRevisionHashLabel] != u.revision || !rules.Active(cluster.ReadPod(p)) {
			continue
		}
		out.UpdatedReplicas++
		if rules.Ready(cluster.ReadPod(p)) {
			out.UpdatedReadyReplicas++
		}
	}
	if out.CurrentRevision == "" || out.UpdatedReadyReplicas >= out.Replicas {
		out.CurrentRevision = u.revision
	}
	for _, kind := range []string{"SubsetProvisioned", "SubsetUpdated"} {
		out.Conditions = append(out.Conditions, u.fine(kind))
	}
	return out
}

// fine is a condition that holds, since when it does.
func (u *united) fine(kind string) kruise.UnitedDeploymentCondition {
	for _, c := range u.typed.Status.Conditions {
		if c.Type == kind && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return kruise.UnitedDeploymentCondition{
		Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Now().UTC().Truncate(time.Second)),
	}
}

func number(o *unstructured.Unstructured, path ...string) int32 {
	n, _, _ := unstructured.NestedInt64(o.Object, path...)
	return int32(n)
}
