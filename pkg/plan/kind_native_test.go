package plan_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// TestBuild_NativeWorkloads: what Kubernetes' own controllers can do, and what the plan says
// about what they cannot.
func TestBuild_NativeWorkloads(t *testing.T) {
	three := plan.Policy{Steps: must(plan.ParseSteps("1,50%,100%"))}
	for name, c := range map[string]struct {
		text, steps, warning string
		driver               plan.Driver
		policy               plan.Policy
	}{
		"Deployment":          {kinds["native Deployment"], "update 6/0", "", plan.DriverNative, plan.Policy{}},
		"Deployment in steps": {kinds["native Deployment"], "update 1/5, step-50% 3/3, step-100% 6/0", "a Deployment cannot stop at a number of pods: it is paused once enough are updated, by when up to 3 more may be", plan.DriverNative, three},
		"Recreate":            {kinds["native Deployment"] + "  strategy: {type: Recreate}\n", "update 6/0", "Deployment shop/web has no partition: all pods change in one step", plan.DriverNative, three},
		"StatefulSet":         {kinds["native StatefulSet"], "update 1/3, step-50% 2/2, step-100% 4/0", "", plan.DriverNative, three},
		"DaemonSet":           {kinds["native DaemonSet"], "update 4/0", "DaemonSet shop/web has no partition: all pods change in one step", plan.DriverNative, three},
		"ReplicaSet":          {carriers["ReplicaSet"], "update 0/6", "a ReplicaSet updates no pod: each gets the new template when it is recreated", plan.DriverNative, plan.Policy{Driver: plan.DriverNative}},
		"OnDelete":            {carriers["StatefulSet"], "update 0/4", "the strategy is OnDelete", plan.DriverNative, plan.Policy{Driver: plan.DriverNative}},
		"client":              {carriers["ReplicaSet"], "update 0/6, step-1 1/5, step-50% 3/3, step-100% 6/0", "a ReplicaSet cannot surge", plan.DriverClient, three},
		"client OnDelete":     {carriers["DaemonSet"], "update 0/4, step-1 1/3, step-50% 2/2, step-100% 4/0", "pods change only while this command runs", plan.DriverClient, three},
	} {
		s := plan.Snapshot{Workload: read(t, c.text), Pods: pods(4, "x")}
		c.policy.Pull = plan.PullNever
		p, err := plan.Build(read(t, strings.ReplaceAll(c.text, "web:1", newer)), s, c.policy)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var steps []string
		for _, st := range p.Steps {
			steps = append(steps, fmt.Sprintf("%s %d/%d", st.Name, st.Updated, st.Kept))
		}
		if got := strings.Join(steps, ", "); got != c.steps || p.Driver != c.driver {
			t.Errorf("%s by %s: %s\nwant %s", name, p.Driver, got, c.steps)
		}
		if text := strings.Join(p.Warnings, "\n"); !strings.Contains(text, c.warning) {
			t.Errorf("%s: %s\nwant %s", name, text, c.warning)
		}
	}
}

// TestBuild_DeploymentIsPausedBetweenSteps: each step lets it go and stops it, the last one
// only lets it go.
func TestBuild_DeploymentIsPausedBetweenSteps(t *testing.T) {
	text := kinds["native Deployment"]
	p, err := plan.Build(read(t, strings.ReplaceAll(text, "web:1", newer)), plan.Snapshot{Workload: read(t, text)}, plan.Policy{Steps: must(plan.ParseSteps("1,50%,100%"))})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range p.Steps {
		for _, patch := range s.Patches {
			got = append(got, fmt.Sprintf("%s %d %v", patch.Type, patch.Reached, patch.Body))
		}
	}
	for i, want := range []string{
		"json 0", "merge 1 map[spec:map[paused:true]]", "merge 0 map[spec:map[paused:false]]", "merge 3 map[spec:map[paused:true]]", "merge 0 map[spec:map[paused:false]]",
	} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Fatalf("%q\nwant %s at %d", got, want, i)
		}
	}
}

