package apply_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// stoppable is a workload with a rollout that can be stopped in the middle.
type stoppable struct {
	apiVersion, kind, spec string
	gates                  bool // the template has Kruise's readiness gate
	driver                 plan.Driver
	// by is the field that stops the controller, "" where the program updates the pods.
	by plan.StopField
	// rollback is the gate CloneSetPartitionRollback, by which a CloneSet that surges
	// gives up its surge.
	rollback bool
}

const native = "apps/v1"

var stoppables = map[string]stoppable{
	"CloneSet in place":      {apiVersion: beta, kind: "CloneSet", spec: "replicas: 8, updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1}}", by: plan.StopPaused},
	"CloneSet v1alpha1":      {apiVersion: alpha, kind: "CloneSet", spec: "replicas: 8, updateStrategy: {maxUnavailable: 1}", by: plan.StopPaused},
	"CloneSet surge":         {apiVersion: beta, kind: "CloneSet", spec: "replicas: 8, updateStrategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: 0}}", by: plan.StopPartition},
	"CloneSet with rollback": {apiVersion: beta, kind: "CloneSet", spec: "replicas: 8, updateStrategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: 1}}", by: plan.StopPaused, rollback: true},
	"StatefulSet":            {apiVersion: beta, kind: "StatefulSet", spec: "replicas: 8, updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}", gates: true, by: plan.StopPaused},
	"DaemonSet":              {apiVersion: beta, kind: "DaemonSet", spec: "updateStrategy: {rollingUpdate: {maxUnavailable: 1}}", by: plan.StopPaused},
	"native Deployment":      {apiVersion: native, kind: "Deployment", spec: "replicas: 8, strategy: {rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}", by: plan.StopPaused},
	"native StatefulSet":     {apiVersion: native, kind: "StatefulSet", spec: "replicas: 8", by: plan.StopPartition},
	"native DaemonSet":       {apiVersion: native, kind: "DaemonSet", spec: "updateStrategy: {rollingUpdate: {maxUnavailable: 1}}", by: plan.StopStrategy},
	"ReplicaSet":             {apiVersion: native, kind: "ReplicaSet", spec: "replicas: 8", driver: plan.DriverClient},
}

const (
	alpha = "apps.kruise.io/v1alpha1"
	beta  = "apps.kruise.io/v1beta1"
)

func (s stoppable) doc() string {
	gates := ""
	if s.gates {
		gates = ", readinessGates: [{conditionType: InPlaceUpdateReady}]"
	}
	spec := s.spec
	if spec != "" {
		spec = ", " + spec
	}
	return fmt.Sprintf(`{apiVersion: %s, kind: %s, metadata: {name: web, namespace: shop}, spec: {selector: {matchLabels: {app: web}},
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: "web:1"}]%s}}%s}}`, s.apiVersion, s.kind, gates, spec)
}

// untouched are the pods of the old template that nothing has begun to change.
func (m *memory) untouched(t *testing.T) []string {
	t.Helper()
	s, err := m.Snapshot(m.ref)
	must(t, err)
	var out []string
	for _, p := range s.Pods {
		if !p.Deleting && p.Containers[0].Image == "web:1" {
			out = append(out, p.UID)
		}
	}
	slices.Sort(out)
	return out
}

// begin carries a rollout out until two pods have changed, and has act done then, while
// the program drives it.
func (s stoppable) begin(t *testing.T, o apply.Options, act func(r library, m *memory)) (library, *memory, apply.Result) {
	t.Helper()
	sim := simulate.DefaultOptions()
	sim.Gates.CloneSetPartitionRollback = s.rollback
	r, m := rollouts(t, s.doc(), sim, plan.Policy{Driver: s.driver, Steps: steps(t, "1", "100%"), Pull: plan.PullNever})
	acted, all := false, len(m.untouched(t))
	o.AtPause = true
	o.Emit = func(event.Event) {
		if n := len(m.untouched(t)); n <= all-2 && !acted {
			acted = true
			act(r, m)
		}
	}
	res, err := r.Run(t.Context(), m.ref, m.plan, o)
	must(t, err)
	if !acted {
		t.Fatalf("the rollout was never in the middle: %+v, %v", res.Outcome, m.images(t))
	}
	return r, m, res
}

