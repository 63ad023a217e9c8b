package rollout

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/submit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	kubeobjects "github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// acts lists the actions of a rollout in their order, each with what is known when it
// is due.
type acts func(tell func(plan.Snapshot, plan.Action)) error

// Besides is what a rollout writes beside the requests that do its work.
const Besides = "beside them, a rollout writes its record and its lease"

// show shows requests, and has the server look at them where it is asked.
func (d *execution) show(ctx context.Context, list []event.Request) error {
	cfg, err := d.factory.Config()
	if err != nil {
		return err
	}
	out := d.factory.Streams.Out
	if d.printer != nil && !d.machine() {
		out = d.factory.Streams.Err // scripts read objects
	}
	return d.dry().Show(ctx, out, cfg, submit.Requests{JSON: d.machine(), Manager: d.manager, Note: Besides, List: list})
}

// dry is --dry-run of the verb.
func (d *executionFlags) dry() submit.DryRunFlag {
	if d.printer != nil {
		return d.printer.dry
	}
	return d.dryRun
}

// left are the actions that are left of a plan, up to the next pause; with promote,
// past all of them.
func left(p plan.Plan, s plan.Snapshot, now time.Time, promote bool) acts {
	return func(tell func(plan.Snapshot, plan.Action)) error {
		if p.Target.Kind == "Pod" { // no model has unmanaged pods
			return next(p, s, now)(tell)
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

// next are the actions that are due now.
func next(p plan.Plan, s plan.Snapshot, now time.Time) acts {
	return func(tell func(plan.Snapshot, plan.Action)) error {
		for _, a := range plan.Next(p, s, now).Actions {
			tell(s, a)
		}
		return nil
	}
}

// beginning is what is known of a workload, without what is recorded of another
// rollout.
func beginning(s plan.Snapshot) plan.Snapshot {
	s.Progress, s.Base = plan.Progress{}, nil
	return s
}

// preview describes what the verb does to a recorded rollout, and the requests that
// follow from it; with back, those of the way back.
func (o *control) preview(ctx context.Context, at *session, a action, back bool) error {
	s := *at
	if err := o.watch(ctx, &s); err != nil {
		return err
	}
	defer s.Close()
	rec, err := s.Rollout()
	if errors.Is(err, plan.ErrNoRollout) {
		return o.none(ctx, &s)
	}
	if err != nil {
		return err
	}
	if err := o.printTransition(&rec, a); err != nil {
		return err
	}
	list, err := o.requestsAfter(ctx, &s, rec, back)
	if err != nil {
		return err
	}
	if list != nil {
		err = o.show(ctx, list)
	}
	if o.printer != nil {
		err = errors.Join(err, o.printer.resource(o.common, s.object))
	}
	return err
}

// requestsAfter are the requests that follow from a record as the verb leaves it: with back,
// those of the way back; nil where the verb sends none.
func (o *control) requestsAfter(ctx context.Context, s *session, rec plan.Record, back bool) ([]event.Request, error) {
	if back {
		way, from, err := apply.WayBack(ctx, s, rec, rec.Progress.Failed)
		if err != nil {
			return nil, err
		}
		return s.requests(way, left(way, beginning(from), s.Now(), true))
	}
	snapshot, err := s.Observe(ctx, s.target.Ref)
	if err != nil {
		return nil, err
	}
	snapshot.Progress = rec.Progress
	switch {
	case o.continuesHere():
		return s.requests(rec.Plan, left(rec.Plan, snapshot, s.Now(), false))
	case rec.Progress.Stop.Asked:
		return s.requests(rec.Plan, next(rec.Plan, snapshot, s.Now()))
	}
	return nil, nil
}

// printTransition makes the change to what was read of a record, and prints it.
func (o *control) printTransition(rec *plan.Record, a action) error {
	next, err := a.Apply(rec.Progress, rec.Plan, holder(), time.Now())
	if rec.Progress = next; err == nil {
		_, err = fmt.Fprintln(o.factory.Streams.Err, a.said(*rec)+o.dry().Suffix())
	}
	return err
}

// none is the error of a workload that no rollout is recorded for.
func (o *control) none(ctx context.Context, s *session) error {
	r, err := o.releaseOf(ctx, s)
	switch {
	case err != nil || r == nil:
		return noRollout(s.target.String())
	case o.action.Transition == plan.TransitionPromote:
		return o.onRelease(ctx, r)
	}
	return controlledByRelease(s.target.String(), r)
}

// noRollout is the error for a workload or pod without a recorded rollout.
func noRollout(name string) error {
	hint := "start one with 'kubectl kruise rollout run " + name + " --image CONTAINER=IMAGE'"
	if strings.HasPrefix(name, "pod/") {
		hint = "start one with 'kubectl kruise restart " + name + "'"
	}
	return &resource.Error{Err: fmt.Errorf("%s: no rollout is recorded", name), Hint: hint}
}

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
	return []event.Request{partitionRequest(s.parent.object, s.parent.subset, n, "")}, err
}

func jsonPatch(r schema.GroupVersionResource, of cluster.Ref, why string, body []any) event.Request {
	return event.Request{Method: http.MethodPatch, Path: kubeobjects.Path(r, of.Namespace, of.Name), ContentType: string(types.JSONPatchType), Why: why, Body: body}
}
