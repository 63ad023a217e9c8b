package standin

import (
	"cmp"
	"context"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// admitPod is the webhook of new pods: sidecars, readiness gate, launch priority,
// the name of the budget.
func (s *standIns) admitPod(_ context.Context, r *admissionv1.AdmissionRequest) ([]byte, error) {
	var p corev1.Pod
	if err := json.Unmarshal(r.Object.Raw, &p); err != nil {
		return nil, err
	}
	var object map[string]any
	if err := json.Unmarshal(r.Object.Raw, &object); err != nil {
		return nil, err
	}
	a, err := s.admission()
	if err != nil {
		return nil, err
	}
	before := nodeOf(object)
	after, err := a.Admit(before, controller.PodRequest{
		Namespace: r.Namespace, Name: cmp.Or(p.Name, p.GenerateName), Labels: p.Labels, Annotations: p.Annotations,
		Owner: s.endOf(r.Namespace, metav1.GetControllerOf(&p)),
	}, time.Now())
	if err != nil {
		return nil, err
	}
	return replacing(before, after, "metadata", "spec")
}

// replacing is the JSON patch that replaces the fields in which after differs.
func replacing(before, after *tree.Node, fields ...string) ([]byte, error) {
	var patch []map[string]any
	for _, field := range fields {
		if now := tree.Get(after, field); !tree.Equal(tree.Get(before, field), now) {
			patch = append(patch, map[string]any{"op": "add", "path": "/" + field, "value": tree.Value(now)})
		}
	}
	if patch == nil {
		return nil, nil
	}
	return json.Marshal(patch)
}

// admission is what new pods meet at present.
func (s *standIns) admission() (*controller.Admission, error) {
	around := controller.AdmissionInput{Namespaces: s.namespacesNow(), EveryPodReady: true}
	for _, w := range s.sidecarSets() {
		source := controller.SidecarSource{Workload: w}
		for _, r := range owned[*appsv1.ControllerRevision](s.store.revisions, types.UID(w.UID)) {
			if read, err := cluster.ReadRevision(r); err == nil {
				source.Revisions = append(source.Revisions, read)
			}
		}
		around.SidecarSets = append(around.SidecarSets, source)
	}
	for _, key := range s.store.allOf(kruise.KindPodUnavailableBudget) {
		if b := s.budget(key); b != nil {
			around.Budgets = append(around.Budgets, b)
		}
	}
	return controller.NewAdmission(around)
}

// budget returns a PodUnavailableBudget, nil when it is gone.
func (s *standIns) budget(key types.NamespacedName) *kruise.PodUnavailableBudget {
	o := s.store.object(kruise.KindPodUnavailableBudget, key)
	b := &kruise.PodUnavailableBudget{}
	if o == nil {
		return nil
	}
	if _, err := kruise.Decode(nodeOf(o.Object), b); err != nil {
		return nil
	}
	return b
}

// endOf follows the owners of a pod to the workload at their end: the Deployment,
// not its ReplicaSet.
func (s *standIns) endOf(namespace string, ref *metav1.OwnerReference) cluster.Ref {
	if ref == nil {
		return cluster.Ref{}
	}
	version, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return cluster.Ref{}
	}
	if version.Group == "apps" && ref.Kind == kruise.KindReplicaSet {
		rs, ok := find[*appsv1.ReplicaSet](s.store.replicaSets, types.NamespacedName{Namespace: namespace, Name: ref.Name})
		if ok && metav1.GetControllerOf(rs) != nil {
			return s.endOf(namespace, metav1.GetControllerOf(rs))
		}
	}
	return cluster.Ref{Group: version.Group, Kind: ref.Kind, Namespace: namespace, Name: ref.Name}
}
