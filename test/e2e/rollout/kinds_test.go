package rollout

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
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

// TestKinds rolls every kind of workload out, by every driver that it can have.
func TestKinds(t *testing.T) {
	for name, c := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, c.workload)
			before := len(b.pods(t))
			k := b.open(t)
			p := b.plan(t, k, plan.Policy{Driver: c.driver, Steps: steps(t, c.steps...), Pull: plan.PullNever})
			res := b.run(t.Context(), t, k, p, apply.Options{})
			if res.Outcome != event.Completed {
				t.Errorf("%s: %s", res.Outcome, res.Reason)
			}
			if pods := b.pods(t); running(pods, web2) != before {
				t.Errorf("%d of %d pods run the new image", running(pods, web2), before)
			}
		})
	}
}