func (m *memory) change(t *testing.T, r library, do apply.Act) {
	t.Helper()
	_, err := r.Change(t.Context(), m.ref, do)
	must(t, err)
}

// stays lets an hour go by, and returns how many pods have changed.
func (m *memory) stays(t *testing.T) int {
	t.Helper()
	before := m.untouched(t)
	if ok, err := m.Settle(time.Hour); err != nil || !ok {
		t.Fatalf("the controllers have no rest: %v", err)
	}
	after := m.untouched(t)
	return len(before) - len(slices.DeleteFunc(after, func(uid string) bool { return !slices.Contains(before, uid) }))
}

// TestStop_ByAnExecutorChangesNoFurtherPod: a process drives the rollout of each kind and finds that it was
// paused: no further pod changes, and resuming leads to the end.
func TestStop_ByAnExecutorChangesNoFurtherPod(t *testing.T) {
	for name, s := range stoppables {
		t.Run(name, func(t *testing.T) {
			r, m, res := s.begin(t, apply.Options{}, func(r library, m *memory) { m.change(t, r, apply.Act{Transition: plan.TransitionPause}) })
			rec, err := m.Rollout()
			must(t, err)
			if stop := rec.Progress.Stop; res.Outcome != event.AtPause || stop.Field != s.by || !stop.Done {
				t.Errorf("%s %s, %+v", res.Outcome, res.Reason, stop)
			}
			if s.by != "" && !strings.Contains(rec.Describe(), "its controller is stopped") {
				t.Errorf("%s", rec.Describe())
			}
			m.unchanged(t, s)
			m.finish(t, r, apply.Act{Transition: plan.TransitionResume})
		})
	}
}

// unchanged lets an hour go by, in which no further pod is updated.
func (m *memory) unchanged(t *testing.T, s stoppable) {
	t.Helper()
	before := m.images(t)["web:2"]
	n := m.stays(t)
	if after := m.images(t)["web:2"]; n > 0 && !s.rollback || s.rollback && after > before {
		t.Errorf("%d pods have changed since, %d of %d are updated", n, before, after)
	}
}

// finish makes a transition and drives the rollout to its end, by when nothing is left of
// the stop.
func (m *memory) finish(t *testing.T, r library, do apply.Act) {
	t.Helper()
	m.change(t, r, do)
	res, err := r.Drive(t.Context(), m.ref, apply.Options{})
	if err != nil || res.Outcome != event.Completed {
		for res.Outcome == event.AtPause { // what was not approved is driven a step at a time
			res, err = r.Drive(t.Context(), m.ref, apply.Options{})
			must(t, err)
		}
	}
	if images := m.images(t); err != nil || res.Outcome != event.Completed || images["web:1"] != 0 || images["web:2"] == 0 {
		t.Fatalf("%s %s, %v, %v", res.Outcome, res.Reason, err, images)
	}
	if rec, err := m.Rollout(); err != nil || rec.Progress.Stop != (plan.ControllerStop{}) {
		t.Errorf("%v, %+v", err, rec.Progress.Stop)
	}
}

// TestStop_WithoutAnExecutorIsWrittenByTheCaller: the process that drove the rollout is gone, and the controller
// is stopped by the one that aborts. A retry continues to the end.
func TestStop_WithoutAnExecutorIsWrittenByTheCaller(t *testing.T) {
	for name, s := range stoppables {
		t.Run(name, func(t *testing.T) {
			r, m := s.left(t)
			rec, err := r.Abort(t.Context(), m.ref)
			must(t, err)
			if stop := rec.Progress.Stop; !stop.Done || stop.Field != s.by || rec.State() != plan.StateHalted {
				t.Errorf("%+v", rec.Progress)
			}
			if seen, err := m.Observe(t.Context(), m.ref); err != nil || !seen.Observed() {
				t.Errorf("it answers before the controller has seen the stop (%v)", err)
			}
			m.unchanged(t, s)
			m.finish(t, r, apply.Act{Transition: plan.TransitionRetry})
		})
	}
}

