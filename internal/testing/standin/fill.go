package standin

import (
	"context"
	"maps"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// fill is the webhook that adds to Kruise's objects what takes more than the
// object: the hashes of a SidecarSet, and what a ContainerRecreateRequest takes
// from its pod, for which it is checked here already.
func (s *standIns) fill(_ context.Context, r *admissionv1.AdmissionRequest) ([]byte, error) {
	var object map[string]any
	if err := json.Unmarshal(r.Object.Raw, &object); err != nil {
		return nil, err
	}
	before := nodeOf(object)
	if r.Kind.Kind == kruise.KindSidecarSet {
		return signed(before)
	}
	if r.Operation != admissionv1.Create {
		return nil, nil
	}
	if err := s.faults(r); err != nil {
		return nil, err
	}
	request, err := s.recreateRequest(before, r.Namespace)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, err
	}
	return replacing(before, nodeOf(object), "metadata", "spec")
}

// recreateRequest is a ContainerRecreateRequest with what its pod and node tell.
func (s *standIns) recreateRequest(n *tree.Node, namespace string) (*kruise.ContainerRecreateRequest, error) {
	request := &kruise.ContainerRecreateRequest{}
	if _, err := kruise.Decode(n, request); err != nil {
		return nil, err
	}
	p := s.store.pod(namespace, request.Spec.PodName)
	if p == nil {
		return nil, forbid("pod %s is not there", request.Spec.PodName)
	}
	kruise.DefaultRecreate(request, p)
	if node, there := find[*corev1.Node](s.store.nodes, types.NamespacedName{Name: p.Spec.NodeName}); there {
		kruise.RecreateOn(request, node)
	}
	return request, nil
}

// signed puts the hashes into a SidecarSet.
func signed(before *tree.Node) ([]byte, error) {
	w, err := cluster.ReadWorkload(before)
	if err != nil {
		return nil, err
	}
	w, err = controller.StoredSidecarSet(w)
	if err != nil {
		return nil, err
	}
	have := tree.Strings(tree.Get(before, "metadata", "annotations"))
	if maps.Equal(have, w.Annotations) {
		return nil, nil
	}
	return json.Marshal([]map[string]any{{"op": "add", "path": "/metadata/annotations", "value": w.Annotations}})
}
