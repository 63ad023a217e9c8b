package standin

import (
	"context"
	"errors"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// check is the webhook that refuses what Kruise would refuse. A request to restart
// containers was checked before its fields were filled in.
func (s *standIns) check(_ context.Context, r *admissionv1.AdmissionRequest) ([]byte, error) {
	if r.SubResource != "" || r.Kind.Kind == kruise.KindContainerRecreateRequest && r.Operation == admissionv1.Create {
		return nil, nil
	}
	return nil, s.faults(r)
}

// faults asks the checks that lint uses, with the cluster's objects around.
func (s *standIns) faults(r *admissionv1.AdmissionRequest) error {
	object, err := parsed(r.Object.Raw)
	if err != nil {
		return err
	}
	q := check.Request{Operation: check.Create, Object: object, Known: true}
	if r.Operation == admissionv1.Update {
		q.Operation = check.Update
		if q.Old, err = parsed(r.OldObject.Raw); err != nil {
			return err
		}
	}
	around, err := s.around(r.Namespace)
	if err != nil {
		return err
	}
	c := stage.New(resource.NewFacts([]*resource.Resource{object}, around, r.Namespace), stage.Options{Kruise: kruise.Next})
	var errs []error
	for _, fault := range check.Object(c, q) {
		errs = append(errs, fault.Error)
	}
	if len(errs) == 0 {
		return nil
	}
	return &RefusedError{http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, errors.Join(errs...).Error()}
}

func parsed(raw []byte) (*resource.Resource, error) {
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	return inCluster(object), nil
}

// inCluster is an object as the stages of rendering take it.
func inCluster(object map[string]any) *resource.Resource {
	return resource.Parsed(nodeOf(object), nil, resource.Origin{})
}

// around are the objects that checks look at beside the one that is written: those
// of its namespace and those without one.
func (s *standIns) around(namespace string) ([]*resource.Resource, error) {
	var out []*resource.Resource
	for _, i := range s.store.kruise {
		for _, o := range every[*unstructured.Unstructured](i) {
			if o.GetNamespace() != "" && o.GetNamespace() != namespace {
				continue
			}
			r, err := s.memory.of(o, func() (*resource.Resource, error) { return inCluster(o.Object), nil })
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
	}
	for _, k := range []struct {
		from             cache.SharedIndexInformer
		apiVersion, kind string
		everywhere       bool
	}{
		{from: s.store.nodes, apiVersion: "v1", kind: "Node", everywhere: true},
		{from: s.store.namespaces, apiVersion: "v1", kind: "Namespace", everywhere: true},
		{from: s.store.pods, apiVersion: "v1", kind: "Pod"},
		{from: s.store.deployments, apiVersion: "apps/v1", kind: kruise.KindDeployment},
		{from: s.store.replicaSets, apiVersion: "apps/v1", kind: kruise.KindReplicaSet},
		{from: s.store.statefulSets, apiVersion: "apps/v1", kind: kruise.KindStatefulSet},
	} {
		list := inNamespace[metav1.Object](k.from, namespace)
		if k.everywhere {
			list = every[metav1.Object](k.from)
		}
		for _, o := range list {
			r, err := s.memory.of(o, func() (*resource.Resource, error) {
				u, err := generic(o, k.apiVersion, k.kind)
				if err != nil {
					return nil, err
				}
				return inCluster(u.Object), nil
			})
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
	}
	return out, nil
}
