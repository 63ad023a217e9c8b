package patches_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// rollout is a plan with one of each kind of step.
func rollout(kind, apiVersion string, driver plan.Driver) plan.Plan {
	return plan.Plan{
		Target: plan.Target{APIVersion: apiVersion, Kind: kind, Namespace: "shop", Name: "web"}, Driver: driver,
		Change: plan.Change{FromHash: "old", ToHash: "new", Mode: rules.ModeInPlace}, Limits: plan.Limits{Replicas: 5, MaxUnavailable: 1},
		Drain: plan.DrainLabel, Grace: plan.Duration(7 * time.Second),
		Steps: []plan.Step{
			{Name: "pull", Kind: plan.StepPullImages, Title: "pull", Pull: &plan.Pull{Images: []string{"web:2"}}, Updated: 0, Kept: 5, After: []plan.Condition{{Type: plan.HoldsPulled, Value: "3"}}},
			{
				Name: "update", Kind: plan.StepUpdate, Title: "write for 2 of 5 pods", Patches: []plan.Patch{{Type: "json", Body: []any{}}}, Updated: 2, Kept: 3, Timeout: plan.Duration(time.Minute),
				Before: []plan.Condition{{Type: plan.HoldsUID, Value: "u"}, {Type: plan.HoldsTemplate, Value: "old"}, {Type: plan.HoldsPartition, Value: "40%"}},
				After:  []plan.Condition{{Type: plan.HoldsTemplate, Value: "new"}, {Type: plan.HoldsUpdatedAvailable, Value: "2"}, {Type: plan.HoldsSettled}},
			},
			{Name: "verify", Kind: plan.StepVerify, Title: "ask", Verify: &plan.Verify{Command: []string{"curl", "a b"}}, Updated: 2, Kept: 3},
			{Name: "pause", Kind: plan.StepPause, Title: "wait", Pause: &plan.Pause{}, Updated: 2, Kept: 3},
			{Name: "rest", Kind: plan.StepPause, Title: "wait", Pause: &plan.Pause{For: plan.Duration(time.Minute)}, Updated: 2, Kept: 3},
			{
				Name: "pods", Kind: plan.StepInPlace, Title: "update 3 pods", Updated: 5, Kept: 0, Pods: []plan.PodStep{{Name: "web-0", Tie: 1}},
				After: []plan.Condition{{Type: plan.HoldsUpdatedAvailable, Value: "5"}, {Type: plan.HoldsComplete}},
			},
		},
	}
}

// resized is a plan whose first write changes the number of pods.
func resized(p plan.Plan) plan.Plan {
	p.Steps[1].After = append(p.Steps[1].After, plan.Condition{Type: plan.HoldsReplicas, Value: "6"})
	return p
}

// said is the whole text of a sequence about one step.
func said(q *patches.Sequence, name string) string {
	var out []string
	for i := range q.Steps {
		s := &q.Steps[i]
		if s.Name != name {
			continue
		}
		out = append(append(append(out, s.Title), s.Commands...), s.Notes...)
		for _, c := range append(s.Before, s.After...) {
			out = append(out, c.Text, c.Check)
		}
	}
	return strings.Join(out, "\n")
}

// TestFromPlan: what must hold is asked of the fields that each kind has.
func TestFromPlan(t *testing.T) {
	all := patches.Known{Count: true}
	for name, c := range map[string]struct {
		plan  plan.Plan
		known patches.Known
		step  string
		want  []string
		not   []string
	}{
		"before":        {rollout("CloneSet", "apps.kruise.io/v1beta1", plan.DriverKruise), all, "update", []string{"{.metadata.uid}'=u", "its template is the old one", "{.spec.updateStrategy.rollingUpdate.partition}'=40%", "spec.replicas is 5", "--timeout=60s", "{.status.updatedAvailableReplicas}'=2"}, nil},
		"older version": {rollout("CloneSet", "apps.kruise.io/v1alpha1", plan.DriverKruise), all, "update", []string{"{.spec.updateStrategy.partition}'=40%"}, nil},
		"deployment":    {rollout("Deployment", "apps/v1", plan.DriverNative), all, "update", []string{"at least 2 of 5", `{.status.updatedReplicas}')" -ge 2`, "availableReplicas}')\" -ge 4"}, nil},
		"its end":       {rollout("Deployment", "apps/v1", plan.DriverNative), all, "pods", []string{"{.status.updatedReplicas}'=5", "kubectl rollout status deployment.v1.apps/web -n shop"}, nil},
		"daemons":       {rollout("DaemonSet", "apps.kruise.io/v1beta1", plan.DriverKruise), all, "update", []string{"updatedNumberScheduled}'=2", "numberAvailable}'=5"}, []string{"spec.replicas"}},
		"sidecars":      {rollout("SidecarSet", "apps.kruise.io/v1beta1", plan.DriverKruise), patches.Known{}, "update", []string{"40% of the pods", "all pods that can"}, []string{"2 of 5"}},
		"uncounted":     {rollout("CloneSet", "apps.kruise.io/v1beta1", plan.DriverKruise), patches.Known{}, "update", []string{"{.status.expectedUpdatedReplicas}"}, []string{"2 of 5", "spec.replicas is"}},
		"client":        {rollout("ReplicaSet", "apps/v1", plan.DriverClient), all, "pods", []string{"no pods are known", "kubectl-kruise.dev/in-service", "waits 7s", "at most 1 pod unavailable", "-l controller-revision-hash=new"}, []string{"web-0"}},
		"known pods":    {rollout("ReplicaSet", "apps/v1", plan.DriverClient), patches.Known{Pods: true, Count: true}, "pods", []string{"touches web-0", "other pods that are equivalent"}, []string{"no pods"}},
		"pull":          {rollout("CloneSet", "apps.kruise.io/v1beta1", plan.DriverKruise), all, "pull", []string{"web:2", "the images are on the nodes"}, nil},
		"verify":        {rollout("CloneSet", "apps.kruise.io/v1beta1", plan.DriverKruise), all, "verify", []string{"curl 'a b'", "the check succeeds"}, nil},
		"pause":         {rollout("CloneSet", "apps.kruise.io/v1beta1", plan.DriverKruise), all, "pause", []string{"a user has checked"}, []string{"sleep"}},
		"rest":          {rollout("CloneSet", "apps.kruise.io/v1beta1", plan.DriverKruise), all, "rest", []string{"sleep 60"}, []string{"a user"}},
		"grown":         {resized(rollout("CloneSet", "apps.kruise.io/v1beta1", plan.DriverKruise)), all, "update", []string{"{.status.replicas}'=6", "observedGeneration"}, []string{"spec.replicas is"}},
	} {
		q := patches.FromPlan(&c.plan, c.known)
		got := said(&q, c.step)
		for _, part := range c.want {
			if !contains(got, part) {
				t.Errorf("%s has no %q:\n%s", name, part, got)
			}
		}
		for _, part := range c.not {
			if contains(got, part) {
				t.Errorf("%s has %q:\n%s", name, part, got)
			}
		}
	}
}

// TestFromPlan_WithoutStepsGivesTheReason: a plan without steps says why.
func TestFromPlan_WithoutStepsGivesTheReason(t *testing.T) {
	p := plan.Plan{Target: plan.Target{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, Change: plan.Change{Why: "nothing to do"}}
	p.Target.Carrier = &plan.Target{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web"}
	q := patches.FromPlan(&p, patches.Known{Count: true})
	if len(q.Steps) != 0 || q.What[0] != "nothing to do" || q.Object.Kind != "ReplicaSet" || q.For.Kind != "Deployment" {
		t.Errorf("%+v", q)
	}
}