// left is a rollout in the middle that no process drives any more.
func (s stoppable) left(t *testing.T) (library, *memory) {
	t.Helper()
	var until time.Time // a first rollout shows when it is in the middle
	s.begin(t, apply.Options{}, func(r library, m *memory) {
		until = m.Now()
		m.change(t, r, apply.Act{Transition: plan.TransitionAbort, Why: "enough"})
	})
	r, m := rollouts(t, s.doc(), s.options(), plan.Policy{Driver: s.driver, Steps: steps(t, "1", "100%"), Pull: plan.PullNever})
	res, err := r.Run(t.Context(), m.ref, m.plan, apply.Options{Until: until})
	if err != nil || res.Outcome != event.TimedOut {
		t.Fatalf("%+v, %v", res.Outcome, err)
	}
	return r, m
}

func (s stoppable) options() simulate.Options {
	o := simulate.DefaultOptions()
	o.Gates.CloneSetPartitionRollback = s.rollback
	return o
}

// TestStop_IsLiftedByTheNextRun: after an abort, the way back and another rollout both find the
// controller stopped, and let it continue.
func TestStop_IsLiftedByTheNextRun(t *testing.T) {
	names := slices.Sorted(maps.Keys(stoppables))
	for i, name := range slices.Concat(names, names[1:], names[:1]) {
		s := stoppables[name]
		t.Run(name, func(t *testing.T) {
			r, m := s.left(t)
			_, err := r.Abort(t.Context(), m.ref)
			must(t, err)
			if s.driver == "" { // the model keeps no template of a ReplicaSet
				res, err := r.RollBack(t.Context(), m.ref, apply.Options{})
				if images := m.images(t); err != nil || res.Outcome != event.RolledBack || images["web:2"] != 0 {
					t.Errorf("%s %s, %v, %v, %+v", res.Outcome, res.Reason, err, images, res.Plan.Steps)
				}
			}

			r, m = s.left(t)
			_, err = r.Abort(t.Context(), m.ref)
			must(t, err)
			now, err := m.Snapshot(m.ref)
			must(t, err)
			image := "web:3"
			if i%2 == 0 { // the template is there already
				image = "web:2"
			}
			to := read(t, strings.ReplaceAll(s.doc(), "web:1", image))
			for _, desired := range []string{"the manifest", "the live object"} {
				if desired == "the live object" { // as 'rollout run --image' makes it
					to, err = plan.WithTemplate(now.Object(), to.Template)
					must(t, err)
				}
				p, err := plan.Build(to, now, plan.Policy{Driver: s.driver, Pull: plan.PullNever, Steps: steps(t, "100%")})
				must(t, err)
				if strings.Contains(strings.Join(p.Warnings, "\n"), "updates no pod until it is resumed") {
					t.Errorf("%s: the plan does not lift the stop: %v", desired, p.Warnings)
				}
				m.plan = p
			}
			res, err := r.Run(t.Context(), m.ref, m.plan, apply.Options{})
			if images := m.images(t); err != nil || res.Outcome != event.Completed || !slices.Equal(slices.Collect(maps.Keys(images)), []string{image}) {
				t.Errorf("%s %s, %v, %v", res.Outcome, res.Reason, err, images)
			}
		})
	}
}

// TestStop_AfterStepCompletesTheStep: the gentle form carries the present step out and stops nothing.
func TestStop_AfterStepCompletesTheStep(t *testing.T) {
	for name, s := range stoppables {
		t.Run(name, func(t *testing.T) {
			r, m := rollouts(t, s.doc(), s.options(), plan.Policy{Driver: s.driver, Steps: steps(t, "50%", "100%"), Pull: plan.PullNever})
			once := false
			res, err := r.Run(t.Context(), m.ref, m.plan, apply.Options{AtPause: true, Emit: func(event.Event) {
				if n := len(m.untouched(t)); !once && n < 8 && n > 0 && m.kept(t) > 0 {
					once = true
					m.change(t, r, apply.Act{Transition: plan.TransitionPause, AfterStep: true})
				}
			}})
			must(t, err)
			if !once {
				if len(m.plan.Steps) > 1 {
					t.Fatalf("no step was seen in its course: %v", m.images(t))
				}
				t.Skip("a rollout of one step ends with it")
			}
			rec, err := m.Rollout()
			must(t, err)
			images := m.images(t)
			if res.Outcome != event.AtPause || rec.Progress.Stop != (plan.ControllerStop{}) || images["web:1"] == 0 || images["web:2"] < 2 {
				t.Errorf("%s %s, %+v, %v", res.Outcome, res.Reason, rec.Progress, images)
			}
			if n := m.stays(t); n > 0 {
				t.Errorf("%d pods have changed since", n)
			}
			m.finish(t, r, apply.Act{Transition: plan.TransitionResume})
		})
	}
}

