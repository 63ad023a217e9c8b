package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// statusOf is a rollout in its second step.
func statusOf() RolloutStatus {
	return RolloutStatus{
		Name: "cloneset/web", Tally: plan.Tally{Desired: 10, Total: 10, Ready: 9, Updated: 5, UpdatedReady: 3},
		Plan: plan.Plan{Driver: plan.DriverKruise, Target: plan.Target{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Namespace: "shop", Name: "web"}, Steps: []plan.Step{{Name: "update", Kind: plan.StepUpdate, Title: "write the template"}, {Name: "step-50%", Title: "update 4 more pods"}, {Name: "step-100%", Title: "update 5 more pods"}}},
		Decision: plan.Decision{Verb: plan.Wait, Step: 1, Reason: "updated: updatedReplicas is 3 of 5", Blockers: []plan.Blocker{
			{Gate: plan.GateUpdated, Why: "updatedReplicas is 3 of 5"}, {Gate: plan.GateReady, Pod: "web-3", Why: "is not ready"},
		}},
		Begun: noon, Times: map[string]time.Time{"update": noon, "step-50%": noon.Add(time.Minute)}, Holder: "ann@there", Now: noon.Add(90 * time.Second),
	}
}

func TestStatus(t *testing.T) {
	const pods = "#########%%%%%%ooooooooooooooo 5 of 10 updated, 3 of these ready; 9 ready in all"
	for name, c := range map[string]struct {
		change func(*RolloutStatus)
		want   string
	}{
		"waits": {func(*RolloutStatus) {}, `cloneset/web  progressing at step 2 of 3: 3 of 5 pods are updated
  ` + pods + `
  started 1m30s ago, run by ann@there
  + 1 update: write the template  (12:00:00)
  > 2 step-50%: update 4 more pods  (12:01:00)
  . 3 step-100%: update 5 more pods
  web-3: is not ready
`},
		"crashes": {func(s *RolloutStatus) {
			s.Decision.Blockers[1] = plan.Blocker{Gate: plan.GateCrash, Pod: "web-3", Why: "CrashLoopBackOff: container main, image web:2"}
		}, `cloneset/web  blocked at step 2 of 3: CrashLoopBackOff: container main in pod web-3; image web:2
  ` + pods + `
  started 1m30s ago, run by ann@there
  + 1 update: write the template  (12:00:00)
  > 2 step-50%: update 4 more pods  (12:01:00)
  . 3 step-100%: update 5 more pods
  3 of 5 pods are updated
`},
		"left alone": {func(s *RolloutStatus) { s.Holder, s.Decision.Blockers = "", nil }, `cloneset/web  progressing at step 2 of 3: 3 of 5 pods are updated
  ` + pods + `
  started 1m30s ago, no process is running it
  + 1 update: write the template  (12:00:00)
  > 2 step-50%: update 4 more pods  (12:01:00)
  . 3 step-100%: update 5 more pods
  hint: kubectl kruise rollout resume cloneset/web -n shop
`},
		"due": {func(s *RolloutStatus) {
			s.Decision = plan.Decision{Verb: plan.Act, Step: 9, Reason: "update 5 more pods"}
		}, `cloneset/web  progressing at step 3 of 3: update 5 more pods
  ` + pods + `
  started 1m30s ago, run by ann@there
  + 1 update: write the template  (12:00:00)
  + 2 step-50%: update 4 more pods  (12:01:00)
  + 3 step-100%: update 5 more pods
`},
		"halted": {func(s *RolloutStatus) {
			s.Holder, s.Decision = "", plan.Decision{Verb: plan.Halt, Step: 1, Reason: "crash web-3: it crashed", Blockers: []plan.Blocker{{Gate: plan.GateCrash, Pod: "web-3", Why: "it crashed"}}}
		}, `cloneset/web  failed at step 2 of 3: web-3: it crashed
  ` + pods + `
  started 1m30s ago
  + 1 update: write the template  (12:00:00)
  X 2 step-50%: update 4 more pods  (12:01:00)
  . 3 step-100%: update 5 more pods
  hint: kubectl kruise rollout retry cloneset/web -n shop
`},
		"without a record": {func(s *RolloutStatus) { s.Begun, s.Decision.Blockers = time.Time{}, nil }, "cloneset/web  progressing: 3 of 5 pods are updated\n  " + pods + "\n"},
		"complete": {func(s *RolloutStatus) {
			s.Begun, s.Decision, s.Tally = time.Time{}, plan.Decision{Verb: plan.Done, Reason: "all steps are done"}, plan.Tally{Desired: 2, Total: 2, Ready: 2, Updated: 2, UpdatedReady: 2}
		}, "cloneset/web  completed\n  ############################## 2 of 2 updated, 2 of these ready; 2 ready in all\n"},
		"rolled back": {func(s *RolloutStatus) {
			s.Begun, s.Decision, s.Plan.RollbackReason, s.Tally = time.Time{}, plan.Decision{Verb: plan.Done}, "it crashed", plan.Tally{}
		}, "cloneset/web  rolled back: it crashed\n  .............................. 0 of 1 updated, 0 of these ready; 0 ready in all\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := statusOf()
			c.change(&s)
			var b bytes.Buffer
			if err := Status(&b, s, Style{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, b.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStatus_JSON(t *testing.T) {
	text, err := json.Marshal(statusOf().JSON())
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	steps, _ := got["steps"].([]any)
	first, _ := steps[0].(map[string]any)
	last, _ := steps[2].(map[string]any)
	pods, _ := got["pods"].(map[string]any)
	have := fmt.Sprintln(got["state"], got["step"], got["holder"], got["driver"], len(steps), first["kind"], first["begun"] != nil, last["begun"] != nil, pods["updatedReady"], got["blockers"])
	if want := "wait 1 ann@there kruise 3 update true false 3 [updated: updatedReplicas is 3 of 5 ready web-3: is not ready]"; strings.TrimSpace(have) != want {
		t.Errorf("%s\nwant %s", have, want)
	}
}

func TestRollouts(t *testing.T) {
	for _, c := range []struct {
		list []RolloutRow
		want string
	}{
		{nil, "no rollout is in progress\n"},
		{[]RolloutRow{
			{Namespace: "shop", Name: "cloneset/web", Parent: "uniteddeployment/all", Driver: "kruise", Step: 2, Steps: 3, Status: "step 2 of 3", Holder: "ann", Begun: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)},
			{Name: "sidecarset/mesh", Driver: "kruise", Step: 1, Steps: 1, Status: "failed: x", Begun: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)},
			{Namespace: "shop", Name: "configmap/x", Status: "the record cannot be read: y"},
		}, `NAMESPACE  NAME             SUBSET OF             DRIVER  STEP  STARTED               EXECUTOR  STATUS
shop       cloneset/web     uniteddeployment/all  kruise  2/3   2026-07-01T12:00:00Z  ann       step 2 of 3
-          sidecarset/mesh  -                     kruise  1/1   2026-07-01T12:00:00Z  -         failed: x
shop       configmap/x      -                     -       -     -                     -         the record cannot be read: y
`},
	} {
		var b bytes.Buffer
		if err := Rollouts(&b, c.list, Style{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, b.String()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestHistory(t *testing.T) {
	image := func(i int) rules.FieldChange {
		return rules.FieldChange{Path: fmt.Sprintf("spec.containers[%d].image", i), Old: "web:1", New: "web:2", Effect: rules.EffectImage}
	}
	list := []Revision{
		{Number: 1, Name: "web-1", First: true},
		{Number: 2, Name: "web-2", Pods: 1, Cause: "new logo", Fields: []rules.FieldChange{image(0)}, Mode: rules.ModeInPlace},
		{Number: 4, Name: "web-4", Pods: 3, Present: true, Fields: []rules.FieldChange{image(0), image(1), image(2)}, Mode: rules.ModeRecreate},
		{Number: 5, Name: "web-5", Mode: rules.ModeUnchanged},
	}
	for name, c := range map[string]struct {
		list []Revision
		full bool
		want []string
	}{
		"none": {nil, false, []string{"cloneset/web has no revisions"}},
		"rows": {list, false, []string{
			"REVISION     NAME   PODS  CHANGED                                                       UPDATE            CHANGE-CAUSE",
			"1            web-1  0     -                                                             -                 <none>",
			"2            web-2  1     spec.containers[0].image                                      updated in place  new logo",
			"4 (current)  web-4  3     spec.containers[0].image, spec.containers[1].image, 1 more  recreated         <none>",
			"5            web-5  0     -                                                             -                 <none>",
		}},
		"whole": {list[1:2], true, []string{"cloneset/web revision 2 (web-2), 1 pod"}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := History(&b, "cloneset/web", c.list, Style{Full: c.full}); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
			if c.full {
				if text := b.String(); !strings.Contains(text, "web:1") || !strings.Contains(text, "web:2") {
					t.Errorf("no values in\n%s", text)
				}
				lines = lines[:1]
			}
			squeeze := func(list []string) (out []string) {
				for _, l := range list {
					out = append(out, strings.Join(strings.Fields(l), " "))
				}
				return out
			}
			if diff := cmp.Diff(squeeze(c.want), squeeze(lines)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