// TestBuild_ResumesPausedDeployment: one that an aborted rollout has left paused goes on with the
// next, back as well as forward, and is not paused in the end.
func TestBuild_ResumesPausedDeployment(t *testing.T) {
	text := kinds["native Deployment"]
	for name, next := range map[string]func(plan.Plan, plan.Snapshot) (plan.Plan, error){
		"back":    func(p plan.Plan, s plan.Snapshot) (plan.Plan, error) { return plan.Rollback(p, s, "aborted") },
		"forward": func(_ plan.Plan, s plan.Snapshot) (plan.Plan, error) { return plan.Build(s.Workload, s, plan.Policy{}) },
		"in steps": func(_ plan.Plan, s plan.Snapshot) (plan.Plan, error) {
			return plan.Build(s.Workload, s, plan.Policy{Steps: must(plan.ParseSteps("50%,100%"))})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, ref := world(t, simulate.DefaultOptions(), text)
			first := built(t, w, ref, strings.ReplaceAll(text, "web:1", newer), plan.Policy{Steps: must(plan.ParseSteps("1,100%"))})
			first.Steps = first.Steps[:1]
			drive(t, w, ref, first, nil)
			s := observe(t, w, ref)
			if !s.Workload.Object.(*appsv1.Deployment).Spec.Paused {
				t.Fatal("it is not paused")
			}
			p, err := next(first, s)
			if err != nil || !slices.Contains(p.Warnings, "Deployment shop/web is paused: this rollout resumes it") {
				t.Fatalf("%v, warnings %q", err, p.Warnings)
			}
			if err := w.Record(t.Context(), ref, s.Version, plan.Progress{}); err != nil {
				t.Fatal(err)
			}
			d, story := drive(t, w, ref, p, nil)
			if o := observe(t, w, ref).Workload.Object.(*appsv1.Deployment); d.Verb != plan.Done || o.Spec.Paused || o.Status.UpdatedReplicas != o.Status.Replicas {
				t.Errorf("paused %t, %+v\n%s", o.Spec.Paused, o.Status, strings.Join(story, "\n"))
			}
		})
	}
}

// TestBuild_DaemonSetWithSelector: only nodes that the selector chooses can be reached.
func TestBuild_DaemonSetWithSelector(t *testing.T) {
	text := manifest(beta, "DaemonSet", plain+"  updateStrategy: {rollingUpdate: {selector: {matchLabels: {ring: a}}}}\n")
	s := plan.Snapshot{Workload: read(t, text), Pods: pods(5, "x"), Nodes: map[string]*cluster.Node{}}
	for i, p := range s.Pods {
		s.Nodes[p.Node] = &cluster.Node{Name: p.Node, Labels: map[string]string{"ring": string("ab"[i%2])}}
	}
	p, err := plan.Build(read(t, strings.ReplaceAll(text, "web:1", newer)), s, plan.Policy{Steps: must(plan.ParseSteps("1,100%"))})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := outline(p), "update 1/2:1, step-100% 3/0:2"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, st := range p.Steps {
		for _, pod := range st.Pods {
			if s.Nodes[pod.Node].Labels["ring"] != "a" {
				t.Errorf("%s is on a node that is not chosen", pod.Name)
			}
		}
	}
	if p.Steps[1].Pods[0].Tie == 0 || p.Steps[1].Pods[0].Tie != p.Steps[1].Pods[1].Tie {
		t.Error("pods whose order is random are no tie")
	}
	last := p.Steps[1].Patches[0].Body
	if got := fmt.Sprint(last); got != "map[spec:map[updateStrategy:map[rollingUpdate:map[partition:0]]]]" {
		t.Error(got)
	}
}

// TestBuild_DaemonSetPodsWithoutReadinessGate are recreated, as the rules have it.
func TestBuild_DaemonSetPodsWithoutReadinessGate(t *testing.T) {
	text := kinds["DaemonSet in place"]
	s := plan.Snapshot{Workload: read(t, text), Pods: pods(4, "x"), Gates: cluster.DefaultGates()}
	s.Revisions = []cluster.Revision{{Name: "web-x", Number: 1, Template: s.Workload.Template}}
	s.Pods[1].ReadinessGates = nil
	p, err := plan.Build(read(t, strings.ReplaceAll(text, "web:1", newer)), s, plan.Policy{Steps: []plan.PolicyStep{{To: plan.All}}, Pull: plan.PullNever})
	if err != nil {
		t.Fatal(err)
	}
	modes := map[rules.UpdateMode]int{}
	for _, pod := range p.Steps[0].Pods {
		modes[pod.Mode]++
	}
	if modes[rules.ModeInPlace] != 3 || modes[rules.ModeRecreate] != 1 {
		t.Error(modes)
	}
	if got := strings.Join(p.Warnings, "\n"); !strings.Contains(got, "1 pod would be recreated instead of updated in place: no readiness gate InPlaceUpdateReady") {
		t.Error(got)
	}
}

