package session

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	kubeobjects "github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Acts lists the actions of a rollout in their order, each with what is known when it
// is due.
type Acts func(tell func(plan.Snapshot, plan.Action)) error

// Remaining are the actions that are left of a plan, up to the next pause; with promote,
// past all of them.
func Remaining(p plan.Plan, s plan.Snapshot, now time.Time, promote bool) Acts {
	return func(tell func(plan.Snapshot, plan.Action)) error {
		if p.Target.Kind == "Pod" { // no model has unmanaged pods
			return DueNow(p, s, now)(tell)
		}
		assumed := simulate.DefaultOptions()
		assumed.Gates, assumed.Start, assumed.RecoverAll = s.Gates, now, true // the requests if pods behave
		o := simulate.RolloutOptions{Did: tell}
		if promote {
			o.Promote = new(time.Duration)
		}
		_, err := simulate.RunRest(p, s, assumed, o)
		return err
	}
}

// DueNow are the actions that are due now.
func DueNow(p plan.Plan, s plan.Snapshot, now time.Time) Acts {
	return func(tell func(plan.Snapshot, plan.Action)) error {
		for _, a := range plan.Next(p, s, now).Actions {
			tell(s, a)
		}
		return nil
	}
}

// Beginning is what is known of a workload, without what is recorded of another
// rollout.
func Beginning(s plan.Snapshot) plan.Snapshot {
	s.Progress, s.Base = plan.Progress{}, nil
	return s
}

// NoRollout is the error for a workload or pod without a recorded rollout.
func NoRollout(name string) error {
	hint := "start one with 'kubectl kruise rollout run " + name + " --image CONTAINER=IMAGE'"
	if strings.HasPrefix(name, "pod/") {
		hint = "start one with 'kubectl kruise restart " + name + "'"
	}
	return &resource.Error{Err: fmt.Errorf("%s: no rollout is recorded", name), Hint: hint}
}

// PlanRequests are those of the actions, each with the title of its step.
func (s *Session) PlanRequests(p plan.Plan, a Acts) ([]event.Request, error) {
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
func (s *Session) request(known plan.Snapshot, a plan.Action) ([]event.Request, error) {
	if s.Parent == nil || a.Patch == nil {
		return s.Requests(known, a)
	}
	n, err := partitionIn(a.Patch, s.partitionPath())
	return []event.Request{PartitionRequest(s.Parent.Object, s.Parent.subset, n, "")}, err
}

// JSONPatch is the request that sends a JSON patch of an object; why is printed beside it.
func JSONPatch(r schema.GroupVersionResource, of cluster.Ref, why string, body []any) event.Request {
	return event.Request{Method: http.MethodPatch, Path: kubeobjects.Path(r, of.Namespace, of.Name), ContentType: string(types.JSONPatchType), Why: why, Body: body}
}

// PartitionRequest is the write of the partition of a subset, and why it is written.
func PartitionRequest(o *united.Object, subset string, n int32, why string) event.Request {
	return event.Request{
		Method: http.MethodPatch, Path: kubeobjects.Path(united.Resource(o.Version), o.Namespace, o.Name),
		ContentType: string(types.MergePatchType), Body: o.PartitionPatch(subset, n), Why: "subset " + subset + ": " + why,
	}
}

// Fits returns the plan as its patches describe it, and what it starts from. It fails where
// the object is no longer what the plan was made for, and where the plan says something else
// than its patches do.
func Fits(ctx context.Context, s *Session, p plan.Plan) (plan.Plan, plan.Snapshot, error) {
	snapshot, err := Starts(ctx, s, p)
	if err != nil {
		return p, snapshot, err
	}
	described, err := p.WithDescription(snapshot)
	return described, snapshot, err
}

// Starts returns what a plan starts from; it fails where that is not what the plan was made
// for.
func Starts(ctx context.Context, s *Session, p plan.Plan) (plan.Snapshot, error) {
	snapshot, err := s.Observe(ctx, s.Target.Ref)
	if err != nil {
		return snapshot, err
	}
	snapshot.Progress = plan.Progress{}
	if d := plan.Next(p, snapshot, s.Now()); d.Verb == plan.Halt {
		return snapshot, &resource.Error{Err: &HaltError{d.Reason}, Hint: "make a new plan: this one was made for another state"}
	}
	return snapshot, nil
}

// HaltError is why a plan cannot even begin.
type HaltError struct{ reason string }

func (e *HaltError) Error() string { return "the plan does not fit: " + e.reason }

// NameOf is the target of a plan as the command line would name it.
func NameOf(t plan.Target) (resourcearg.Name, error) {
	kind := strings.ToLower(t.Kind)
	if group := resource.GroupOf(t.APIVersion); group != "" {
		kind += "." + group
	}
	return resourcearg.Parse(kind + "/" + t.Name)
}