// kept is how many pods the present step keeps old.
func (m *memory) kept(t *testing.T) int {
	t.Helper()
	rec, err := m.Rollout()
	must(t, err)
	if s := rec.Present(); s != nil {
		return s.Kept
	}
	return 0
}

// TestStop_RollsNothingBack: a person who aborts wants no further change, whatever the plan says
// of failures.
func TestStop_RollsNothingBack(t *testing.T) {
	r, m := rollouts(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Steps: steps(t, "2", "100%"), OnFailure: plan.FailRollback})
	once := false
	res, err := r.Run(t.Context(), m.ref, m.plan, apply.Options{Emit: func(event.Event) {
		if !once && m.images(t)["web:2"] == 2 {
			once = true
			m.change(t, r, apply.Act{Transition: plan.TransitionAbort, Why: "aborted by ann"})
		}
	}})
	if images := m.images(t); err != nil || res.Outcome != event.Failed || images["web:2"] < 2 || images["web:1"] == 0 {
		t.Errorf("%s %s, %v, %v", res.Outcome, res.Reason, err, images)
	}
}

// TestStop_NamesWhatUndidIt: what takes the stop away is named while the rollout is on hold,
// and nothing fights it.
func TestStop_NamesWhatUndidIt(t *testing.T) {
	s := stoppables["CloneSet in place"]
	_, m, _ := s.begin(t, apply.Options{}, func(r library, m *memory) { m.change(t, r, apply.Act{Transition: plan.TransitionPause}) })
	patch := plan.Patch{Type: plan.PatchMerge, Body: map[string]any{"spec": map[string]any{"updateStrategy": map[string]any{"rollingUpdate": map[string]any{"paused": false}}}}}
	must(t, m.Do(t.Context(), m.ref, plan.Action{Patch: &patch}))
	rec, err := m.Rollout()
	must(t, err)
	now, err := m.Snapshot(m.ref)
	must(t, err)
	if d := plan.Next(rec.Plan, now, m.Now()); d.Verb != plan.Wait || !strings.Contains(d.Reason, "paused is false again") {
		t.Errorf("%+v", d)
	}
}

// TestStop_IgnoresPartitionsOfAnEditedRecord: a record cannot have a partition taken back to less than the plan
// has at its step.
func TestStop_IgnoresPartitionsOfAnEditedRecord(t *testing.T) {
	s := stoppables["native StatefulSet"]
	r, m := rollouts(t, s.doc(), simulate.DefaultOptions(), plan.Policy{Steps: steps(t, "3", "100%"), Pull: plan.PullNever})
	once := false
	_, err := r.Run(t.Context(), m.ref, m.plan, apply.Options{AtPause: true, Emit: func(event.Event) {
		if !once && m.images(t)["web:2"] == 1 {
			once = true
			m.change(t, r, apply.Act{Transition: plan.TransitionPause})
		}
	}})
	must(t, err)
	rec, err := m.Rollout()
	must(t, err)
	rec.Progress.Stop.Was = "0"
	must(t, m.Record(t.Context(), m.ref, rec.Version, rec.Progress))
	m.change(t, r, apply.Act{Transition: plan.TransitionResume})
	now, err := m.Snapshot(m.ref)
	must(t, err)
	if d := plan.Next(rec.Plan, now, m.Now()); d.Verb != plan.Halt || !strings.Contains(d.Reason, "the partition was 0 before the pause according to the record, but the plan has 5") {
		t.Errorf("%+v", d)
	}
	if _, err := r.Drive(t.Context(), m.ref, apply.Options{}); err == nil || m.images(t)["web:2"] > 2 {
		t.Errorf("%v, %v", err, m.images(t))
	}
	for _, bad := range []plan.ControllerStop{{Field: "replicas", Is: "0"}, {Field: plan.StopPaused, Was: "no", Is: "true"}, {Field: plan.StopPartition, Was: "-1", Is: "2"}, {Field: plan.StopStrategy, Was: "Recreate", Is: "OnDelete"}, {Was: "x"}} {
		if bad.Check() == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}