// TestBuild_ClientNeedsMaxUnavailable: surge only, which the client cannot do.
func TestBuild_ClientNeedsMaxUnavailable(t *testing.T) {
	text := carriers["ReplicaSet"]
	source := read(t, strings.Replace(kinds["CloneSet v1alpha1"], "type: InPlaceIfPossible", "type: InPlaceIfPossible, maxSurge: 1, maxUnavailable: 0", 1))
	_, err := plan.Build(read(t, strings.ReplaceAll(text, "web:1", newer)), plan.Snapshot{Workload: source, Carrier: read(t, text), Pods: pods(6, "x")}, plan.Policy{})
	var e *tree.Error
	if !errors.As(err, &e) || !strings.Contains(e.Msg, "maxUnavailable comes to 0 pods") || e.Hint == "" {
		t.Error(err)
	}
}

// TestBuild_ClientFollowsTheSourceObject: order, limits and grace are those of the Kruise object.
func TestBuild_ClientFollowsTheSourceObject(t *testing.T) {
	source := read(t, manifest(beta, "CloneSet", plain+`  replicas: 6
  updateStrategy:
    rollingUpdate:
      podUpdatePolicy: InPlaceIfPossible
      maxUnavailable: 50%
      inPlaceUpdateStrategy: {gracePeriodSeconds: 9}
      priorityStrategy: {orderPriority: [{orderedKey: vip}]}
`))
	text := carriers["ReplicaSet"]
	s := plan.Snapshot{Workload: source, Carrier: read(t, text), Pods: pods(6, "x")}
	for _, p := range s.Pods {
		p.Labels["vip"] = "x-1"
	}
	s.Pods[2].Labels["vip"] = "x-9"
	p, err := plan.Build(read(t, strings.ReplaceAll(text, "web:1", newer)), s, plan.Policy{Steps: must(plan.ParseSteps("1,100%")), Pull: plan.PullNever})
	if err != nil {
		t.Fatal(err)
	}
	if p.Limits.MaxUnavailable != 3 || time.Duration(p.Grace).Seconds() != 9 || p.Drain != plan.DrainNone || p.Steps[1].Pods[0].Name != s.Pods[2].Name {
		t.Errorf("%+v %s %s %+v", p.Limits, p.Grace, p.Drain, p.Steps[1].Pods)
	}
	if p.Steps[0].Patches[0].Target == nil || p.Steps[0].Patches[0].Target.Kind != "ReplicaSet" {
		t.Errorf("the patch goes to %+v", p.Steps[0].Patches[0].Target)
	}
	if got := fmt.Sprint(p.Steps[0].Patches[0].Body); !strings.Contains(got, "controller-revision-hash") || !strings.Contains(got, p.Change.ToHash) {
		t.Errorf("the template does not name its revision: %s", got)
	}
	// An edited record waits no shorter.
	edited := p
	if edited.Grace = 0; edited.WithStricterLimits(s).Grace != p.Grace {
		t.Errorf("out of service for %s", edited.WithStricterLimits(s).Grace)
	}
	if edited.Grace = plan.Duration(time.Hour); edited.WithStricterLimits(s).Grace != plan.Duration(time.Hour) {
		t.Errorf("out of service for %s, an hour is on record", edited.WithStricterLimits(s).Grace)
	}
}

// TestClient_DrainsByReadinessGate needs the gate on the pod.
func TestClient_DrainsByReadinessGate(t *testing.T) {
	p, s := carried(t, plan.Policy{Drain: plan.DrainGate})
	d := decide(t, p, s, noon)
	if d.Verb != plan.Act || d.Actions[0].Pod == nil {
		t.Fatalf("%+v", d)
	}
	set := d.Actions[0].Pod.Change.Conditions
	if len(set) != 1 || set[0].Type != kruise.InPlaceUpdateReady || set[0].Status != "False" {
		t.Errorf("%+v", set)
	}
}
