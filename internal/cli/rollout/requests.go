package rollout

import (
	"errors"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	kubeobjects "github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// requests are those of the actions, each with the title of its step.
func (s *session) requests(p plan.Plan, a acts) ([]event.Request, error) {
	titles := map[string]string{}
	for i := range p.Steps {
		titles[p.Steps[i].Name] = p.Steps[i].Title
	}
	var out []event.Request
	var first error
	err := a(func(known plan.Snapshot, action plan.Action) {
		list, err := s.request(known, action)
		if first == nil {
			first = err
		}
		for _, r := range list {
			r.Why = titles[action.Step]
			out = append(out, r)
		}
	})
	return out, errors.Join(err, first)
}

// request are the writes of an action. The partition of a subset is moved in its
// UnitedDeployment.
func (s *session) request(known plan.Snapshot, a plan.Action) ([]event.Request, error) {
	if s.parent == nil || a.Patch == nil {
		return s.Requests(known, a)
	}
	n, err := partitionIn(a.Patch, s.partitionPath())
	return []event.Request{partitionRequest(s.parent.object, s.parent.subset, n)}, err
}

func partitionRequest(o *united.Object, subset string, n int32) event.Request {
	return event.Request{
		Method: http.MethodPatch, Path: kubeobjects.Path(united.Resource(o.Version), o.Namespace, o.Name),
		ContentType: string(types.MergePatchType), Body: o.PartitionPatch(subset, n),
	}
}

func jsonPatch(r schema.GroupVersionResource, of cluster.Ref, why string, body []any) event.Request {
	return event.Request{Method: http.MethodPatch, Path: kubeobjects.Path(r, of.Namespace, of.Name), ContentType: string(types.JSONPatchType), Why: why, Body: body}
}
