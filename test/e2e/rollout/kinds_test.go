package rollout

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// kinds are the kinds of workloads, by every driver that each can have.
var kinds = map[string]struct {
	workload workload
	driver   plan.Driver
	steps    []string
}{
	"CloneSet":             {kruiseKind("CloneSet", "clonesets", "updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 2}}"), plan.DriverKruise, []string{"1", "50%", "100%"}},
	"Advanced StatefulSet": {kruiseKind("StatefulSet", "statefulsets", "serviceName: web"), plan.DriverKruise, []string{"1", "100%"}},
	"Advanced DaemonSet":   {kruiseKind("DaemonSet", "daemonsets", "updateStrategy: {rollingUpdate: {maxUnavailable: 1}}"), plan.DriverKruise, []string{"1", "100%"}},
	"Deployment":           {nativeKind("Deployment", "deployments", "strategy: {rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}"), plan.DriverNative, []string{"50%", "100%"}},
	"StatefulSet":          {nativeKind("StatefulSet", "statefulsets", "serviceName: web"), plan.DriverNative, []string{"1", "100%"}},
	"DaemonSet":            {nativeKind("DaemonSet", "daemonsets", ""), plan.DriverNative, nil},
	"ReplicaSet":           {nativeKind("ReplicaSet", "replicasets", ""), plan.DriverClient, []string{"1", "100%"}},
	"StatefulSet OnDelete": {nativeKind("StatefulSet", "statefulsets", "serviceName: web\n  updateStrategy: {type: OnDelete}"), plan.DriverClient, []string{"1", "100%"}},
	"DaemonSet OnDelete":   {nativeKind("DaemonSet", "daemonsets", "updateStrategy: {type: OnDelete}"), plan.DriverClient, []string{"1", "100%"}},
}

// kindsOfSteps are those that a plan of each driver has when it is asked for all.
var kindsOfSteps = map[plan.Driver][]plan.StepKind{
	plan.DriverKruise: {plan.StepPullImages, plan.StepUpdate, plan.StepPartition, plan.StepVerify, plan.StepPause},
	plan.DriverNative: {plan.StepPullImages, plan.StepUpdate, plan.StepVerify},
	plan.DriverClient: {plan.StepPullImages, plan.StepUpdate, plan.StepInPlace, plan.StepVerify, plan.StepPause},
}

// TestKinds_RollOutByEveryDriver rolls every kind of workload out, by every driver that it can have, with
// steps of every kind that this driver has: images are pulled, pods follow step by
// step, questions are asked and pauses pass.
func TestKinds_RollOutByEveryDriver(t *testing.T) {
	for name, c := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, c.workload)
			k := b.open(t)
			policy := plan.Policy{Driver: c.driver, Steps: steps(t, c.steps...), Pull: plan.PullFirst, Verify: []plan.Verify{{Command: []string{"true"}}}}
			for i := range policy.Steps {
				policy.Steps[i].Pause = &plan.Pause{For: plan.Duration(time.Millisecond)}
			}
			b.takes(t, k, b.plan(t, k, policy), kindsOfSteps[c.driver]...)
		})
	}
}

// TestClient_EvictsPodsOneByOne: what cannot be changed in place has the client evict pods one by one.
func TestClient_EvictsPodsOneByOne(t *testing.T) {
	for name, c := range kinds {
		if c.driver != plan.DriverClient {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, c.workload)
			b.next = strings.Replace(b.text, `"`+web1+`"`, `"`+web2+`", env: [{name: A, value: "1"}]`, 1)
			k := b.open(t)
			b.takes(t, k, b.plan(t, k, plan.Policy{Driver: c.driver, Steps: steps(t, c.steps...)}), plan.StepRecreate)
		})
	}
}

// takes carries a plan out that has steps of these kinds, and wants all pods to have
// the new image in the end.
func (b *bed) takes(t *testing.T, k *kube.Cluster, p plan.Plan, kinds ...plan.StepKind) {
	t.Helper()
	for _, kind := range kinds {
		if !slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Kind == kind }) {
			t.Errorf("there is no step %s: %+v", kind, p.Steps)
		}
	}
	before := len(b.pods(t))
	if res := b.run(t.Context(), t, k, p, apply.Options{}); res.Outcome != event.Completed {
		t.Errorf("%s: %s", res.Outcome, res.Reason)
	}
	if pods := b.pods(t); len(pods) != before || running(pods, web2) != before {
		t.Errorf("%d of %d pods run the new image, want %d", running(pods, web2), len(pods), before)
	}
}
